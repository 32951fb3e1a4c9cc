"""The agents of the tools: try a draft, look at rows of a recording, compute over a recording.

What a draft or a line of code does is data in the answer, whatever it is. Only a failure of MEMENTO raises.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import structlog

from ..core.errors import StoreError
from ..core.events import Compute, LookCloser, Order, Roll, ToolAnswered, TryProgram
from ..core.figures import REGULAR_ENDS
from ..core.metrics import aggregate
from ..core.ports import Computing, Pool
from ..core.programs.program_text import MAX_FAULT
from ..core.recording_file import load_recording, trajectory_path
from ..core.text import excerpt, one_line, two_digits
from ..core.turns import Passage
from ..core.values import CallTimes, CandidateState, Contract, Episode, Operator, Program, Score
from .feedback import fault_text, policy_feedback
from .recording_code import code_program, output_of
from .recording_rows import rows_text
from .rollout_agents import Roller
from .turn_prompts import MAX_ANSWER

GONE = "its recording is not kept any more"
NONE: Mapping[str, float] = {}
_log = structlog.get_logger("memento.turns")


class Practiser:
    """Rolls drafts out in practice episodes, as all episodes are rolled out, and scores them.

    A replay gives the CPU times in s that the recorded run `measured`, by order: answers show them. These drafts kept
    the bound on CPU time.
    """

    def __init__(self, *, roller: Roller, pool: Pool, measured: Mapping[str, float] = NONE) -> None:
        self._roller = roller
        self._pool = pool
        self._measured = measured

    async def carry_out(self, order: TryProgram) -> ToolAnswered:
        """Try one draft. Raises RolloutError and StoreError."""
        roll = Roll(id=order.id, program=order.program, split=order.split, index=order.index, seed=order.seed)
        episode = await self._roller.practise(roll, bounded=order.id not in self._measured)
        cpu_s = self._measured.get(order.id, episode.notes.cpu_s)
        score = Score(fitness=0.0)
        if episode.scorable:
            score = episode.counted(await self._pool.score(order.evaluator, episode))
        parts = [f"draft {order.draft} in practice episode {order.index}", _feedback(order, episode, score)]
        parts += [f"CPU time in all: {two_digits(cpu_s)} s{_times(episode.notes.times)}.", _before_the_end(episode)]
        return _answer(order, "\n\n".join(filter(None, parts)), episode, score, cpu_s=cpu_s)


class Looker:
    """Shows rows of recordings, which lie in the folder `trajectories`."""

    def __init__(self, *, trajectories: Path) -> None:
        self._folder = trajectories

    async def carry_out(self, order: LookCloser) -> ToolAnswered:
        """Show the rows that the order names."""
        return _answer(order, await asyncio.to_thread(self._rows, order))

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

    def __init__(
        self, *, pool: Computing, contract: Contract, trajectories: Path, measured: Mapping[str, float] = NONE
    ) -> None:
        self._pool = pool
        self._contract = contract
        self._folder = trajectories
        self._measured = measured

    async def carry_out(self, order: Compute) -> ToolAnswered:
        """Run the code of the order. Raises RolloutError."""
        if not trajectory_path(self._folder, str(order.episode.trajectory)).exists():
            return _answer(order, GONE)
        code = order.request.program or Program("")
        score = await self._pool.compute(code_program(code, self._contract), order.episode)
        text = fault_text(score.fault) if score.fault is not None else output_of(score.metrics)
        return _answer(order, text, cpu_s=self._measured.get(order.id, score.cpu_s))


def _answer(
    order: Order, text: str, episode: Episode | None = None, score: Score | None = None, *, cpu_s: float = 0.0
) -> ToolAnswered:
    answer = Passage(excerpt(text, MAX_ANSWER))
    return ToolAnswered(order=order.id, answer=answer, episode=episode, score=score, cpu_s=cpu_s)


def _times(times: CallTimes | None) -> str:
    """The CPU times of the calls with two digits; "" if no call ended."""
    if times is None:
        return ""
    median, p99, most, start = map(two_digits, (times.median_ms, times.p99_ms, times.most_ms, times.start_ms))
    return f"; of a call: median {median} ms, 99 % {p99} ms, most {most} ms; of loading and reset: {start} ms"


def _before_the_end(episode: Episode) -> str:
    """Where to look in an episode that broke off."""
    if not episode.steps or (episode.fault is None and episode.ended_by in REGULAR_ENDS):
        return ""
    return f"It broke off at step {episode.steps}. look_closer with `From: -30` shows its last 30 steps, row by row."


def _feedback(order: TryProgram, episode: Episode, score: Score) -> str:
    """What prompts show of a program, for one episode, without the coarse words for its CPU times."""
    shown = replace(episode, notes=replace(episode.notes, times=None))
    candidate = CandidateState(
        id=order.id, program=order.program, operator=Operator.INITIAL, generation=0, slot=0, fitness=score.fitness,
        metrics=aggregate((score,)), episodes=(shown,), scores=(score,),
    )
    text = policy_feedback(candidate)
    return text if score.fault is None else f"{text}\n\nThe evaluator failed: {fault_text(score.fault)}"
