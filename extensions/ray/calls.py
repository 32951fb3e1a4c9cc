"""Calls to nodes: each is given to a node that has a free place, and again to another one if that node is lost."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...core.errors import MementoError, RecordingLost, RolloutError, StoreError, os_problem
from ...core.files import read_bounded, replacing
from ...core.recording_file import MOST_BYTES, trajectory_path
from ...core.values import Program
from ...runtime.rollouts.worker_slots import Observer, WorkerActivity
from .dispatch import Assignment, Dispatcher, NodeJob
from .link import ClusterGone, ClusterLink, NodeLost
from .wire import pack_call, unpack_call

# The recordings of a run on the controller's disk: what nodes return is written for good, many at once.


WRITERS: Final = 32     # recordings flushed to the disk at once: most of the time they wait for it


class Disk:
    """The folder of a run's recordings. Every method raises StoreError if the disk refuses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="recordings")

    def make(self) -> None:
        """Make the folder."""
        self._folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        """Whether a recording is here."""
        return trajectory_path(self._folder, key).exists()

    async def read(self, key: str) -> bytes:
        """The bytes of a recording. Raises RecordingLost if it is not here."""
        return await asyncio.to_thread(self._read, key)

    async def write(self, files: Mapping[str, bytes]) -> None:
        """Write recordings and flush them to the disk."""
        if files:
            await asyncio.get_running_loop().run_in_executor(self._writers, self._write, files)

    async def close(self) -> None:
        """Wait for the writers, and remove what they left unfinished."""
        await asyncio.to_thread(self._writers.shutdown)
        for left in self._folder.glob(".*.partial"):
            left.unlink(missing_ok=True)

    def _read(self, key: str) -> bytes:
        path = trajectory_path(self._folder, key)
        try:
            return read_bounded(path, MOST_BYTES)
        except FileNotFoundError as error:
            raise RecordingLost(f"the trajectory {path.name} is neither in {path.parent} nor on a node") from error
        except OSError as error:
            raise StoreError(f"the trajectory {path.name} cannot be read: {os_problem(error)}") from error

    def _write(self, files: Mapping[str, bytes]) -> None:
        for key, data in files.items():
            path = trajectory_path(self._folder, key)
            try:
                with replacing(path, durable=True) as partial_path:
                    partial_path.write_bytes(data)
            except OSError as error:
                raise StoreError(
                    f"the trajectory {path.name} cannot be written to {path.parent}: {os_problem(error)}"
                ) from error


WITHDRAW_S: Final = 8.0     # for a node to give a call up
READ_S: Final = 30.0        # for a node to send a recording

_Errors: Final = {"RolloutError": RolloutError, "StoreError": StoreError}


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer:
    """What a node answers: values, the recordings that came with them, the node's name."""

    done: Any
    files: Mapping[str, bytes]
    node: str


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    """A call that waits for its one answer."""

    job: NodeJob
    message: Mapping[str, Any]
    program: Program
    future: "asyncio.Future[NodeAnswer]"


