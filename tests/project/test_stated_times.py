"""The README says what its first commands cost, in CPU time: it holds, on a machine of any speed.

A stated second is one of a core that counts to ten million in Python in LOOP_S.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STATED = {
    name: (int(least), int(most))
    for name, least, most in re.findall(
        r"^\| `\./memento (tour|run hanoi|test)`.*\| (\d+) to (\d+) seconds of CPU time",
        (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE,
    )
}
LOOP_S = 0.4
COMMANDS = {
    "tour": ["-m", "memento", "tour"],
    "run hanoi": ["-m", "memento", "run", "hanoi", "--display", "plain"],
    "test": ["-m", "pytest", "--quick", "-q", "-n", "3", "--dist", "worksteal", "-p", "no:cacheprovider", ROOT],
}


def counting_s() -> float:
    """The CPU time in which this core counts to ten million, as it is now."""
    began = time.process_time()
    for _ in range(10_000_000):
        pass
    return time.process_time() - began


def children_s() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def test_each_command_is_stated_with_a_range() -> None:
    assert STATED.keys() == COMMANDS.keys()
    assert all(2 * least <= most <= 4 * least for least, most in STATED.values()), "a narrower one would not hold"


@pytest.mark.slow
@pytest.mark.nightly(sampled=False)     # it takes what three commands take, one of them all quick tests
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_costs_what_is_stated(name: str, tmp_path: Path) -> None:
    """With an empty home, and no compiled module."""
    cold = os.environ | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    cold |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    before, loop_s = children_s(), counting_s()
    done = subprocess.run(
        [sys.executable, *COMMANDS[name]], cwd=tmp_path, env=cold, capture_output=True, text=True, timeout=1400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    spent_s = (children_s() - before) * 2 * LOOP_S / (loop_s + counting_s())
    least, most = STATED[name]
    assert least <= spent_s <= most, f"./memento {name} takes {spent_s:.0f} s of CPU time on a core as the README means"
