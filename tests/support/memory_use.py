"""How much memory reading a hostile file takes, in a process that does nothing else."""

import subprocess
import sys
from pathlib import Path

_SCRIPT = """
import importlib, resource, sys
from pathlib import Path
from memento.core.errors import MementoError
module, _, name = sys.argv[1].partition(":")
read = getattr(importlib.import_module(module), name)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read(Path(sys.argv[2]))
except MementoError as error:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, error)
"""


def refusal_of(reader: str, path: Path) -> tuple[int, str]:
    """The kilobytes that `reader`, such as "memento.core.recording_file:load_recording", took, and its sentence."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, reader, str(path)], capture_output=True, text=True, check=True, timeout=150
    )
    kilobytes, _, sentence = done.stdout.partition(" ")
    return int(kilobytes), sentence
