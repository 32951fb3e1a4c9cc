"""JSON objects in a model's reply."""

import json
from collections.abc import Iterator

from ..core.values import JSON

MAX_SEARCHED = 40_000  # characters at the end of a reply that are searched
MAX_OBJECTS = 64  # positions at which an object may begin


def json_objects(text: str) -> Iterator[dict[str, JSON]]:
    """The JSON objects at the end of a text, in order; nested objects are ignored. Never raises."""
    text = text[-MAX_SEARCHED:]
    decoder = json.JSONDecoder()
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
