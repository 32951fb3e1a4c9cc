"""A prompt that is too long, in the words of the servers. Imports pydantic-ai, which takes seconds."""

import re

from pydantic_ai import exceptions as ai

_TOO_LONG = re.compile(
    r"context.{0,20}(length|size|window|overflow)|exceed_context|maximum (prompt|context|input)|"
    r"number of tokens allowed|input token count|(prompt|input|inputs|request)( entity)?( is)? too (long|large)|"
    r"too many (input |prompt )?tokens|input length|reduce the length|payload too large|less than \d+ tokens|"
    r"larger than the context|exceeds? .{0,40}\b(context|tokens)\b",
    re.IGNORECASE,
)
_LENGTH_STATUSES = (400, 404, 408, 413, 422, 429)
ROOM = 0.75     # of a prompt that was too long, where the service does not say by how much
ANSWER = 0.9    # the rest is for the answer


def is_too_long(error: ai.ModelAPIError) -> bool:
    """Whether a request failed by the length of its prompt alone."""
    status = getattr(error, "status_code", None)
    if isinstance(error, ai.ModelContextWindowExceededError) or status == 413:
        return True
    plain = status in _LENGTH_STATUSES or status is None or status >= 500
    pattern = _TOO_LARGE if status == 429 else _TOO_LONG    # a busy service speaks of tokens, too
    return plain and not isinstance(error, ai.ModelConnectionError) and bool(pattern.search(words_of(error)))


_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)


def room_in(words: str, characters: int) -> int:
    """The characters that a prompt may have after one of `characters` was too long, from the numbers of the service."""
    numbers = {int(found.replace(",", "")) for found in re.findall(r"\d[\d,]{2,}", words)}
    counts = sorted(number for number in numbers if number >= 512)
    ratio = counts[0] / counts[-1] if len(counts) > 1 else 1.0
    return max(1, int(characters * (ratio * ANSWER if 0.02 < ratio < 1 else ROOM)))


def words_of(error: Exception) -> str:
    """Everything that a service said in an error."""
    body = getattr(error, "body", None)
    return f"{getattr(error, 'message', '')} {error}" if body is None else str(body)
