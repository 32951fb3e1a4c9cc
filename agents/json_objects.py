"""JSON objects in a model's reply."""

import json
import re
from collections.abc import Iterator

from ..core.values import JSON

MAX_SEARCHED = 40_000  # characters at the end of a reply that are searched
MAX_OBJECTS = 64  # positions at which an object may begin
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"'})


def json_objects(text: str) -> Iterator[dict[str, JSON]]:
    """The JSON objects at the end of a text, in order; nested objects are ignored. Never raises.

    Line breaks within strings are read as they stand. Where nothing is JSON, commas before a closing bracket are left
    out and typographic quotes are read as plain ones.
    """
    text = text[-MAX_SEARCHED:]
    found = list(_objects(text))
    yield from found or _objects(_TRAILING_COMMA.sub(r"\1", text.translate(_QUOTES)))


def _objects(text: str) -> Iterator[dict[str, JSON]]:
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    for _ in range(MAX_OBJECTS):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(found, dict):
            yield found
        at = text.find("{", end)


