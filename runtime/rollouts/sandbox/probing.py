"""Which layers are live on this machine, found out by trying what each of them must stop.

The trying is done by a separate process (`trials`), since a layer cannot be taken off again.
"""

import functools
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

LIMIT_S: Final = 60.0
ISOLATING: Final = ("landlock", "seccomp")   # without these a program can read files and open sockets
NAMES: Final = ("rlimits", "environment", "pdeathsig", "no_new_privs", "capabilities", "landlock", "seccomp")

_BOOT: Final = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("sandbox", sys.argv[1] + "/__init__.py",
                                              submodule_search_locations=[sys.argv[1]])
package = importlib.util.module_from_spec(spec)
sys.modules["sandbox"] = package
spec.loader.exec_module(package)
from sandbox import trials
trials.main()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer here: whether it is live; what was seen, or why it is missing."""

    live: bool
    found: str


@functools.cache
def layers() -> Mapping[str, Layer]:
    """Every layer by name, tried for real once a process. Where the trying itself fails, none is live."""
    # Without site packages: quicker, and nothing but the standard library can interfere.
    command = [sys.executable, "-P", "-s", "-S", "-B", "-c", _BOOT, str(Path(__file__).resolve().parent)]
    try:
        answer = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env={"PYTHONHASHSEED": "0"}, timeout=LIMIT_S,
            check=True, text=True,
        ).stdout
        found = {name: Layer(live=live, found=words) for name, (live, words) in json.loads(answer).items()}
    except subprocess.CalledProcessError as error:
        return _none(f"trying it failed: {error.stderr.strip()[-300:] or f'exit code {error.returncode}'}")
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return _none(f"trying it failed: {error}")
    return MappingProxyType({name: found[name] for name in NAMES})


def _none(reason: str) -> Mapping[str, Layer]:
    return MappingProxyType({name: Layer(live=False, found=reason) for name in NAMES})
