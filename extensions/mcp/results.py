"""Results of tools: of bounded size, printable, and with the texts of programs and models marked as such."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...core.errors import UsageError
from ...core.text import one_line, printable, printable_line

Result = dict[str, Any]     # what a tool returns: plain values of JSON
UNTRUSTED: Final = "untrusted"      # the key of everything that a generated program or a language model wrote
LINE: Final = 300           # characters of a text in a list
TEXT: Final = 20_000        # characters of a program, a prompt, a reply or a difference in one answer
ROWS: Final = 100           # the most rows of a list in one answer
LARGEST: Final = 200_000    # characters of a whole answer as JSON


def untrusted(**texts: object) -> Result:
    """These values under their key, strings as one bounded line; {} without any. None and "" are left out."""
    given = {
        name: one_line(value, LINE) if isinstance(value, str) else value
        for name, value in texts.items() if value not in (None, "")
    }
    return {UNTRUSTED: given} if given else {}


def of_run(values: Mapping[str, Any], *, own: bool, error: str | None = None) -> Result:
    """Values from the log of a run: where it is not of this installation, all but numbers is not trusted.

    `error` never is.
    """
    texts = {} if own else {
        name: value for name, value in values.items() if not isinstance(value, bool | int | float | None)
    }
    rest = {name: value for name, value in values.items() if name not in texts}
    return {**rest, **untrusted(**texts, error=error)}


def passage(text: str, offset: int) -> Result:
    """A part of a long text under the key for what is not trusted: `next_offset` is where the rest begins, or None.

    Raises UsageError for an offset behind the text.
    """
    if offset > len(text):
        raise UsageError(f"the text has {len(text)} characters: offset {offset} is behind its end")
    end = min(len(text), offset + TEXT)
    return {
        "characters": len(text), "next_offset": end if end < len(text) else None,
        UNTRUSTED: {"text": text[offset:end]},
    }


def page(rows: Sequence[Any], offset: int, limit: int) -> Result:
    """Some of the rows, how many there are, and where the next ones begin."""
    end = offset + limit
    return {"rows": list(rows[offset:end]), "all": len(rows), "next_offset": end if end < len(rows) else None}


def finished(result: Result) -> Result:
    """The result as strict JSON of printable text. Raises UsageError if it is too large to be useful."""
    clean: Result = _clean(result)
    size = len(json.dumps(clean, ensure_ascii=False, allow_nan=False))
    if size > LARGEST:
        raise UsageError(f"the answer has {size:,} characters, more than {LARGEST:,}: ask for less at once")
    return clean


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {printable_line(str(key)): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else printable_line(str(value))
