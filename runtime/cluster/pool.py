"""The rollout pool of a cluster: gives orders to nodes, stores the recordings that come back, survives lost nodes."""

import asyncio
import hashlib
import json
import os
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import structlog

from ...core.errors import MementoError, RolloutError, StoreError, UsageError, os_problem
from ...core.files import replacing
from ...core.ports import ProbeTask, RollTask
from ...core.recording_file import trajectory_path
from ...core.values import JSON, Episode, Examination, Probe, Program, Score
from ..rollouts import worker_messages as messages
from ..rollouts.limits import DEFAULT_LIMITS, Limits
from ..rollouts.pool import TRIES, Activity, Observer, examined
from .about import About, about_here, lost_layers, why_unfit
from .dispatch import Assignment, Dispatcher, Job
from .link import ClusterGone, ClusterLink, NodeFound, NodeLost
from .wire import pack_call, unpack_call

OPEN_S: Final = 150.0       # for a node to start its workers
BUSY_S: Final = 30.0        # after which a node is tried again whose CPUs another run took
READY_S: Final = 180.0      # for the first node to be ready
NODELESS_S: Final = 600.0   # orders wait so long for a node to come (back)
CLOSE_S: Final = 8.0        # for a node to end its workers
WRITERS: Final = 32         # recordings flushed to the disk at once: most of the time they wait for it
MOST_OPENINGS: Final = 3    # of one node, which loses its host again and again

_Answer = tuple[Any, dict[str, bytes], str]     # the values, the recordings that came with them, the node's name

_log = structlog.get_logger("memento.cluster")

