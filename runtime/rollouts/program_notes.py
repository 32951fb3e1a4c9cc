"""The inside of a program process: what a policy says of itself, its attributes `stage` and `report`.

Neither can end an episode: an attribute that raises or holds something else is reported as such. This code shares a
process with untrusted code, so the other side bounds and checks what it sends. Standard library and numpy only.
"""

import json
from enum import Enum
from typing import Any, Final

import numpy as np

from .program_json import plain, type_name

NAME_CHARS: Final = 32
REPORT_BYTES: Final = 16_384    # the JSON of a report; a larger one is dropped


class StageReader:
    """Reads a policy's attribute `stage` after each call."""

    def __init__(self, policy: Any) -> None:
        self._policy = policy
        self._value: object = None
        self._name = ""

    def next_change(self) -> bytes | None:
        """The stage's name in UTF-8 if it changed since the last call, else None. No stage has an empty name."""
        try:
            value = getattr(self._policy, "stage", None)
            if value is self._value:    # the usual case
                return None
            name = "" if value is None else _name(value)
        except BaseException as error:  # noqa: BLE001 - reading an attribute runs code of the program
            value, name = None, f"raised {type_name(error)}"[:NAME_CHARS]
        self._value = value
        if name == self._name:
            return None
        self._name = name
        return name.encode("utf-8", "replace")


def _name(value: object) -> str:
    if isinstance(value, Enum):
        return str(value.name)[:NAME_CHARS]
    if isinstance(value, str):
        return str.__str__(value)[:NAME_CHARS]
    if isinstance(value, int | np.integer):
        return str(int(value)) if -(10**9) < int(value) < 10**9 else "a large number"
    return f"not text: {type_name(value)}"[:NAME_CHARS]


class ReportReader:
    """Reads a policy's attribute `report` after each call, for a program that may be stopped before its end.

    A payload has at least `least` bytes, so that a reader who expects that many takes none of the next frame.
    """

    def __init__(self, policy: Any, least: int) -> None:
        self._policy = policy
        self._least = least
        self._last = b""

    def next_change(self) -> bytes | None:
        """The report as JSON if it changed since the last call, else None; also None while it cannot be sent."""
        payload, problem = report_payload(self._policy)
        if problem or payload == self._last:
            return None
        self._last = payload
        return payload.ljust(self._least)


def report_payload(policy: Any) -> tuple[bytes, str]:
    """The policy's attribute `report` as JSON, empty if it has none; or why it cannot be sent."""
    try:
        report = getattr(policy, "report", None)
        if report is None:
            return b"", ""
        if not isinstance(report, dict):
            return b"", f"it is a {type_name(report)}, not a dict"
        payload = json.dumps(report, default=_lenient, skipkeys=True).encode()
    except BaseException as error:  # noqa: BLE001 - reading and converting run code of the program
        return b"", f"it cannot be read: {type_name(error)}"
    if len(payload) > REPORT_BYTES:
        return b"", f"it has {len(payload)} bytes as JSON, more than {REPORT_BYTES}"
    return payload, ""


LOCALS: Final = 10
LOCAL_CHARS: Final = 500
KEYS: Final = 16


def sizes_of(variables: dict[str, Any], *, keys: bool = False) -> str:
    """Local variables in short: numbers and None as they are, of the rest the kind and size. Runs no code of theirs.

    With `keys`, also the first keys of dictionaries, which is what a KeyError leaves open.
    """
    words = [
        f"{name} {_size(value)}{_keys_of(value) if keys else ''}"
        for name, value in list(variables.items())[: LOCALS + 1] if name != "self"
    ]
    return "; ".join(words[:LOCALS])[:LOCAL_CHARS]


def _keys_of(value: object) -> str:
    if type(value) is not dict:
        return ""
    named = [key for key in list(value)[:KEYS] if type(key) is str]
    return f" ({', '.join(named)}{', …' if len(value) > KEYS else ''})" if named else ""


def _size(value: object) -> str:
    kind = type(value)
    if value is None or kind is bool or (kind is int and abs(value) < 10**9):   # type: ignore[arg-type]
        return repr(value)
    if kind in (float, np.float64, np.float32):
        return f"{float(value):.4g}"    # type: ignore[arg-type]
    if kind is np.ndarray:
        return f"array {value.shape} of {value.dtype}"  # type: ignore[attr-defined]
    if kind in (str, bytes, list, tuple, dict, set, frozenset):
        return f"{kind.__name__} of {len(value)}"   # type: ignore[arg-type]
    return type_name(value)


def _lenient(value: object) -> object:
    """The `default` of json.dumps for reports: the name of the type stands for what is not JSON."""
    try:
        return plain(value)
    except TypeError:
        return f"a {type_name(value)}"
