"""`memento cell`: checks a robot cell, and runs a policy in it."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...app.given_files import read_program
from ...app.isolation import live_layers
from ...core.errors import RolloutError, UsageError
from ...core.extras import require
from ...core.order_ids import episode_id
from ...core.ports import RollTask
from ...core.recording import Recording
from ...core.recording_file import load_recording, trajectory_key, trajectory_path
from ...core.seeds import salted_seed
from ...core.text import one_line
from ...core.values import JSON, Episode, Program, Score
from ...runtime.rollouts.pool import ProcessPool
from ...settings.evaluate import EvaluateSettings
from .cell_file import PHASES
from .domain import DOMAIN, IMPORT_STRING

SPLIT = "cell"
CHECK_LIMIT_S = 600.0
SECRET_WORDS = ("KEY", "SECRET", "TOKEN", "PASSWORD", "CREDENTIAL")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellFinding:
    """One thing that `memento cell check` looked at."""

    what: str
    ok: bool
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTrial:
    """One trial: how it ended, and what E_R measured. `stopped` is the guard's word if it stopped the arm."""

    seed: int
    success: bool
    steps: int
    ended_by: str
    stopped: str | None
    because: str | None
    fault: str | None
    metrics: dict[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """The trials of one policy."""

    policy: str
    cell: str
    seed: int
    salt: str
    trials: tuple[CellTrial, ...]
    sandbox: tuple[str, ...]

    @property
    def success_rate(self) -> float:
        """The share of trials that succeeded."""
        return sum(trial.success for trial in self.trials) / len(self.trials)


def check_cell(path: Path) -> tuple[CellFinding, ...]:
    """What a separate process found in the cell of this file. Raises UsageError and RolloutError."""
    require("robosuite", "a robot cell")
    options = DOMAIN.options({"cell": str(path)}, preset="paper")
    variables = {
        name: value for name, value in os.environ.items() if not any(word in name.upper() for word in SECRET_WORDS)
    }
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "memento.extensions.cell.checking"], input=json.dumps(options["cell"]),
            capture_output=True, text=True, errors="replace", env=variables, timeout=CHECK_LIMIT_S, check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RolloutError(f"the check of {path} did not end within {CHECK_LIMIT_S:g} s") from error
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    problem = next((line for line in lines if "problem" in line), None)
    if problem is not None:
        raise (UsageError if problem["usage"] else RolloutError)(problem["problem"])
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with code {done.returncode}"]
        raise RolloutError(f"the check of {path} failed: {one_line(last[0], 400)}")
    return tuple(CellFinding(**line) for line in lines)


async def run_cell(settings: EvaluateSettings, *, first: Callable[[Recording], None] | None = None) -> CellResult:
    """Run the policy in the cell for `episodes` trials, one after another on a real arm.

    Trial i of the twin is drawn from `seed` + i, mixed with the salt; `first` gets the recording of the first trial.
    Raises UsageError for a file that is not a policy, and RolloutError if the cell fails.
    """
    require("cell" if settings.options["mode"] == PHASES else "robosuite", "a robot cell")
    program = read_program(settings.policy, DOMAIN.contract, role="policy")
    content = settings.options["cell"]
    assert isinstance(content, dict) and isinstance(content["arm"], dict)
    done = await execute(
        program, settings.options,
        seeds=[salted_seed(settings.seed + index, settings.salt) for index in range(settings.episodes)],
        workers=settings.workers if content["arm"]["kind"] == "twin" else 1, first=first,
    )
    return CellResult(
        policy=str(settings.policy), cell=str(content["name"]), seed=settings.seed, salt=settings.salt, trials=done,
        sandbox=tuple(live_layers()),
    )


async def execute(
    program: Program, options: Mapping[str, JSON], *, seeds: Sequence[int], workers: int,
    first: Callable[[Recording], None] | None = None,
) -> tuple[CellTrial, ...]:
    """One trial of a program per seed, with E_R's metrics. Raises RolloutError."""
    with tempfile.TemporaryDirectory(prefix="memento-cell-") as folder:
        async with ProcessPool(
            domain=IMPORT_STRING, splits={SPLIT: options}, workers=min(workers, len(seeds)), trajectories=Path(folder),
        ) as pool, asyncio.TaskGroup() as group:
            tasks = [group.create_task(_trial(pool, program, index, seed)) for index, seed in enumerate(seeds)]
        if first is not None:
            first(load_recording(trajectory_path(Path(folder), trajectory_key(episode_id(SPLIT, 0)))))
        return tuple(task.result() for task in tasks)


async def _trial(pool: ProcessPool, program: Program, index: int, seed: int) -> CellTrial:
    task = RollTask(order=episode_id(SPLIT, index), program=program, split=SPLIT, index=index, seed=seed)
    episode = await pool.roll(task)
    score = await pool.score(DOMAIN.reference_evaluator(), episode)
    return _result(episode, score)


def _result(episode: Episode, score: Score) -> CellTrial:
    fault = episode.fault or score.fault
    stopped, because = (episode.info.get(name) for name in ("stopped", "stopped_because"))
    return CellTrial(
        seed=episode.seed, success=episode.success, steps=episode.steps, ended_by=episode.ended_by,
        stopped=None if stopped is None else str(stopped), because=None if because is None else str(because),
        fault=None if fault is None else f"{fault.kind}: {fault.message}", metrics=dict(score.metrics),
    )
