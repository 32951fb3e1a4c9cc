"""Runs command lines as a user does: the real program, in a separate process."""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from memento.cli import exit_code

from .processes import start_process

RUN_KEYS = (
    "run, domain, method, model, seed, status, generations, elite, fitness, success, initial_fitness, "
    "reference_initial, reference_fitness, final_success, initial_return, final_return, "
    "candidates, episodes_run, episodes_saved, search_episodes, budget_episodes, "
    "confirmations, refuted, gate_episodes, gate_stopped, model_calls, "
    "tokens, cost_usd, wall_s, sandbox, hints, critiques, fitness_episodes, fitness_fresh, initial_success, "
    "initial_episodes, initial_fresh, search_fitness, evaluator_version, card"
)
"""What a run's line of JSON holds, in this order."""
TIMES = {"call_ms": None, "call_p99_ms": None}      # of a card, which differ between two runs of the same
PROGRAM = [sys.executable, "-c", "from memento.cli import main; main()"]
SMOKE = ("run", "hanoi-kinematic", "--preset", "smoke", "--workers", "1")
LONG = (*SMOKE, "--set", "generations=500", "--name", "long")
DEADLINE_S = 150     # a busy machine is no failure
Call = Callable[..., "subprocess.CompletedProcess[str]"]
Start = Callable[..., "subprocess.Popen[str]"]


def timeless(result: dict[str, Any]) -> dict[str, Any]:
    """What a run printed without its folder and its times: the same for the same run."""
    return {**result, "run": "", "wall_s": 0, "card": {**result["card"], **TIMES}}


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; fails after the deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "the condition never held"
        time.sleep(0.1)


@pytest.fixture
def memento(tmp_path: Path) -> Call:
    """Runs `memento ARGUMENTS` in an empty folder: in this process, or in its own for variables of its own."""

    def call(*arguments: str | Path, **environment: str) -> "subprocess.CompletedProcess[str]":
        words = [*map(str, arguments)]
        if environment:
            ours = {name: value for name, value in os.environ.items() if name != "MEMENTO_GOLDEN"}  # of the tests
            return subprocess.run(
                [*PROGRAM, *words], cwd=tmp_path, env=ours | environment, capture_output=True, text=True,
                timeout=150,
            )
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with chdir(tmp_path), redirect_stdout(out), redirect_stderr(err):
            status = exit_code(words)
        return subprocess.CompletedProcess(words, status, *(each.buffer.getvalue().decode() for each in (out, err)))

    return call


@pytest.fixture
def memento_live(tmp_path: Path) -> Start:
    """Starts `memento ARGUMENTS` in an empty folder and returns the running process."""

    def start(*arguments: str | Path) -> "subprocess.Popen[str]":
        return start_process(
            [*PROGRAM, *map(str, arguments)], cwd=tmp_path,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    return start
