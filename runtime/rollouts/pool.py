"""The rollout pool: runs episodes and evaluator calls on worker processes, first come, first served."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ...core.errors import RecordingLost, RolloutError, StoreError, UsageError
from ...core.ports import Drawn, DrawTask, ProbeTask, RollTask
from ...core.recording_file import trajectory_key, trajectory_path
from ...core.values import JSON, Episode, Examination, Probe, Program, Score
from . import worker_messages as messages
from .limits import DEFAULT_LIMITS, Limits
from .worker_handle import WorkerHandle, WorkerLost

TRIES: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerActivity:
    """The current activity of one worker, for display. `phase` is "idle", "starting", "environment" or "working"."""

    worker: int
    phase: str
    doing: str | None = None    # "roll", "score", "examine", "probes", "draw"
    order: str | None = None    # the order, or the trajectory
    steps: int = 0              # of the episode so far
    node: str | None = None     # of a cluster


Observer = Callable[[WorkerActivity], None]


async def examined(
    examine: Callable[[Episode], Coroutine[Any, Any, Score]], episodes: Sequence[Episode]
) -> Examination:
    """Examine on the first episode, then on all others at once if the evaluator was valid there.

    Raises RolloutError, also for an empty sequence of episodes.
    """
    if not episodes:
        raise RolloutError("cannot examine an evaluator without episodes")
    scores = [await examine(episodes[0])]
    if scores[0].fault is None:
        try:
            async with asyncio.TaskGroup() as group:
                rest = [group.create_task(examine(each)) for each in episodes[1:]]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        scores += [task.result() for task in rest]
    fault = next((score.fault for score in scores if score.fault is not None), None)
    return Examination(scores=tuple(scores), fault=fault)


class _Slot:
    """A place for one worker; empty before the first task and after the loss of a worker."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.worker: WorkerHandle | None = None


