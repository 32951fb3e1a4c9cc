"""Kills a run's processes with SIGKILL at random moments and shows that resuming it loses and repeats nothing.

    python -m memento.tests.benchmarks.kills [--kills 100] [--seed 1] [--json]

A run on the kinematic domain is recorded, then repeated from its recorded replies many times. During a repetition
one of these is killed at moments drawn from the seed, and the run is resumed until it ends:

    controller    the process that decides and writes; workers, warm processes and programs must end without it
    worker        one of the processes with a simulator; the controller must replace it
    zygote        one of the warm processes that fork programs; its worker must be replaced
    everything    the controller and all that descends from it

Then the log is compared with that of an undisturbed repetition: the same accepts, branch winners and
elites; every order answered once; every candidate present, once; no trajectory written a second time after its episode
was in the log; and no process left. Linux only: it reads processes from /proc.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from memento.core.errors import MementoError
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorExamined,
    Fact,
    ProposalFailed,
    ProposalMade,
    SearchEnded,
    StageEntered,
    VoteCast,
)
from memento.core.values import JSON
from memento.memory.runs import TRAJECTORIES
from memento.memory.store import Entry, RunStore
from memento.runtime.rollouts.pool import KILLED_TRIES

from .processes import GONE_S, left_of, levels

TARGETS = ("controller", "worker", "zygote", "everything")
SEARCH = ("generations=2", "k_hc=3", "k_macro=3", "k_cross=2", "n_roll=2", "hanoi-kinematic.horizon=600")
SETTINGS = ("--preset", "smoke", "--seed", "3", *(word for setting in SEARCH for word in ("--set", setting)))
WORKERS = 2
ANSWERS = (ProposalMade, ProposalFailed, EpisodeEnded, EpisodeScored, EvaluatorExamined, VoteCast)
LIFE_S = 120.0              # the deadline of a controller that is not killed
SPREAD = 0.7                # of the length of a run: the longest time between kills
MOST_KILLS = 12             # kills of one run, which then ends undisturbed
CLOCK_GRAIN_S = 0.05        # file times have a lower resolution than the clock


# ------------------------------------------------------------------------------------------ processes


def kill_all(pids: Iterable[int]) -> None:
    """Send SIGKILL to all of them. A process that has ended already is not an error."""
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


# ---------------------------------------------------------------------------------------- one log


def verdicts(facts: Sequence[Fact]) -> Mapping[str, Sequence[object]]:
    """The decisions of a run, in an order that does not depend on which candidate finished first."""
    return {
        "evaluators": [fact.chosen.program for fact in facts if isinstance(fact, EvaluatorChosen)],
        "accepts": sorted((fact.candidate, fact.fitness) for fact in facts if isinstance(fact, CandidateAccepted)),
        "rejections": sorted(fact.candidate for fact in facts if isinstance(fact, CandidateRejected)),
        "branch winners": sorted(
            (fact.generation, fact.operator, fact.winner or "", fact.fitness or 0.0)
            for fact in facts if isinstance(fact, BranchEnded)
        ),
        "elites": [
            (fact.generation, fact.candidate, fact.fitness, fact.success_rate)
            for fact in facts if isinstance(fact, EliteChanged)
        ],
        "result": [(fact.elite, fact.program, fact.fitness) for fact in facts if isinstance(fact, SearchEnded)],
        "candidates": sorted(fact.candidate.id for fact in facts if isinstance(fact, CandidateScored)),
    }


def differences(entries: Sequence[Entry], whole: Sequence[Fact], trajectories: Path | None) -> list[str]:
    """The differences between a killed and resumed run and an undisturbed one; empty if there are none.

    Without `trajectories` the times of the recordings are not compared with those of the log.
    """
    facts = [entry.fact for entry in entries]
    actual, expected = verdicts(facts), verdicts(whole)
    found = [f"other {name}" for name in expected if actual[name] != expected[name]]
    answers = Counter(fact.order for fact in facts if isinstance(fact, ANSWERS))
    found += [f"{order} was answered {times} times" for order, times in answers.items() if times > 1]
    for entry in entries:
        if isinstance(entry.fact, EpisodeEnded) and entry.fact.episode.trajectory is not None and trajectories:
            path = trajectories / f"{entry.fact.episode.trajectory}.npz"
            if path.exists() and path.stat().st_mtime > entry.at + CLOCK_GRAIN_S:
                found.append(f"{entry.fact.order} was rolled out again after it was in the log")
    return found


# --------------------------------------------------------------------------------------- the killing


@dataclass(slots=True, kw_only=True)
class Tally:
    """The results so far."""

    runs: int = 0
    kills: Counter[str] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)    # of the run at the moment of a kill
    resumes: int = 0
    beginnings: int = 0                                         # runs killed before their first fact and restarted
    gave_up: int = 0                                            # controllers that ended with an error
    wrong: list[str] = field(default_factory=list)
    left: int = 0                                               # processes that outlived their controller

    def as_json(self) -> dict[str, JSON]:
        """The results as plain values."""
        return {
            "kills": sum(self.kills.values()), "by_target": dict(self.kills), "by_stage": dict(self.stages),
            "runs": self.runs, "resumes": self.resumes, "begun_anew": self.beginnings,
            "controllers_that_gave_up": self.gave_up, "processes_left": self.left, "wrong": [*self.wrong],
        }


class Killing:
    """Repeats one recorded run in `folder` and kills the given targets meanwhile.

    `machines` are the flags for where programs run, `survived` the targets whose loss does not end a controller, and
    `most_losses` bounds them: whichever task they hit, it is done.
    """

    survived: tuple[str, ...] = ("worker", "zygote")
    most_losses = KILLED_TRIES - 1

    def __init__(self, folder: Path, *, seed: int, settings: Sequence[str] = SETTINGS) -> None:
        self._folder = folder
        self._draw = random.Random(seed)
        self._settings = settings
        self.machines: tuple[str, ...] = ("--workers", str(WORKERS))
        self.environment: Mapping[str, str] = {}
        self.tally = Tally()
        self._whole: tuple[Fact, ...] = ()
        self._length_s = 0.0

    def record(self) -> None:
        """Record the run, and repeat it once undisturbed."""
        self._finish(self._start("run", "hanoi-kinematic", *self._settings, "--name", "tape",
                                 "--set", "keep_trajectories=true"))
        begun_s = time.monotonic()
        self._finish(self._start("run", "--replay", "tape", "--name", "whole"))
        self._length_s = time.monotonic() - begun_s
        self._whole = tuple(entry.fact for entry in self._entries("whole"))

    def disturb(self, name: str, targets: Callable[[], str], *, kills: int) -> int:
        """One repetition with at most `kills` kills. Returns the number of kills.

        Raises RuntimeError for a controller that gives up again when it is resumed, and TimeoutError for one that
        does not end.
        """
        self.tally.runs += 1
        done, lost, stuck, seen = 0, 0, False, set[int]()
        process = self._start("run", "--replay", "tape", "--name", name)
        while True:
            spared = done >= kills or lost >= self.most_losses
            ended = self._waited(process, seen, deadline_s=LIFE_S if spared else self._delay_s())
            if ended == 0:
                break
            if ended is not None:
                if stuck:
                    raise RuntimeError(f"the run {name} cannot go on: {self._errors()}")
                self.tally.gave_up += 1
                lost, stuck = 0, True
            elif spared:
                kill_all({process.pid, *seen})
                raise TimeoutError(f"the run {name} does not end")
            else:
                target = targets()
                if not self._kill(process, target, seen):
                    continue
                done, stuck = done + 1, False
                self.tally.kills[target] += 1
                self.tally.stages[self._stage(name)] += 1
                if target in self.survived:
                    lost += 1
                    continue
                lost = 0
                process.communicate(timeout=GONE_S)
            process = self._onward(name)
        self.tally.left += len(left_of(seen))
        self.tally.wrong += [f"{name}: {problem}" for problem in self._problems(name)]
        return done

    def _problems(self, name: str) -> list[str]:
        """What is wrong with a run that has ended."""
        return differences(self._entries(name), self._whole, self._folder / name / TRAJECTORIES)

    def _delay_s(self) -> float:
        """Wait a random time and kill a target."""
        return self._draw.uniform(0.0, SPREAD * self._length_s)

    def _waited(self, process: "subprocess.Popen[str]", seen: set[int], *, deadline_s: float) -> int | None:
        """The exit code of a controller that ends within the time; meanwhile records its descendants."""
        end_s = time.monotonic() + deadline_s
        while True:
            for level in levels(process.pid)[:2]:       # not programs: too short-lived, and their parents end them
                seen |= level
            try:
                return process.wait(timeout=max(0.0, min(0.1, end_s - time.monotonic())))
            except subprocess.TimeoutExpired:
                if time.monotonic() >= end_s:
                    return None

    def _kill(self, process: "subprocess.Popen[str]", target: str, seen: set[int]) -> bool:
        """Kill the target. Returns whether there was one."""
        found = levels(process.pid)
        for level in found:
            seen |= level
        everyone = [process.pid, *(pid for level in found for pid in level)]
        match target:
            case "controller":
                kill_all([process.pid])
            case "everything":
                self._draw.shuffle(everyone)
                kill_all(everyone)
            case _:
                depth = ("worker", "zygote").index(target)
                if len(found) <= depth:
                    return False
                victim = self._draw.choice(sorted(found[depth]))
                kill_all([victim])
                self.tally.left += len(left_of([victim]))
        return True

    def _onward(self, name: str) -> "subprocess.Popen[str]":
        """Resume, or restart a run that was killed before its first fact."""
        if self._entries(name):
            self.tally.resumes += 1
            return self._start("resume", name)
        self.tally.beginnings += 1
        return self._start("run", "--replay", "tape", "--name", name)

    def _stage(self, name: str) -> str:
        entered = [entry.fact.stage for entry in self._entries(name) if isinstance(entry.fact, StageEntered)]
        return entered[-1] if entered else "starting"

    def _entries(self, name: str) -> tuple[Entry, ...]:
        try:
            with RunStore.read(self._folder / name) as store:
                return tuple(store.facts_after(0))
        except MementoError:    # killed before its tables existed
            return ()

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "memento", *arguments, "--runs", str(self._folder), "--display", "none",
                   *self.machines]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("MEMENTO_")}
        environment |= self.environment
        errors = (self._folder / "errors.txt").open("a")
        with errors:
            return subprocess.Popen(
                command, cwd=self._folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors,
                text=True, start_new_session=True,
            )

    def _finish(self, process: "subprocess.Popen[str]") -> None:
        if process.wait(timeout=LIFE_S) != 0:
            raise RuntimeError(self._errors())

    def _errors(self) -> str:
        """The last errors that the controllers printed."""
        return (self._folder / "errors.txt").read_text()[-2000:]


def measure(*, kills: int, seed: int, targets: Sequence[str] = TARGETS, settings: Sequence[str] = SETTINGS) -> Tally:
    """Kill `kills` times, each target in turn."""
    with tempfile.TemporaryDirectory(prefix="memento-kills-") as folder:
        killing = Killing(Path(folder), seed=seed, settings=settings)
        killing.record()
        tally = killing.tally
        while (done := sum(tally.kills.values())) < kills:
            order = random.Random(f"{seed}:{tally.runs}")
            killing.disturb(f"k{tally.runs}", partial(order.choice, targets), kills=min(MOST_KILLS, kills - done))
        return tally


def table(figures: Mapping[str, JSON]) -> str:
    """The figures as text."""
    lines = [f"{'killed':<14}times"]
    by_target, by_stage = figures["by_target"], figures["by_stage"]
    assert isinstance(by_target, dict) and isinstance(by_stage, dict)
    lines += [f"{target:<14}{times}" for target, times in by_target.items()]
    lines += ["", f"{'while':<14}times", *(f"{stage:<14}{times}" for stage, times in by_stage.items()), ""]
    lines += [f"{name.replace('_', ' ')}: {figures[name]}" for name in (
        "kills", "runs", "resumes", "begun_anew", "controllers_that_gave_up", "processes_left", "wrong",
    )]
    return "\n".join(lines)


def main() -> None:
    """Measure and print; the exit code is 1 after an error."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--kills", type=int, default=100, help="number of kills")
    arguments.add_argument("--seed", type=int, default=1, help="seed of the targets and the times")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    figures = measure(kills=given.kills, seed=given.seed).as_json()
    print(json.dumps(figures) if given.json else table(figures))
    sys.exit(1 if figures["wrong"] or figures["processes_left"] else 0)


if __name__ == "__main__":
    main()
