"""Kills commands on a finished run with SIGKILL at random moments and shows that repeating them ends as if undisturbed.

    python -m memento.tests.benchmarks.command_kills [COMMAND ...] [--kills 20] [--seed 1]

`rank`, `what-if`, `audit`, `compare` and `gallery --check` are killed in copies of one folder of runs, up to five times
in each, and then repeated until they end. After each kill no process is left (the runs of a comparison go on, and
end), every run of the folder opens, and the finished one has all its facts. At the end the figures are those of an
undisturbed command. Linux only.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from memento.core.values import JSON
from memento.memory.runs import is_run
from memento.memory.store import RunStore

from ..support.leftovers import processes_of
from .kills import kill_all
from .processes import left_of, levels

PROGRAM = (sys.executable, "-m", "memento")
HORIZON = ("--set", "hanoi-kinematic.horizon=300")
RUN = (
    "run", "hanoi-kinematic", "--preset", "smoke", "--seed", "3", "--display", "none", "--name", "one", "--evaluator",
    "reference", "--set", "k_hc=2", "--set", "k_macro=2", "--set", "n_roll=2", "--workers", "1", *HORIZON,
)
COMMANDS = {
    "rank": ("rank", "one", "--episodes", "6", "--programs", "3"),
    "what-if": ("what-if", "one", "g1/macro/0", "-n", "6"),
    "audit": ("audit", "hanoi-kinematic", "--programs", "3", "--episodes", "1", *HORIZON),
    "compare": ("compare", "--domain", "hanoi-kinematic", "--method", "random", "--seeds", "1", "--preset", "smoke",
                "--evaluator", "reference", "--episodes", "2", "--name", "two", "--display", "none", *HORIZON),
    "gallery": ("gallery", "key-corridor", "--check", "--episodes", "2"),
}
MOST_KILLS = 5          # of one folder
LIFE_S = 400.0          # the deadline of a command that is not killed
STARTING_S = 60.0       # a process that is being started sees after its imports that its parent is dead
OUTLIVING_S = {"compare": LIFE_S}       # runs of a comparison outlive it by design; the next one waits for them
SALT = "5eed" * 8                       # of all comparisons: without it each draws its own episodes
OTHER_EACH_TIME = ("rolled_out",)       # and the times, whose names say so


class Killing:
    """Copies of a folder with one finished run, in which commands are killed and repeated."""

    def __init__(self, folder: Path, *, seed: int) -> None:
        self._folder, self._draw, self._copies = folder, random.Random(seed), 0
        (folder / "base").mkdir()
        self._finish(self._start(RUN, folder / "base"))
        self._facts = _facts(folder / "base" / "runs" / "one")

    def disturb(self, name: str, *, kills: int) -> Iterator[str]:
        """What is wrong after each kill of this command, and at the end of each folder; "" where nothing is."""
        began_s = time.monotonic()
        whole = self._finish(self._start(COMMANDS[name], self._copy()))
        length_s = time.monotonic() - began_s
        while kills > 0:
            here = self._copy()
            for _ in range(min(kills, MOST_KILLS)):
                process = self._start(COMMANDS[name], here)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(self._draw.uniform(0.3, 0.95) * length_s)
                if process.poll() is not None:
                    process.communicate()
                    break                       # it ended before
                below: set[int] = set().union(*levels(process.pid))
                kill_all([process.pid])
                process.communicate()
                kills -= 1
                yield self._problem(name, process.pid, below, here)
            again = self._finish(self._start(COMMANDS[name], here))
            if again != whole:
                yield f"repeated, it says {again}, and undisturbed {whole}"

    def _problem(self, name: str, killed: int, below: set[int], here: Path) -> str:
        within_s = OUTLIVING_S.get(name, STARTING_S)
        deadline_s = time.monotonic() + within_s
        left = left_of(below, within_s=within_s)
        while (left or processes_of(killed)) and time.monotonic() < deadline_s:
            time.sleep(0.05)
            left = left_of(below, within_s=0)
        if left or processes_of(killed):
            return f"processes are left: {left or processes_of(killed)}"
        for path in here.rglob("run.sqlite"):
            if is_run(path.parent) and path.parent.name != "one":
                _facts(path.parent)
        return "" if _facts(here / "runs" / "one") == self._facts else "the finished run has other facts"

    def _copy(self) -> Path:
        self._copies += 1
        return shutil.copytree(self._folder / "base", self._folder / f"copy{self._copies}")

    def _start(self, arguments: Sequence[str], folder: Path) -> "subprocess.Popen[str]":
        ours = {key: value for key, value in os.environ.items() if not key.startswith("MEMENTO_")}
        ours |= {"MEMENTO_SALT": SALT}
        return subprocess.Popen(
            [*PROGRAM, *arguments, "--workers", "1", "--json"], cwd=folder, env=ours, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )

    def _finish(self, process: "subprocess.Popen[str]") -> list[JSON]:
        """The figures that a command prints. Raises RuntimeError if it fails."""
        out, errors = process.communicate(timeout=LIFE_S)
        if process.returncode not in (0, 1) or not out:
            raise RuntimeError(f"exit code {process.returncode}: {errors[-2000:]}")
        return [_figures(each) for each in _values(out)]


def _facts(folder: Path) -> list[object]:
    with RunStore.read(folder) as store:
        return list(store.facts())


def _values(text: str) -> Iterator[JSON]:
    """The JSON values of an output, one after the other."""
    decoder, place = json.JSONDecoder(), 0
    while text[place:].strip():
        place += len(text[place:]) - len(text[place:].lstrip())
        value, place = decoder.raw_decode(text, place)
        yield value


def _figures(value: JSON) -> JSON:
    """The value without what differs between two runs of the same."""
    if isinstance(value, dict):
        return {
            key: _figures(each) for key, each in value.items()
            if key not in OTHER_EACH_TIME and not key.endswith("_s") and "_ms" not in key
        }
    return [_figures(each) for each in value] if isinstance(value, list) else value


def main() -> None:
    """Kill and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("commands", nargs="*", choices=[*COMMANDS, []], help="all without any")
    arguments.add_argument("--kills", type=int, default=20, help="of each command")
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    gave_way = 0
    with tempfile.TemporaryDirectory(prefix="memento-command-kills-") as folder:
        killing = Killing(Path(folder), seed=given.seed)
        for name in given.commands or COMMANDS:
            found = list(killing.disturb(name, kills=given.kills))
            wrong = [each for each in found if each]
            gave_way += len(wrong)
            print(f"{name}: killed {given.kills} times, gave way {len(wrong)}", *wrong, sep="\n    ", flush=True)
    sys.exit(1 if gave_way else 0)


if __name__ == "__main__":
    main()
