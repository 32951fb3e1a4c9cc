"""Places for worker processes: a task takes one, tries it and frees it; the task that waited longest comes first."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...core.errors import RolloutError
from ...core.values import Program
from . import worker_messages as messages
from .limits import Limits
from .worker_handle import WorkerHandle, WorkerLost

GIVE_WAY_S: Final = 10.0    # for an episode that nobody ordered to end; a new simulator would take longer
STARTS: Final = 5           # of a worker, before it counts as one that cannot start
START_PAUSE_S: Final = 0.1  # before the second of them; it doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerActivity:
    """The current activity of one worker, for display. `phase` is "idle", "starting", "environment" or "working"."""

    worker: int
    phase: str
    doing: str | None = None    # "roll", "ahead", "score", "examine", "probes", "draw"
    order: str | None = None    # the order, or the trajectory
    steps: int = 0              # of the episode so far
    node: str | None = None     # of a cluster


Observer = Callable[[WorkerActivity], None]


class WorkerSlot:
    """A place for one worker; empty before the first task and after the loss of a worker."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.worker: WorkerHandle | None = None
        self.used = False
        self.made: set[str] = set()     # the splits whose environment the worker has made
        self.warmed = False             # since then it was tried to make one, in vain


class WorkerSlots:
    """The places of a pool, whose workers get `start` first. `give_way` is called where a task has to wait for one.

    `folder` is where workers write; what a killed one leaves there half written goes with it.
    """

    def __init__(self, start: Mapping[str, object], *, workers: int, folder: Path, limits: Limits,
                 python: str | None, observe: Observer, give_way: Callable[[], None]) -> None:
        self._start, self._python = start, python
        self._folder, self._limits, self._observe, self._give_way = folder, limits, observe, give_way
        self.all = [WorkerSlot(index) for index in range(workers)]
        self.idle = deque(self.all)
        self._waiting: deque[asyncio.Future[WorkerSlot]] = deque()
        self.closed = True

    async def open(self) -> None:
        """Start every worker. Raises RolloutError if one cannot start."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self.closed = False
        try:
            async with asyncio.TaskGroup() as group:
                for slot in self.all:
                    group.create_task(self._fill(slot))
        except ExceptionGroup as errors:
            first = errors.exceptions[0]
            raise first if isinstance(first, RolloutError) else RolloutError(str(first)) from first

    async def close(self) -> None:
        """End every worker; whoever waits for one gets RolloutError."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(RolloutError("the pool was closed while a task waited for a worker"))
        workers = [slot.worker for slot in self.all if slot.worker is not None]
        for slot in self.all:
            slot.worker = None
        await asyncio.gather(*(worker.close() for worker in workers))
        for partial in self._folder.glob(".*.partial"):
            partial.unlink(missing_ok=True)

    async def attempt(
        self, slot: WorkerSlot, message: messages.Message, program: Program, order: str
    ) -> messages.Message:
        """One try on this slot's worker. Raises WorkerLost, with the slot left empty."""
        slot.used = True
        worker = await self._fill(slot)
        blob = program.text.encode("utf-8", "surrogatepass")

        def on_note(note: messages.Message) -> float:
            doing = "ahead" if message.get("ahead") else message["do"]
            self._observe(WorkerActivity(
                worker=slot.index, phase=note["note"], doing=doing, order=order, steps=note["steps"],
            ))
            return self._limits.environment_s if note["note"] == "environment" else self._limits.silence_s

        try:
            answer = await worker.call(message, blob, on_note, wall_s=self._limits.task_wall_s)
            if "split" in message:
                slot.made.add(str(message["split"]))
                slot.warmed = False
            return answer
        except WorkerLost as error:
            lost = await worker.lost(error)
            await self.empty(slot)
            raise lost from error
        except BaseException:   # cancelled: keep the worker and its simulator if it stops in time
            patient = message.get("ahead") and not self.closed
            if not await worker.abort(GIVE_WAY_S if patient else self._limits.abort_s):
                await self.empty(slot)
            raise

    async def _fill(self, slot: WorkerSlot) -> WorkerHandle:
        """This slot's worker, started if necessary. Raises RolloutError if it cannot be started."""
        if slot.worker is None:
            self._observe(WorkerActivity(worker=slot.index, phase="starting"))
            worker = await self._start_worker()
            if self.closed:
                await worker.kill()
                raise RolloutError("the pool is closed")
            slot.worker = worker
            self._observe(WorkerActivity(worker=slot.index, phase="idle"))
        return slot.worker

    async def _start_worker(self) -> WorkerHandle:
        """A new worker. One that dies while it starts, as where memory is short, is replaced. Raises RolloutError."""
        for attempt in range(STARTS):
            try:
                return await WorkerHandle.start(self._start, self._limits, python=self._python)
            except WorkerLost as error:
                if attempt + 1 == STARTS or self.closed:
                    raise RolloutError(f"a worker could not be started in {STARTS} tries: {error}") from error
                await asyncio.sleep(START_PAUSE_S * 2**attempt)
        raise AssertionError("the last try returns or raises")

    async def empty(self, slot: WorkerSlot) -> None:
        """Kill this slot's worker."""
        worker, slot.worker, slot.made = slot.worker, None, set()
        if worker is None:
            return
        await worker.kill()
        for partial in self._folder.glob(f".*.{worker.pid}.partial"):
            partial.unlink(missing_ok=True)

    async def acquire(self) -> WorkerSlot:
        """The next free slot, in the order of the requests."""
        if self.closed:
            raise RolloutError("the pool is closed")
        if self.idle:
            return self.idle.popleft()
        self._give_way()
        waiter: asyncio.Future[WorkerSlot] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.release(waiter.result())  # it was assigned at the same moment
            raise

    def release(self, slot: WorkerSlot) -> None:
        """Hand the slot to the task that has waited the longest."""
        self._observe(WorkerActivity(worker=slot.index, phase="idle"))
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(slot)
                return
        self.idle.append(slot)
