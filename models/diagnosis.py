"""Diagnoses a client library's exception: the problem, the fix, and whether to retry.

Imports pydantic-ai, which takes seconds: only the connection imports this module.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from urllib.parse import quote

from pydantic_ai import exceptions as ai

from ..core.text import one_line
from .bodies import BodyTooLong, WebPage, caused_by
from .call_limits import Failure, requested_wait_s
from .opening import why_unreachable
from .spec import ModelSpec

# Takes keys out of texts that could carry them elsewhere: messages of exceptions, replies.


_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-*.]{8,}|(?i:\bbearer\s+)[^\s'\",;]+")


_SHORTEST = 12      # characters of a key's beginning or end that are masked as well


def without_keys(text: str, keys: Iterable[str]) -> str:
    """`text` with these keys replaced, whatever they look like: also in base64 or URL-coded, with white space or
    dashes between their letters, and the beginning or end of one."""
    for key in sorted(filter(None, keys), key=len, reverse=True):
        for form in _forms(key):
            text = text.replace(form, "[key]")
        if len(key) >= _SHORTEST:
            text = _spelt_out(key).sub("[key]", text)
    return text


@cache
def _forms(key: str) -> tuple[str, ...]:
    """The key as it is and as it is coded for a header, a URL or a body, the longest first."""
    data = key.encode("utf-8", "surrogatepass")
    forms = {key}
    if len(key) >= _SHORTEST:
        coded = {quote(key, safe=""), "".join(f"%{byte:02X}" for byte in data), data.hex().upper()}
        forms |= coded | {re.sub("%..", lambda found: found[0].lower(), form) for form in coded} | {data.hex()}
        for lead in range(3):       # base64 goes on by three bytes: what stands before the key moves its letters
            for encode in (b64encode, urlsafe_b64encode):
                whole = encode(bytes(lead) + data).decode().rstrip("=")
                first, last = (0, 2, 3)[lead], len(whole) - (1 if (lead + len(data)) % 3 else 0)
                forms.add(whole[first:last])
    return tuple(sorted(forms, key=len, reverse=True))


@cache
def _spelt_out(key: str) -> re.Pattern[str]:
    """The key's first or last letters, at least `_SHORTEST` of them, with or without blanks between."""
    gap = r"[\s\u200b\u00ad]*"
    ahead = gap.join(map(re.escape, key[:_SHORTEST]))
    rest = ""
    for letter in reversed(key[_SHORTEST:]):
        rest = f"(?:{gap}{re.escape(letter)}{rest})?"
    end = gap.join(map(re.escape, key[-_SHORTEST:]))
    return re.compile(f"{ahead}{rest}|{end}")


def quotable(text: str, keys: Iterable[str], limit: int = 300) -> str:
    """A service's words, fit for a message: one line, bounded, without these keys or anything like a key."""
    return one_line(_LOOKS_LIKE_A_KEY.sub("[key]", without_keys(text, keys)), limit)


_POLICY_CODES = {"content_filter", "content_policy_violation", "invalid_prompt", "responsible_ai_policy_violation"}
_POLICY_WORDS = re.compile(  # the only mark of it in the errors of Anthropic, Azure and OpenRouter
    r"content (filtering|management) policy|content_filter|requires moderation|was flagged", re.IGNORECASE
)
_TRANSIENT_STATUSES = {408, 409, 425}


def refused_to_answer(error: Exception) -> bool:
    """Whether this is a refusal and not a failure: the service's content policy stopped prompt or reply."""
    if isinstance(error, ai.ContentFilterError):
        return True
    if not isinstance(error, ai.ModelRequestRejectedError):
        return False
    by_code = {error.provider_error_code, error.provider_error_type} & _POLICY_CODES
    return bool(by_code) or bool(_POLICY_WORDS.search(_message(error.body) or ""))


