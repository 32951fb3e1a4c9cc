"""The agents of the tools: try a draft, look at rows of a recording, compute over a recording.

What a draft or a line of code does is data in the answer, whatever it is. Only a failure of MEMENTO raises.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import structlog

from ..core.errors import StoreError, no_such
from ..core.events import Compute, Fact, LookCloser, Order, Roll, ToolAnswered, TryProgram
from ..core.faults import FaultKind
from ..core.metrics import aggregate
from ..core.ports import Computing, Pool
from ..core.programs.program_text import MAX_FAULT
from ..core.recording import Array, Recording
from ..core.recording_file import load_recording, trajectory_path
from ..core.text import excerpt, one_line, plural, text_table, two_digits
from ..core.turns import HIDDEN, Passage
from ..core.values import JSON, CallTimes, CandidateState, Contract, Episode, Operator, Program, Score
from .episode_table import REGULAR_ENDS
from .feedback import fault_text, policy_feedback
from .rollout_agents import Roller
from .turn_prompts import MAX_ANSWER

# Code over a recording: the program that runs it where evaluators run, and its output.
#
# The code gets what an evaluator gets. It could send any result, as every evaluator could: the result is bounded text.


MAX_OUTPUT = 3_600  # characters of what it prints; as JSON at most twice as many bytes

_PROGRAM = '''import contextlib, io, json, traceback
import numpy as np

CODE = {code}


class _Output(io.StringIO):
    def write(self, text):
        if self.tell() < {limit} * 4:
            super().write(str(text)[: {limit} * 4])
        return len(text)


class {class_name}:
    def {method}(self, arrays):
        output = _Output()
        problem = ""
        try:
            with contextlib.redirect_stdout(output):
                exec(compile(CODE, "compute.py", "exec"), {{"np": np, "arrays": arrays, "__name__": "compute"}})
        except BaseException as error:
            frame = error.__traceback__
            while frame is not None and frame.tb_frame.f_code.co_filename != "compute.py":
                frame = frame.tb_next
            problem = "".join(traceback.format_exception(type(error), error, frame))[-1200:]
        text = output.getvalue()
        text = text if len(text) <= {limit} else text[:{limit}] + " [...]"
        while len(json.dumps([text, problem])) > 7500:
            text, problem = text[: len(text) * 3 // 4], problem[-len(problem) * 3 // 4 :]
        return 0.0, {{"printed": text, "problem": problem}}
'''


def code_program(code: Program, contract: Contract) -> Program:
    """An evaluator that runs the code with `arrays` and `np`, and returns what it printed and how it failed."""
    return Program(_PROGRAM.format(
        code=repr(code.text), limit=MAX_OUTPUT, class_name=contract.class_name, method=contract.methods[0][0],
    ))


def output_of(metrics: Mapping[str, JSON]) -> str:
    """What the code printed, and its exception if it raised one."""
    printed, problem = str(metrics.get("printed", "")), str(metrics.get("problem", ""))
    parts = [excerpt(printed.rstrip("\n"), 2 * MAX_OUTPUT)] if printed.strip() else []
    parts += [f"it raised:\n{excerpt(problem, MAX_OUTPUT)}"] if problem.strip() else []
    return "\n".join(parts) or "the code printed nothing"


# Rows of a recording as a small table for a prompt.


MOST_ROWS = 40
MOST_COLUMNS = 12
MAX_LIST = 60  # arrays in the list of all
MAX_NAME = 60
MAX_CELL = 24

_NAME = re.compile(r"([^\[\]]+)(?:\[([\d,: ]*)\])?")


def rows_text(recording: Recording, first: int, last: int, fields: Sequence[str]) -> str:
    """Steps `first` to `last` of some arrays, evenly thinned out to 40 rows; without fields the list of all arrays.

    Numbers below 0 count from the end: -30 is the row 30 steps before the last one.
    A field is the name of an array, or of one of its components, such as "cube_pos[0,2]".
    """
    recording = recording.without(HIDDEN)
    if not fields:
        return _list(recording)
    columns: list[tuple[str, Array]] = []
    for field in fields:
        found = _columns(recording, field)
        if isinstance(found, str):
            return found
        columns += found
    shown = columns[:MOST_COLUMNS]
    first, last = _step(first, recording.steps), _step(last, recording.steps)
    if last < first:
        return f"there are no rows from step {first} to {last}: the recording has {plural(recording.steps, 'step')}"
    steps = np.unique(np.linspace(first, last, min(MOST_ROWS, last - first + 1)).round().astype(int))
    table = [("step", *(name for name, _ in shown))]
    table += [(str(step), *(_cell(values, int(step)) for _, values in shown)) for step in steps]
    head = f"steps {first} to {last} of {recording.steps}, {plural(len(steps), 'row')}"
    rest = len(columns) - len(shown)
    more = [f"({plural(rest, 'more column')} left out: name components, such as {_example(columns)})"] if rest else []
    return "\n".join([head, text_table(table), *more])


def _step(number: int, steps: int) -> int:
    return max(0, steps + number) if number < 0 else min(number, steps)


def _list(recording: Recording) -> str:
    lines = [f"{recording.steps} steps; the arrays, with their shapes:"]
    rows = [("name", "shape", "rows")]
    for group, rows_are in (
        (recording.states, "a state per row, one more than steps"), (recording.actions, "an action per row"),
        (recording.constants, "constant"),
    ):
        rows += [(one_line(name, MAX_NAME), str(array.shape), rows_are) for name, array in group.items()]
    lines.append(text_table(rows[: MAX_LIST + 1]))
    if len(rows) > MAX_LIST + 1:
        lines.append(f"and {len(rows) - MAX_LIST - 1} more")
    return "\n".join(lines)


def _columns(recording: Recording, field: str) -> list[tuple[str, Array]] | str:
    """The components of a field, each with its values over time, or why it has none."""
    over_time: Mapping[str, Array] = {**recording.states, **recording.actions}
    parts = _NAME.fullmatch(field)
    name = one_line(parts[1] if parts else field, MAX_NAME)
    if name in recording.constants:
        return f"{name} is constant: use compute, or look at arrays over time"
    if name not in over_time:
        return str(no_such("array", name, over_time))
    array = over_time[name]
    flat = array.reshape(len(array), -1)
    labels = [_label(name, place) for place in np.ndindex(array.shape[1:])] if array.ndim > 1 else [name]
    columns = [(label, flat[:, place]) for place, label in enumerate(labels)]
    wanted = re.sub(r"\s", "", parts[2]) if parts and parts[2] is not None else ""
    if not wanted:
        return columns
    chosen = [column for column in columns if column[0] == f"{name}[{wanted}]"]
    return chosen or f"{name} has no component [{one_line(wanted, 20)}]: its rows have the shape {array.shape[1:]}"


def _label(name: str, place: tuple[int, ...]) -> str:
    return f"{name}[{','.join(map(str, place))}]"


def _example(columns: Sequence[tuple[str, Array]]) -> str:
    return columns[-1][0]


def _cell(values: Array, step: int) -> str:
    if step >= len(values):
        return "-"
    value = values[step].item()
    return f"{value:.5g}" if isinstance(value, float) else one_line(str(value), MAX_CELL)


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


# Tools in a replay: what a limit on time decided is repeated from the record, since it would come out otherwise.


class Tool(Protocol):
    """The agent of a tool."""

    async def carry_out(self, order: Any) -> ToolAnswered:
        """Answer one call."""


Answered = Mapping[str, ToolAnswered]
"""The answers of tools in a recorded run, by their orders."""


def recorded_answers(facts: Iterable[Fact]) -> Answered:
    """The answers in a log, by their orders."""
    return {fact.order: fact for fact in facts if isinstance(fact, ToolAnswered) and fact.order is not None}


class Repeating:
    """A tool that repeats the recorded answers about episodes that a limit on time ended; it does all else itself."""

    def __init__(self, tool: Tool, recorded: Answered) -> None:
        self._tool = tool
        self._recorded = recorded

    async def carry_out(self, order: TryProgram | LookCloser | Compute) -> ToolAnswered:
        """Answer one call. Raises what the tool raises."""
        known = self._recorded.get(order.id)
        if known is not None and _cut_short(known.episode if isinstance(order, TryProgram) else order.episode):
            return known
        return await self._tool.carry_out(order)


def _cut_short(episode: Episode | None) -> bool:
    """Whether a limit on time decided on the episode: how far it came differs between two rollouts."""
    fault = None if episode is None else episode.fault
    return fault is not None and fault.kind in (FaultKind.TIMED_OUT, FaultKind.TOO_SLOW)
