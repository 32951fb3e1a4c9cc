"""An error inside a response with the status 200, as some servers send it."""

import re
from collections.abc import Mapping
from typing import Any

_BUSY = re.compile(r"rate.?limit|too many requests|overloaded|quota", re.IGNORECASE)
_NOWHERE = re.compile(r"unexpected endpoint|unknown (url|path|endpoint)", re.IGNORECASE)
_REFUSED = re.compile(
    r"not found|not exist|invalid|unsupported|not support|must be|unknown|unrecogni|context|too (long|large)|exceed",
    re.IGNORECASE,
)


def error_in(document: object) -> tuple[int, dict[str, Any]] | None:
    """The HTTP status and the body of an error that came as an answer; None for an answer."""
    if isinstance(document, list):
        document = document[0] if document else {}
    if not isinstance(document, Mapping):
        return None
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    error = first.get("error") if first else document.get("error")
    if not error and not first and (document.get("object") == "error" or isinstance(document.get("detail"), str)):
        error = document
    if not error:
        return None
    inside = dict(error) if isinstance(error, Mapping) else {"message": str(error)}
    words = f"{inside.get('message') or inside.get('detail') or inside} {inside.get('type')} {inside.get('code')}"
    return _status(inside.get("code") or inside.get("status"), words), {"error": inside}


def _status(code: object, words: str) -> int:
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return code
    for pattern, status in ((_BUSY, 429), (_NOWHERE, 404), (_REFUSED, 400)):
        if pattern.search(words):
            return status
    return 502