class Tasks:
    """Tasks in the background that end together."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Start one."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Cancel all, and wait until they have ended."""
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class Calls:
    """The open calls of a pool. `names` are those of the nodes, for people; `limit_s` is the deadline of one try.

    `lose` is called with a node, and why, when a call to it shows that it is lost; it answers with `lost`.
    """

    def __init__(
        self, link: ClusterLink, dispatcher: Dispatcher, disk: Disk, tasks: Tasks, *, names: Mapping[str, str],
        limit_s: float, observer: Observer, lose: Callable[[str, str], None],
    ) -> None:
        self._link = link
        self._dispatcher = dispatcher
        self._disk = disk
        self._tasks = tasks
        self._names = names
        self._limit_s = limit_s
        self._observe = observer
        self._lose = lose
        self._open: dict[NodeJob, _Call] = {}

    async def call(
        self, do: str, order: str, task: Mapping[str, Any], program: Program, *, wants: Iterable[str] = (),
        seed: int = 0, send: bool = True,
    ) -> NodeAnswer:
        """What a node answers. `wants` are the recordings that it reads; with `send` it returns those that it makes.

        Raises RolloutError and StoreError.
        """
        job = NodeJob(order=order, wants=tuple(wants))
        message = {"do": do, "task": task, "wants": job.wants, "seed": seed, "send": send}
        call = _Call(job=job, message=message, program=program, future=asyncio.get_running_loop().create_future())
        self._open[job] = call
        self._dispatcher.submit(job)
        self.assign()
        try:
            return await call.future
        except asyncio.CancelledError:
            assignment = self._dispatcher.withdraw(job)
            if assignment is not None:
                self._tasks.begin(self._withdraw(assignment))
            raise
        finally:
            self._open.pop(job, None)

    def assign(self) -> None:
        """Give waiting calls to free places, as many as there are."""
        while (assignment := self._dispatcher.assign()) is not None:
            self._tasks.begin(self._carry_out(assignment))

    def lost(self, given_up: Iterable[NodeJob], why: str) -> None:
        """A node has left. The calls that lost two nodes fail; the others are given out again."""
        for job in given_up:
            call = self._open.get(job)
            if call is not None:
                lost = " and ".join(self._names[each] for each in job.lost)
                _fail(call, f"{call.message['do']} {job.order} was lost with two nodes, {lost}: {why}")
        self.assign()

    def fail_all(self, why: str) -> None:
        """Every open call fails with RolloutError."""
        for call in [*self._open.values()]:
            _fail(call, why)

    async def recording(self, key: str) -> bytes:
        """A recording, from this disk or from a node that has it. Raises RecordingLost and StoreError."""
        try:
            return await self._disk.read(key)
        except RecordingLost:
            for node in self._dispatcher.holders(key):
                with suppress(NodeLost, ClusterGone, TimeoutError):     # if it is gone, its calls show it
                    async with asyncio.timeout(READ_S):
                        answer, data = await self._link.ask({"do": "read", "node": node, "key": key})
                    if not answer["absent"]:
                        return data
                self._dispatcher.dropped(node, key)
            raise

    async def _carry_out(self, given: Assignment) -> None:
        """Have a node do a job, and pass its answer on unless it is late."""
        call = self._open.get(given.job)
        result: NodeAnswer | MementoError | None = None
        if call is not None:
            self._show(given, str(call.message["do"]))
            try:
                result = await self._answer_of(given, call)
            except NodeLost as error:
                self._show(given, None)
                self._lose(given.node, str(error))
                return
            except TimeoutError:
                self._show(given, None)
                self._lose(given.node, f"{given.job.order} did not end within {self._limit_s:g} s")
                return
            except ClusterGone:
                return      # all calls fail together
            except MementoError as error:
                result = error
        if self._dispatcher.answered(given.ticket) is None:
            return          # late: the job was given to another node
        self._show(given, None)
        if call is not None and result is not None and not call.future.done():
            if isinstance(result, MementoError):
                call.future.set_exception(result)
            else:
                call.future.set_result(result)
        self.assign()

    async def _answer_of(self, given: Assignment, call: _Call) -> NodeAnswer | None:
        """What the node answers; None if the call was withdrawn. Raises NodeLost, ClusterGone and MementoError."""
        missing = [key for key in given.job.wants if not self._dispatcher.holds(given.node, key)]
        while True:
            data = pack_call(call.message, call.program, {key: await self.recording(key) for key in missing})
            async with asyncio.timeout(self._limit_s):
                _, answered = await self._link.ask({"do": "call", "node": given.node, "ticket": given.ticket}, data)
            message, _, files = unpack_call(answered)
            for key in missing:
                self._dispatcher.sent(given.node, key)
            if "absent" not in message:
                break
            missing = [key for key in message["absent"] if key not in missing]
            if not missing:
                raise NodeLost("it does not keep the recordings that it is sent")
            for key in missing:
                self._dispatcher.dropped(given.node, key)
        if "failed" in message:
            raise _Errors[message["failed"]](f"{message['message']} (on the node {self._names[given.node]})")
        if "withdrawn" in message:
            return None
        for key in message["made"]:
            self._dispatcher.made(given.node, key)
        return NodeAnswer(done=message["done"], files=files, node=self._names[given.node])

    async def _withdraw(self, given: Assignment) -> None:
        with suppress(NodeLost, ClusterGone, TimeoutError):
            async with asyncio.timeout(WITHDRAW_S):
                await self._link.ask({"do": "withdraw", "node": given.node, "ticket": given.ticket})

    def _show(self, given: Assignment, doing: str | None) -> None:
        self._observe(WorkerActivity(
            worker=given.slot, phase="idle" if doing is None else "working", doing=doing,
            order=None if doing is None else given.job.order, node=self._names.get(given.node),
        ))


def _fail(call: _Call, why: str) -> None:
    if not call.future.done():
        call.future.set_exception(RolloutError(why))
