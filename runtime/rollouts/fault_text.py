"""The text of faults: bounded, and identical on every machine and in every run, because prompts may show it."""

import json
import re
from typing import Final

from ...core.faults import Fault, FaultKind

MESSAGE_CHARS: Final = 500
TRACEBACK_CHARS: Final = 2000
OUTPUT_CHARS: Final = 800   # of the output's tail, shown with a fault
_OUTPUT: Final = "last output:\n"


def program_fault(kind: FaultKind, message: str, trace: str, output: str) -> Fault:
    """A bounded fault with the same text on every machine: no memory addresses, no installation paths."""
    trace = bounded_fault(portable(trace).strip(), TRACEBACK_CHARS)
    if output.strip():
        trace += f"\n{_OUTPUT}{bounded_fault(portable(output).strip(), OUTPUT_CHARS)}"
    return Fault(kind=kind, message=bounded_fault(portable(message), MESSAGE_CHARS), traceback=trace.strip())


def parts_of(fault: Fault) -> tuple[str, str]:
    """The traceback of a fault, and the end of what the program printed before it."""
    trace, _, output = f"\n{fault.traceback}".partition(f"\n{_OUTPUT}")
    return trace.strip("\n"), output


def simulator_fault(said: str) -> Fault:
    """The fault of a candidate that reached a state in which the simulator failed; `said` is what is known of it."""
    return Fault(
        kind=FaultKind.SIMULATOR_FAILED, message=bounded_fault(portable(f"the simulator failed: {said}"), MESSAGE_CHARS)
    )


def crash_of(payload: memoryview) -> tuple[str, str]:
    """Message and traceback of a CRASH frame with untrusted content."""
    try:
        report = json.loads(bytes(payload))
        return str(report["message"]), str(report["traceback"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "it raised, and its report cannot be read", ""


RAN_CHARS: Final = 500  # of a mask in hexadecimal: a quarter of the places that are marked at most


def ran_in(payload: bytes | memoryview, *, crashed: bool) -> str:
    """Which marks of a program were set, from untrusted content: hexadecimal digits, or ""."""
    try:
        text = str(json.loads(bytes(payload))["ran"]) if crashed else bytes(payload).decode("ascii")
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return text if len(text) <= RAN_CHARS and not re.search("[^0-9a-f]", text) else ""


def bounded_fault(text: str, chars: int) -> str:
    """The text, or its beginning and end if it is longer than `chars`."""
    if len(text) <= chars:
        return text
    head = chars // 4
    return f"{text[:head]}\n…\n{text[len(text) - (chars - head - 3):]}"


def portable(text: str) -> str:
    """The text without what differs between machines: memory addresses and installation paths."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "\\0")
    text = re.sub(r'File "[^"\n]*/(?:site-packages|python3\.\d+)/', 'File "', text)
    return re.sub(r"\b0x[0-9a-fA-F]{6,16}\b", "0x…", text)
