"""Cuts the hand-written programs of an audit from the module that holds a domain's: each is one text for the sandbox.

Such a module has a class for each program, listed by kind in `PROGRAMS`, and the class `Scripted` that most of them
inherit; the sentence `SHARED` describes it. The text of a program begins with the docstring of its class. Then follow
numpy where it is used, the text of `Scripted` where it is inherited, and the class as the domain's policies call it.
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

from ..core.ports import AuditProgram
from ..core.values import Program


def read_audit(module: ModuleType, policy: str) -> Iterator[AuditProgram]:
    """The programs of a module; `policy` is the name that the domain's policies have for their class."""
    for kind, classes in module.PROGRAMS.items():
        for each in classes:
            yield AuditProgram(name=_name(each), kind=kind, program=Program(_text(module, each, policy)))


def shared_text(module: ModuleType) -> str:
    """What the programs of a module share."""
    return _text_with_title(module.SHARED, _pieces(module)["Scripted"])


def _name(program: type) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", program.__name__).lower()


def _text(module: ModuleType, program: type, policy: str) -> str:
    title = program.__doc__ or ""
    piece = _pieces(sys.modules[program.__module__])[program.__name__]
    piece = piece.replace(f"class {program.__name__}", f"class {policy}", 1)
    if program.__base__ is object:
        return _text_with_title(title, piece)
    return _text_with_title(title, piece.replace(f'    """{title}"""\n\n', "", 1), shared=f"\n{shared_text(module)}")


def _text_with_title(title: str, piece: str, shared: str = "") -> str:
    imports = "\nimport numpy as np\n" if "np." in piece else ""
    space = "\n\n" if piece.startswith("class ") else "\n"
    return f'"""{title}"""\n{imports}{shared}{space}{piece}'


@cache
def _pieces(module: ModuleType) -> dict[str, str]:
    """The text of each class by its name, with the constants before it and the functions after it."""
    source = inspect.getsource(module)
    lines = source.splitlines(keepends=True)
    pieces: dict[str, str] = {}
    name, done = "", 0
    for node in ast.parse(source).body:
        end = node.end_lineno or done
        match node:
            case ast.Assign():
                continue
            case ast.ClassDef():
                name = node.name
                pieces[name] = "".join(lines[done:end]).lstrip("\n")
            case ast.FunctionDef():
                pieces[name] += "".join(lines[done:end])
        done = end
    return pieces