def diagnose(
    error: Exception, spec: ModelSpec, keys: Collection[str], where: str = "its address", *, characters: int = 0
) -> Failure:
    """The failure that an exception of one request means. The service's message is quoted, bounded, without keys.

    `where` is the address of the service, `characters` the length of the prompt.
    """
    if (length := caused_by(error, BodyTooLong)) is not None:
        return Failure(problem=f"sent an answer that is too long to read ({length})")
    if caused_by(error, WebPage) is not None:
        return Failure(
            problem=f"sent a page for people instead of an answer of a model, from {where}", retry=True, outage=True,
            foreign=True,
        )
    redirected = _redirect(error) or _redirect(error.__cause__)
    if redirected is not None:
        return Failure(
            problem=f"redirects to another address (HTTP {redirected}), which is not followed, since it would get the "
            "key and the prompt: set the address of the service itself", fatal=True,
        )
    if isinstance(error, ai.ModelAPIError) and is_too_long(error):
        return Failure(
            problem=f"cannot read a prompt this long{_status(error)}: {_words(error, keys)}",
            room=room_in(words_of(error), characters),
        )
    if isinstance(error, ai.ModelRequestRejectedError | ai.ModelQuotaExceededError):
        return _rejected(error, spec, keys, where)
    if isinstance(error, ai.ModelConnectionError) and error.phase in ("connect", "pool"):
        return _unreached(error, where, keys)
    if isinstance(error, ai.ModelAPIError):
        return _transient(error, keys)
    if isinstance(error, ai.UserError):  # the library cannot express this request to this model
        return Failure(problem=f"cannot be asked this way: {quotable(str(error), keys)}", fatal=True, form=True)
    # Any other exception (a KeyError from a malformed body, a socket error) concerns only this answer.
    kind = type(error).__name__
    return Failure(problem=f"gave an answer that cannot be read ({kind}: {quotable(str(error), keys)})", retry=True)


# A prompt that is too long, in the words of the servers.


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


def _rejected(error: ai.ModelAPIError, spec: ModelSpec, keys: Collection[str], where: str) -> Failure:
    status = _status(error)
    if isinstance(error, ai.ModelAuthenticationError):
        # The service's message is omitted: some services repeat parts of the key.
        return Failure(
            problem=f"refused the key{status}: check {spec.key_variable} and its rights to this model", fatal=True
        )
    if isinstance(error, ai.ModelQuotaExceededError):
        return Failure(problem=f"has no credit left{status}: {_words(error, keys)}", fatal=True)
    if isinstance(error, ai.ModelNotFoundError):
        near = getattr(error, "suggested_model_id", None)
        hint = f"; did you mean {near}?" if near else ""
        return Failure(
            problem=f"is not known there{status}{hint}: {_words(error, keys)}{_path_hint(spec, where)}", fatal=True
        )
    if getattr(error, "status_code", None) in _TRANSIENT_STATUSES:
        return _transient(error, keys)
    return Failure(problem=f"refused the request{status}: {_words(error, keys)}", fatal=True, form=True)


def _path_hint(spec: ModelSpec, where: str) -> str:
    """Servers with OpenAI's chat completions mostly have them below /v1."""
    if spec.scheme != "compatible" or re.search(r"/v\d|/openai", where):
        return ""
    return f"; the addresses of such services mostly end in /v1: try compatible:{spec.label}@{where}/v1#{spec.model}"


def _transient(error: ai.ModelAPIError, keys: Collection[str]) -> Failure:
    overloaded = isinstance(error, ai.ModelRateLimitError | ai.ModelUnavailableError)
    if overloaded:
        what = "is overloaded"
    elif isinstance(error, ai.ModelTimeoutError):
        what = "fell silent"
    elif isinstance(error, ai.ModelConnectionError):
        what = "broke off the connection"
    elif isinstance(error, ai.ModelServerError):
        what = "failed"
    else:
        what = "gave an answer that cannot be read"
    outage = overloaded or isinstance(error, ai.ModelConnectionError | ai.ModelServerError)
    # The service itself may report that a retry is useless.
    retry = getattr(error, "provider_retry_hint", None) is not False or isinstance(error, ai.ModelRateLimitError)
    return Failure(
        problem=f"{what}{_status(error)}: {_words(error, keys)}",
        retry=retry,
        overloaded=overloaded,
        outage=outage and retry,
        retry_after_s=requested_wait_s(error),
    )


def _unreached(error: ai.ModelConnectionError, where: str, keys: Collection[str]) -> Failure:
    """No connection came about, so the service got nothing."""
    return Failure(
        problem=f"could not be reached at {where} ({why_unreachable(error) or _words(error, keys)})", retry=True,
        outage=True, unreachable=True,
    )


def _redirect(error: object) -> int | None:
    """The HTTP status where it is a redirect."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 300 <= status < 400 else None


def _status(error: ai.ModelAPIError) -> str:
    status = getattr(error, "status_code", None)
    return f" (HTTP {status})" if status else ""


def _words(error: ai.ModelAPIError, keys: Collection[str]) -> str:
    text = _message(error.body) or (error.message if error.body is None else str(error.body))
    return quotable(text, keys) or "no reason given"


def _message(body: object) -> str | None:
    """The message in an error body in the form of OpenAI, Anthropic or a gateway."""
    if isinstance(body, Mapping):
        return _message(body.get("error")) or _message(body.get("message"))
    return body if isinstance(body, str) else None