_Errors: Final = {"RolloutError": RolloutError, "StoreError": StoreError}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a run asks of nodes: `isolated` refuses those that cannot isolate programs, `layers` are those of the run.

    `workers` bounds the rollouts at once on all nodes; None: as many as the nodes have free CPUs. With `calibrate` a
    node whose episodes differ from the first one's in the last bits is refused; with `mixed` as well it is not.
    """

    isolated: bool = False
    layers: tuple[str, ...] = ()
    workers: int | None = None
    calibrate: bool = False
    mixed: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class _Call:
    """A call that waits for its one answer."""

    job: Job
    message: Mapping[str, Any]
    program: Program
    future: "asyncio.Future[_Answer]"


class ClusterPool:
    """A core.ports.Pool of the workers on a cluster's nodes. An async context manager; leaving it ends them.

    `link` must be open. `domain` is an import string, resolved on the nodes only. Trajectories go to the folder
    `trajectories` of this machine; nodes keep copies, so that evaluators are called where a recording is. `python` is
    the interpreter of the workers, which every node must have at the same path; by default the node's own.
    """

    def __init__(
        self, link: ClusterLink, *, domain: str, splits: Mapping[str, Mapping[str, JSON]], trajectories: Path,
        limits: Limits = DEFAULT_LIMITS, observer: Observer | None = None, terms: Terms | None = None,
        python: str | None = None,
    ) -> None:
        self._link = link
        self._start = {
            "domain": domain, "splits": {name: dict(options) for name, options in splits.items()},
            "limits": asdict(limits), "python": python, "calibrate": (terms or Terms()).calibrate,
        }
        self._splits = frozenset(splits)
        self._folder = trajectories
        self._terms = terms or Terms()
        self._observe = observer or (lambda _: None)
        self._call_s = TRIES * (limits.task_wall_s + limits.environment_s + limits.worker_start_s) + CLOSE_S
        self._dispatcher = Dispatcher()
        self._calls: dict[Job, _Call] = {}
        self._names: dict[str, str] = {}            # of nodes, for people
        self._opening: dict[str, int] = {}          # workers that a node is starting
        self._openings: dict[str, int] = {}
        self._busy_until: dict[str, float] = {}
        self._refused: dict[str, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="recordings")
        self._changed = asyncio.Event()
        self._nodeless_since: float | None = None
        self._here: About | None = None
        self._calibrated: tuple[str, str] | None = None     # the first node's calibration and its name
        self._closed = True

    async def __aenter__(self) -> Self:
        """Start the workers of every node. Raises UsageError if no node can be used, RolloutError if none starts."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._here = await asyncio.to_thread(about_here)
        self._closed = False
        self._link.on_nodes, self._link.on_gone = self._review, self._fail_all
        try:
            self._review()
            async with asyncio.timeout(READY_S):
                await self._first_ready()
        except TimeoutError:
            await self._close()
            raise RolloutError(self._why_none(f"none was ready within {READY_S:g} s")) from None
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """End every worker and every program on every node."""
        await self._close()

    @property
    def slots(self) -> int:
        """Rollouts at once on the nodes that are there now; at least 1."""
        return max(1, self._dispatcher.slots)

    # -------------------------------------------------------------------------------------- the port

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on this disk when this returns. Raises RolloutError, StoreError."""
        self._require_split(task.split)
        plain = {"order": task.order, "split": task.split, "index": task.index, "seed": task.seed}
        answer, files, node = await self._call("roll", task.order, plain, task.program)
        await self._store(files)
        episode = messages.episode_of(answer)
        return replace(episode, notes=replace(episode.notes, node=node))

    async def record_probes(self, task: ProbeTask) -> tuple[Probe, ...]:
        """Put the probes of the task on record. Raises RolloutError and StoreError."""
        self._require_split(task.split)
        wants = dict.fromkeys(cut.key for cut in task.cuts)
        answer, files, _ = await self._call("probes", task.order, asdict(task), Program(""), wants=wants)
        await self._store(files)
        return tuple(messages.probe_of(probe) for probe in answer)

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode, where its recording is. Raises RolloutError, StoreError."""
        return await self._apply("score", evaluator, episode)

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid; see core.ports.Pool. Raises RolloutError."""
        return await examined(partial(self._apply, "examine", evaluator), episodes)

    async def _apply(self, do: str, evaluator: Program, episode: Episode) -> Score:
        key = episode.trajectory
        if key is None:
            raise RolloutError(f"episode {episode.index} has no recorded trajectory to {do}")
        answer, _, _ = await self._call(do, key, {}, evaluator, wants=(key,), seed=episode.seed)
        return messages.score_of(answer)

    def _require_split(self, split: str) -> None:
        if split not in self._splits:
            raise RolloutError(f"the pool has no split {split!r}, only {sorted(self._splits)}")

    # ----------------------------------------------------------------------------------- calls

    async def _call(
        self, do: str, order: str, task: Mapping[str, Any], program: Program, *, wants: Iterable[str] = (),
        seed: int = 0,
    ) -> _Answer:
        """What a node answers. Raises RolloutError and StoreError."""
        if self._closed:
            raise RolloutError("the pool is closed")
        job = Job(order=order, wants=tuple(wants))
        message = {"do": do, "task": task, "wants": job.wants, "seed": seed}
        call = _Call(job=job, message=message, program=program, future=asyncio.get_running_loop().create_future())
        self._calls[job] = call
        self._dispatcher.submit(job)
        self._assign()
        try:
            return await call.future
        except asyncio.CancelledError:
            assignment = self._dispatcher.withdraw(job)
            if assignment is not None:
                self._begin(self._withdraw(assignment))
            raise
        finally:
            self._calls.pop(job, None)

    def _assign(self) -> None:
        while (assignment := self._dispatcher.assign()) is not None:
            self._begin(self._carry_out(assignment))

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry_out(self, given: Assignment) -> None:
        """Have a node do a job, and pass its answer on unless it is late."""
        call = self._calls.get(given.job)
        result: _Answer | MementoError | None = None
        if call is not None:
            self._show(given, str(call.message["do"]))
            try:
                result = await self._answer_of(given, call)
            except NodeLost as error:
                self._lose(given.node, str(error))
                return
            except TimeoutError:
                self._lose(given.node, f"{given.job.order} did not end within {self._call_s:g} s")
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
        self._assign()

    async def _answer_of(self, given: Assignment, call: _Call) -> _Answer | None:
        """What the node answers; None if the call was withdrawn. Raises NodeLost, ClusterGone and MementoError."""
        wants = given.job.wants
        missing = [key for key in wants if not self._dispatcher.holds(given.node, key)]
        while True:
            data = pack_call(call.message, call.program, await asyncio.to_thread(self._recordings, missing))
            async with asyncio.timeout(self._call_s):
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
        for key in files:
            self._dispatcher.made(given.node, key)
        return message["done"], files, self._names[given.node]

    async def _withdraw(self, given: Assignment) -> None:
        with suppress(NodeLost, ClusterGone, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._link.ask({"do": "withdraw", "node": given.node, "ticket": given.ticket})

    def _show(self, given: Assignment, doing: str | None) -> None:
        self._observe(Activity(
            worker=given.slot, phase="idle" if doing is None else "working", doing=doing,
            order=None if doing is None else given.job.order, node=self._names.get(given.node),
        ))

    # ------------------------------------------------------------------------------ recordings

    def _recordings(self, keys: Sequence[str]) -> dict[str, bytes]:
        """The bytes of these recordings on this disk. Raises StoreError."""
        found = {}
        for key in keys:
            path = trajectory_path(self._folder, key)
            try:
                found[key] = path.read_bytes()
            except OSError as error:
                raise StoreError(f"the trajectory {path.name} is not in {path.parent}: {os_problem(error)}") from error
        return found

    async def _store(self, files: Mapping[str, bytes]) -> None:
        """Write recordings of a node to this disk for good, many at once. Raises StoreError."""
        await asyncio.get_running_loop().run_in_executor(self._writers, self._write, files)

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

    # ------------------------------------------------------------------------------------ nodes

    def _review(self) -> None:
        """Compare the nodes of the cluster with those in use: open new ones, give up lost ones."""
        if self._closed:
            return
        alive = {node.id: node for node in self._link.nodes}
        for lost in [name for name in self._dispatcher.nodes if name not in alive]:
            self._lose(lost, "Ray reports that it is gone")
        for node in sorted(alive.values(), key=_turn):
            workers = self._workers_for(node)
            if workers > 0:
                self._names[node.id] = node.name
                self._opening[node.id] = workers
                self._openings[node.id] = self._openings.get(node.id, 0) + 1
                self._begin(self._open(node, workers))
        self._fail_nodeless()

    def _workers_for(self, node: NodeFound) -> int:
        """How many workers to start on a node now."""
        if node.id in self._opening or node.id in self._refused or node.id in self._dispatcher.nodes:
            return 0
        now = asyncio.get_running_loop().time()
        if self._openings.get(node.id, 0) >= MOST_OPENINGS or now < self._busy_until.get(node.id, now):
            return 0
        free = node.cpus if node.free < 0 else node.free
        if self._terms.workers is None:
            return free
        return min(free, self._terms.workers - self._dispatcher.slots - sum(self._opening.values()))

    async def _open(self, node: NodeFound, workers: int) -> None:
        """Start workers on a node and use it, if it fits."""
        why: str | None = None
        try:
            async with asyncio.timeout(OPEN_S):
                answer, _ = await self._link.ask({
                    "do": "open", "node": node.id, "workers": workers,
                    "start": json.dumps({**self._start, "workers": workers}),
                })
            if "busy" in answer:
                self._busy_until[node.id] = asyncio.get_running_loop().time() + BUSY_S
                self._openings[node.id] -= 1
                return
            why = self._why_unfit(node, About.of(answer["about"]), str(answer["calibration"]))
        except (NodeLost, TimeoutError, ClusterGone) as error:
            why = f"its workers could not be started: {error or f'not within {OPEN_S:g} s'}"
        finally:
            del self._opening[node.id]
        if self._closed:
            return
        if why is None:
            self._dispatcher.join(node.id, workers)
            _log.info("node-joined", node=node.name, workers=workers)
            self._assign()
        else:
            self._refused[node.id] = f"{node.name}: {why}"
            _log.warning("node-refused", node=node.name, why=why)
            await self._release(node.id)
        self._changed.set()

    def _why_unfit(self, node: NodeFound, about: About, calibration: str) -> str | None:
        assert self._here is not None
        why = why_unfit(about, self._here, isolated=self._terms.isolated)
        if why is None:
            self._calibrated = self._calibrated or (calibration, node.name)
            if calibration != self._calibrated[0]:
                differs = f"its episodes differ from those of {self._calibrated[1]} in the last bits"
                if not self._terms.mixed:
                    return f"{differs}, with the processor {about.cpu}: leave it out, or allow it with --mixed-nodes"
                _log.warning("node-differs", node=node.name, why=differs)
        if why is None and (lost := lost_layers(about, self._terms.layers)):
            _log.warning("isolation-lost", node=node.name, missing=", ".join(lost))
        return why

    def _lose(self, node: str, why: str) -> None:
        """A node is lost: others do its jobs. One that lost two nodes fails."""
        if self._closed or node not in self._dispatcher.nodes:
            return
        given_up = self._dispatcher.leave(node)
        _log.warning("node-lost", node=self._names[node], why=why)
        for job in given_up:
            call = self._calls.get(job)
            if call is not None and not call.future.done():
                lost = " and ".join(self._names[each] for each in job.lost)
                call.future.set_exception(RolloutError(
                    f"{call.message['do']} {job.order} was lost with two nodes, {lost}: {why}"
                ))
        self._begin(self._release(node))
        self._assign()

    async def _release(self, node: str) -> None:
        with suppress(NodeLost, ClusterGone, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._link.ask({"do": "close", "node": node})

    async def _first_ready(self) -> None:
        """Wait until the nodes that were there at the start are ready or refused, and one is ready."""
        while self._opening or not self._dispatcher.nodes:
            if not self._opening and self._refused and all(node.id in self._refused for node in self._link.nodes):
                raise UsageError(self._why_none("none of them can be used"))
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._changed.wait()

    def _why_none(self, what: str) -> str:
        reasons = "; ".join(self._refused.values()) or "none of them has a free CPU"
        return f"the cluster at {self._link.address} has {len(self._link.nodes)} nodes, and {what}: {reasons}"

    def _fail_nodeless(self) -> None:
        """Fail the calls if there has been no node for too long."""
        now = asyncio.get_running_loop().time()
        if self._dispatcher.nodes or self._opening:
            self._nodeless_since = None
        elif self._nodeless_since is None:
            self._nodeless_since = now
        elif now - self._nodeless_since > NODELESS_S:
            self._fail_all(f"no node could be used for {NODELESS_S:g} s")

    def _fail_all(self, why: str) -> None:
        for call in [*self._calls.values()]:
            if not call.future.done():
                call.future.set_exception(RolloutError(
                    f"the cluster at {self._link.address} is lost ({why}): resume the run when it is back"
                ))

    async def _close(self) -> None:
        self._closed = True
        self._link.on_nodes, self._link.on_gone = (lambda: None), (lambda _: None)
        for call in [*self._calls.values()]:
            if not call.future.done():
                call.future.set_exception(RolloutError("the pool was closed before the call was answered"))
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        nodes = {*self._dispatcher.nodes, *self._openings} - {*self._refused}
        await asyncio.gather(*(self._release(node) for node in nodes))
        await asyncio.to_thread(self._writers.shutdown)
        for left in self._folder.glob(".*.partial"):
            left.unlink(missing_ok=True)


def _turn(node: NodeFound) -> str:
    """A different order of nodes for each controller, so that runs at the same time begin on different ones."""
    return hashlib.sha256(f"{os.getpid()} {node.id}".encode()).hexdigest()
