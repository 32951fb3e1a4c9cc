"""Takes keys out of texts that could carry them elsewhere: messages of exceptions, replies."""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable
from functools import cache
from urllib.parse import quote

from ..core.text import one_line

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
