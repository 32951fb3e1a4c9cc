"""Programs that the ai2thor client can start: the project's player, and faulty ones."""

import os
import sys
import textwrap
from pathlib import Path

from .kitchens import RECORDINGS


def build(folder: Path, *, recorded: bool = False) -> Path:
    """The project's player as a program."""
    arguments = f"--recordings '{RECORDINGS}'" if recorded else ""
    return _program(folder / "build", f"""
        #!/bin/sh
        exec '{sys.executable}' -P -m memento.domains.kitchen.player {arguments} "$@"
    """)


def bad_build(folder: Path, body: str) -> Path:
    """A Python program that defines `out`, `into` (paths of the pipes) and `HEADER`, and runs `body`."""
    head = f"""
        #!{sys.executable}
        import os, struct, sys, time
        HEADER = struct.Struct("!BI")
        out, into = (os.environ["AI2THOR_FIFO_%s_PIPE_PATH" % who] for who in ("SERVER", "CLIENT"))
    """
    return _program(folder / "bad", textwrap.dedent(head).lstrip() + textwrap.dedent(body))


def _program(path: Path, text: str) -> Path:
    path.write_text(textwrap.dedent(text).lstrip())
    path.chmod(0o755)
    return path


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
