"""Takes keys out of texts that could carry them elsewhere: messages of exceptions, replies."""

import re
from collections.abc import Iterable

from ...core.text import one_line

_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-*.]{8,}|(?i:\bbearer\s+)[^\s'\",;]+")


def without_keys(text: str, keys: Iterable[str]) -> str:
    """`text` with these keys replaced, whatever they look like."""
    for key in sorted(filter(None, keys), key=len, reverse=True):
        text = text.replace(key, "[key]")
    return text


def quotable(text: str, keys: Iterable[str], limit: int = 300) -> str:
    """A service's words, fit for a message: one line, bounded, without these keys or anything like a key."""
    return one_line(_LOOKS_LIKE_A_KEY.sub("[key]", without_keys(text, keys)), limit)
