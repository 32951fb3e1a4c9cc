"""The agents of the tools: try a draft, look at rows of a recording, compute over a recording.

What a draft or a line of code does is data in the answer, whatever it is. Only a failure of MEMENTO raises.
"""

import asyncio
from dataclasses import replace
from pathlib import Path

import structlog

from ...core.errors import StoreError
from ...core.events import Order, Roll
from ...core.metrics import aggregate
from ...core.ports import Pool
from ...core.program_text import MAX_FAULT
from ...core.recording_file import load_recording, trajectory_path
from ...core.text import bounded, one_line
from ...core.turn_events import Compute, LookCloser, ToolAnswered, TryProgram
from ...core.turns import Passage
from ...core.values import Candidate, Contract, Episode, Operator, Program, Score
from ..feedback import fault_text, policy_feedback
from ..rollout_agents import Roller
from .computing import code_program, output_of
from .rows import rows_text
from .talking import MAX_ANSWER

GONE = "its recording is not kept any more"

_log = structlog.get_logger("memento.turns")


class Practiser:
    """Rolls drafts out in practice episodes, as all episodes are rolled out, and scores them."""

    def __init__(self, *, roller: Roller, pool: Pool) -> None:
        self._roller = roller
        self._pool = pool

    async def carry_out(self, order: TryProgram) -> ToolAnswered:
        """Try one draft. Raises RolloutError and StoreError."""
        roll = Roll(id=order.id, program=order.program, split=order.split, index=order.index, seed=order.seed)
        episode = (await self._roller.carry_out(roll)).episode
        score = Score(fitness=0.0)
        if episode.scorable:
            score = episode.counted(await self._pool.score(order.evaluator, episode))
        text = f"draft {order.draft} in practice episode {order.index}\n\n{_feedback(order, episode, score)}"
        return _answered(order, text, episode, score)


class Looker:
    """Shows rows of recordings, which lie in the folder `trajectories`."""

    def __init__(self, *, trajectories: Path) -> None:
        self._folder = trajectories

    async def carry_out(self, order: LookCloser) -> ToolAnswered:
        """Show the rows that the order names."""
        return _answered(order, await asyncio.to_thread(self._rows, order))

    def _rows(self, order: LookCloser) -> str:
        try:
            recording = load_recording(trajectory_path(self._folder, str(order.episode.trajectory)))
        except StoreError:
            return GONE
        request = order.request
        try:
            return rows_text(recording, request.first, request.last, request.fields)
        except Exception as error:  # noqa: BLE001 - what a model asks for must not end a run
            _log.exception("rows-not-shown", order=order.id)
            return one_line(f"the rows cannot be shown: {type(error).__name__}", MAX_FAULT)


class Computer:
    """Runs code over recordings, in the sandbox of evaluators: it gets the arrays, and nothing else."""

    def __init__(self, *, pool: Pool, contract: Contract, trajectories: Path) -> None:
        self._pool = pool
        self._contract = contract
        self._folder = trajectories

    async def carry_out(self, order: Compute) -> ToolAnswered:
        """Run the code of the order. Raises RolloutError."""
        if not trajectory_path(self._folder, str(order.episode.trajectory)).exists():
            return _answered(order, GONE)
        code = order.request.program or Program("")
        score = await self._pool.score(code_program(code, self._contract), order.episode)
        return _answered(order, fault_text(score.fault) if score.fault is not None else output_of(score.metrics))


def _answered(
    order: Order, text: str, episode: Episode | None = None, score: Score | None = None
) -> ToolAnswered:
    return ToolAnswered(order=order.id, answer=Passage(bounded(text, MAX_ANSWER)), episode=episode, score=score)


def _feedback(order: TryProgram, episode: Episode, score: Score) -> str:
    """What prompts show of a program, for one episode. Measured times are left out, since they differ between runs."""
    shown = replace(episode, notes=replace(episode.notes, times=None))
    candidate = Candidate(
        id=order.id, program=order.program, operator=Operator.INITIAL, generation=0, slot=0, fitness=score.fitness,
        metrics=aggregate((score,)), episodes=(shown,), scores=(score,),
    )
    text = policy_feedback(candidate)
    return text if score.fault is None else f"{text}\n\nThe evaluator failed: {fault_text(score.fault)}"
