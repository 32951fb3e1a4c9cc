"""Runs of the real program in separate processes."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memento.core.events import (
    CandidateAccepted,
    CandidateRejected,
    EliteChanged,
    EvaluatorChosen,
    Fact,
    SearchEnded,
)
from memento.memory.runs import is_run
from memento.memory.store import RunStore

from ..support.processes import start_process

SMALL = ["--preset", "smoke", "--seed", "3", "--set", "k_hc=2", "--set", "k_macro=2", "--set", "n_roll=2"]


class Runs:
    """Starts `memento` on a folder of runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "memento", *arguments, "--runs", str(self.folder)]
        return start_process(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    def finish(self, process: "subprocess.Popen[str]", *, within_s: float = 150) -> dict:
        out, err = process.communicate(timeout=within_s)
        assert process.returncode == 0, err
        return json.loads(out.splitlines()[-1])

    def call(self, *arguments: str) -> dict:
        return self.finish(self.start(*arguments, "--json"))

    def await_first_fact(self, name: str, *, within_s: float = 100) -> None:
        """A run killed before its first fact does not exist yet."""
        deadline_s = time.monotonic() + within_s
        while not (is_run(self.folder / name) and self.facts(name)):
            assert time.monotonic() < deadline_s
            time.sleep(0.02)

    def facts(self, name: str) -> list[Fact]:
        with RunStore.read(self.folder / name) as store:
            return list(store.facts())

    def elite(self, name: str) -> str:
        """The text of the program that the search ended with."""
        ended = [fact for fact in self.facts(name) if isinstance(fact, SearchEnded)]
        assert len(ended) == 1
        return ended[0].program.text


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "runs")


def verdicts(facts: list[Fact]) -> dict[str, list]:
    """The decisions of a run, in a canonical order."""
    return {
        "evaluators": [fact.chosen.program for fact in facts if isinstance(fact, EvaluatorChosen)],
        "accepted": sorted(fact.candidate for fact in facts if isinstance(fact, CandidateAccepted)),
        "rejected": sorted(fact.candidate for fact in facts if isinstance(fact, CandidateRejected)),
        "elites": [(fact.candidate, fact.fitness) for fact in facts if isinstance(fact, EliteChanged)],
    }


def kill(process: "subprocess.Popen[str]") -> None:
    """kill -9 of the controller alone: its child processes must notice it."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
