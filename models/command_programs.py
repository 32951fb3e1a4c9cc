"""The programs of `command:PROGRAM` models: where each lies, and what it holds, so that a run means the same ones."""

import hashlib
import os
import shlex
from collections.abc import Iterable
from pathlib import Path

from ..core.files import read_bounded
from .spec import ModelSpec, parse_specs

MOST_BYTES = 256 * 1024 * 1024


def with_absolute_programs(text: str) -> str:
    """The same models; a program that is named by a path, such as `command:./ask.sh`, by its absolute one.

    A program by its name alone is one of PATH, as in a shell. Raises UsageError for what names no model.
    """
    return ",".join(map(_absolute, parse_specs(text))) if "command:" in text else text


def digests_of(texts: Iterable[str]) -> dict[str, str]:
    """SHA-256 of the programs that these models name by a path; those that cannot be read are left out."""
    found: dict[str, str] = {}
    for spec in (spec for text in texts for spec in parse_specs(text) if spec.is_command):
        program = spec.command[0]
        if os.sep in program:
            try:
                found[program] = hashlib.sha256(read_bounded(Path(program), MOST_BYTES)).hexdigest()
            except OSError:
                continue
    return found


def _absolute(spec: ModelSpec) -> str:
    if not spec.is_command or os.sep not in spec.command[0] or Path(spec.command[0]).is_absolute():
        return spec.as_written
    program, *rest = spec.command
    return f"{spec.scheme}:{shlex.join([str(Path(program).absolute()), *rest])}"
