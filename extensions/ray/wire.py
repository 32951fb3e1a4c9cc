"""What the controller and a node tell each other about one call: JSON and raw bytes in this project's own form.

A program and the recordings that belong to a call follow the JSON, in the order that its "files" lists.
"""

from collections.abc import Mapping
from typing import Any

from ...core.values import Program
from ...runtime.rollouts import worker_messages as messages


def pack_call(message: Mapping[str, Any], program: Program | None, files: Mapping[str, bytes]) -> bytes:
    """One call or answer as bytes."""
    text = b"" if program is None else program.text.encode("utf-8", "surrogatepass")
    sizes = [[key, len(data)] for key, data in files.items()]
    return messages.pack({**message, "program": len(text), "files": sizes}, b"".join([text, *files.values()]))


def unpack_call(data: bytes) -> tuple[messages.Message, Program, dict[str, bytes]]:
    """The message, the program and the recordings by key. Raises ValueError if they do not fit together."""
    message, blob = messages.unpack(data)
    at = int(message.pop("program"))
    program = Program(blob[:at].decode("utf-8", "surrogatepass"))
    files = {}
    for key, size in message.pop("files"):
        files[str(key)] = blob[at:at + size]
        at += size
    if at != len(blob):
        raise ValueError(f"the call has {len(blob)} bytes, not {at}")
    return message, program, files