class ProcessPool:
    """A core.ports.Pool of worker processes. An async context manager; leaving it ends every process.

    `domain` is an import string "module:attribute", resolved in the workers only. `splits` maps the
    name of each split to its environment's options; `domains` names the domains of splits of another one.
    Trajectories go to the folder `trajectories`. `python` is the interpreter of the workers and of the programs, by
    default this one.
    """

    def __init__(self, *, domain: str, splits: Mapping[str, Mapping[str, JSON]], workers: int,
                 trajectories: Path, limits: Limits = DEFAULT_LIMITS, observer: Observer | None = None,
                 python: str | None = None, domains: Mapping[str, str] | None = None) -> None:
        self._start: dict[str, object] = {
            "domain": domain, "splits": {name: dict(options) for name, options in splits.items()},
            "domains": dict(domains or {}),
            "trajectories": str(trajectories.resolve()), "limits": asdict(limits),
        }
        self._python = python
        self._splits = frozenset(splits)
        self._folder = trajectories
        self._limits = limits
        self._observe = observer or (lambda _: None)
        self._slots = [_Slot(index) for index in range(workers)]
        self._idle = deque(self._slots)
        self._waiting: deque[asyncio.Future[_Slot]] = deque()
        self._closed = True

    async def __aenter__(self) -> Self:
        """Start every worker. Raises RolloutError if one cannot start."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._closed = False
        try:
            async with asyncio.TaskGroup() as group:
                for slot in self._slots:
                    group.create_task(self._filled(slot))
        except ExceptionGroup as errors:
            await self._close()
            first = errors.exceptions[0]
            raise RolloutError(f"a worker could not be started: {first}") from first
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """End every worker and every program."""
        await self._close()

    async def _close(self) -> None:
        self._closed = True
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(RolloutError("the pool was closed while a task waited for a worker"))
        workers = [slot.worker for slot in self._slots if slot.worker is not None]
        for slot in self._slots:
            slot.worker = None
        await asyncio.gather(*(worker.close() for worker in workers))
        for partial in self._folder.glob(".*.partial"):
            partial.unlink(missing_ok=True)

    # -------------------------------------------------------------------------------------- the port

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on disk when this returns.

        Raises RolloutError, and StoreError if the disk refuses the trajectory.
        """
        if task.split not in self._splits:
            raise RolloutError(f"the pool has no split {task.split!r}, only {sorted(self._splits)}")
        message = {
            "do": "roll", "key": trajectory_key(task.order), "split": task.split, "index": task.index,
            "seed": task.seed, "practice": None if task.practice is None else asdict(task.practice),
        }
        return messages.episode_of(await self._call(message, task.program, task.order))

    async def record_probes(self, task: ProbeTask) -> tuple[Probe, ...]:
        """Put the probes of the task on record. Raises RolloutError and StoreError."""
        if task.split not in self._splits:
            raise RolloutError(f"the pool has no split {task.split!r}, only {sorted(self._splits)}")
        message = {"do": "probes", **asdict(task)}
        answer: Any = await self._call(message, Program(""), task.order)
        return tuple(messages.probe_of(probe) for probe in answer)

    async def require_drawing(self, split: str) -> None:
        """Raise UsageError if episodes of a split cannot be drawn on this machine. Raises RolloutError."""
        answer = await self._call({"do": "require-drawing", "split": split}, Program(""), split)
        if answer["problem"]:
            raise UsageError(answer["problem"])

    async def require_twin(self, split: str, twin: str) -> None:
        """Raise UsageError if programs of the split `split` cannot run in the split `twin`. Raises RolloutError."""
        answer = await self._call({"do": "require-twin", "split": split, "twin": twin}, Program(""), twin)
        if answer["problem"]:
            raise UsageError(answer["problem"])

    async def draw(self, task: DrawTask) -> Drawn:
        """Draw one sheet of a recorded episode. Raises RolloutError and StoreError."""
        message = {
            "do": "draw", "key": task.trajectory, "split": task.split, "rows": [*task.rows], "path": str(task.path),
        }
        answer = await self._call(message, Program(""), task.order)
        return Drawn(captions=tuple(answer["captions"]), digest=answer["digest"], problem=answer["problem"])

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode. Raises RolloutError, RecordingLost and StoreError."""
        return await self._apply("score", evaluator, episode)

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid; see core.ports.Pool. Raises RolloutError.

        An invalid evaluator usually fails on the first episode; then the other episodes are skipped.
        """
        return await examined(lambda episode: self._apply("examine", evaluator, episode), episodes)

    async def _apply(self, do: str, evaluator: Program, episode: Episode) -> Score:
        if episode.trajectory is None:
            raise RolloutError(f"episode {episode.index} has no recorded trajectory to {do}")
        path = trajectory_path(self._folder, episode.trajectory)
        if not path.exists():
            raise RecordingLost(f"the trajectory {path.name} is not in {path.parent}")
        message = {"do": do, "key": episode.trajectory, "seed": episode.seed}
        return messages.score_of(await self._call(message, evaluator, episode.trajectory))

    # ------------------------------------------------------------------------------------ workers

    async def _call(self, message: messages.Message, program: Program, order: str) -> messages.Message:
        """Have a worker do this; if the first try failed and not by the program's fault, once more on a fresh one."""
        slot = await self._acquire()
        try:
            lost = ""
            for attempt in range(TRIES):
                try:
                    answer = await self._try(slot, message, program, order)
                except WorkerLost as error:
                    lost = str(error)
                    continue
                if "done" in answer:
                    done: messages.Message = answer["done"]
                    return done
                if "refused" in answer:
                    raise StoreError(answer["refused"])
                lost = "it was overdue"
                await self._empty(slot)
                if attempt + 1 == TRIES:    # twice: the program is a sleeper, the machine is not loaded
                    overdue: messages.Message = answer["overdue"]
                    return overdue
            raise RolloutError(f"{message['do']} {order} failed {TRIES} times: {lost}")
        finally:
            self._release(slot)

    async def _try(self, slot: _Slot, message: messages.Message, program: Program, order: str) -> messages.Message:
        """One try on this slot's worker. Raises WorkerLost, with the slot left empty."""
        worker = await self._filled(slot)
        blob = program.text.encode("utf-8", "surrogatepass")

        def on_note(note: messages.Message) -> float:
            self._observe(WorkerActivity(worker=slot.index, phase=note["note"], doing=message["do"], order=order,
                                   steps=note["steps"]))
            return self._limits.environment_s if note["note"] == "environment" else self._limits.silence_s

        try:
            return await worker.call(message, blob, on_note, wall_s=self._limits.task_wall_s)
        except WorkerLost as error:
            raise WorkerLost(f"{error}; {await self._empty(slot)}") from error
        except BaseException:   # cancelled: keep the worker and its simulator if it stops in time
            if not await worker.abort(self._limits.abort_s):
                await self._empty(slot)
            raise

    async def _filled(self, slot: _Slot) -> WorkerHandle:
        """This slot's worker, started if necessary. Raises WorkerLost."""
        if slot.worker is None:
            self._observe(WorkerActivity(worker=slot.index, phase="starting"))
            worker = await WorkerHandle.start(self._start, self._limits, python=self._python)
            if self._closed:
                await worker.kill()
                raise RolloutError("the pool is closed")
            slot.worker = worker
            self._observe(WorkerActivity(worker=slot.index, phase="idle"))
        return slot.worker

    async def _empty(self, slot: _Slot) -> str:
        """Kill this slot's worker. Returns its last output, for an error message."""
        worker, slot.worker = slot.worker, None
        if worker is None:
            return ""
        output = await worker.last_words()
        for partial in self._folder.glob(f".*.{worker.pid}.partial"):
            partial.unlink(missing_ok=True)
        return output

    async def _acquire(self) -> _Slot:
        """The next free slot, in the order of the requests."""
        if self._closed:
            raise RolloutError("the pool is closed")
        if self._idle:
            return self._idle.popleft()
        waiter: asyncio.Future[_Slot] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._release(waiter.result())  # it was assigned at the same moment
            raise

    def _release(self, slot: _Slot) -> None:
        self._observe(WorkerActivity(worker=slot.index, phase="idle"))
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(slot)
                return
        self._idle.append(slot)
