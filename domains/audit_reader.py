"""Reads the hand-written programs of an audit from a folder. They are loaded as text and never imported.

Programs of a folder may share the class `Scripted`, which its module `scripted` defines; since a program is one text,
the import of that class is replaced by the text of the module.
"""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Final

from ..core.ports import AuditProgram
from ..core.values import Program

SHARED: Final = "scripted"
_IMPORT: Final = f"from .{SHARED} import Scripted\n"


def read_audit(package: str, kinds: Mapping[str, str]) -> Iterator[AuditProgram]:
    """The programs in the folder of a package; `kinds` gives the kind of each by its name."""
    for name, kind in kinds.items():
        text = (files(package) / f"{name}.py").read_text(encoding="utf-8")
        yield AuditProgram(name=name, kind=kind, program=Program(inlined(package, text)))


def inlined(package: str, text: str) -> str:
    """A program's text with what it shares with the programs of the package."""
    if _IMPORT not in text:
        return text
    return text.replace(_IMPORT, (files(package) / f"{SHARED}.py").read_text(encoding="utf-8"))
