"""What runs on a node: a ProcessPool of as many workers as the node gives, and the recordings that it has made.

Ray makes one `NodeHost` per node and run as an asynchronous actor; this module does not know Ray. A host that hears
nothing from the controller's side for SILENCE_S ends itself, and its workers and programs end with it.
"""

import asyncio
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ...core.errors import RolloutError, StoreError, os_problem
from ...core.files import replace_file
from ...core.ports import ProbeTask, RollTask
from ...core.probes import Cut, Source
from ...core.recording_file import load_recording, trajectory_path
from ...core.values import Episode, Program
from ...core.variables import pass_also
from ...runtime.rollouts import worker_messages as messages
from ...runtime.rollouts.limits import Limits
from ...runtime.rollouts.pool import ProcessPool
from ...runtime.rollouts.worker_handle import worker_environment
from .about import about_here
from .wire import pack_call, unpack_call

SILENCE_S: Final = 20.0         # without a beat; the gateway sends one every BEAT_S
BEAT_S: Final = 3.0
CLOSE_S: Final = 5.0
KEPT_BYTES: Final = 256 << 20   # of recordings on a node, at least; the least recently used go
WORKER_BYTES: Final = 16 << 20  # of recordings for each worker, if that is more: an episode of 12,000 steps has 1.5 MB
CALIBRATION_SEED: Final = 0x5EED
CALIBRATION_STEPS: Final = 40
FOLDER: Final = "memento-node-"
_LOCK: Final = ".lock"


def survey_node() -> str:
    """What this node says about itself, as JSON."""
    forget_environment()
    return json.dumps(about_here().as_json())


def forget_environment() -> None:
    """Remove all that neither a worker nor Ray needs from this process's environment, such as keys of its starter."""
    kept = worker_environment(os.environ)
    for name in [name for name in os.environ if name not in kept and not name.startswith("RAY_")]:
        del os.environ[name]


class NodeHost:
    """The pool of one run on one node. `start` is JSON: domain, splits, domains, workers, limits, python,
    env, calibrate.
    """

    def __init__(self, start: str) -> None:
        self._start: dict[str, Any] = json.loads(start)
        pass_also(self._start["env"])
        forget_environment()
        self._tasks: dict[int, asyncio.Task[bytes]] = {}
        self._heard = 0.0
        self._watching: asyncio.Task[None] | None = None
        self._pool: ProcessPool | None = None
        self._folder = Path()
        self._lock = -1

    async def open(self) -> str:
        """Start the workers. Returns what the node says of itself and its calibration, as JSON. Raises RolloutError."""
        self.beat_now()
        self._watching = asyncio.create_task(self._watch())
        about = await asyncio.to_thread(about_here)
        self._folder, self._lock = await asyncio.to_thread(_own_folder)
        start = self._start
        self._recordings = Recordings(self._folder, max(KEPT_BYTES, WORKER_BYTES * int(start["workers"])))
        self._pool = ProcessPool(
            domain=start["domain"], splits=start["splits"], workers=start["workers"], trajectories=self._folder,
            limits=Limits(**start["limits"]), python=start["python"], domains=start["domains"],
        )
        try:
            await self._pool.__aenter__()
            calibration = await self._calibrated(self._pool) if self._start["calibrate"] else ""
        except BaseException:
            self._remove_folder()
            raise
        return json.dumps({"about": about.as_json(), "calibration": calibration})

    async def _calibrated(self, pool: ProcessPool) -> str:
        """A digest of two short episodes, idle and random: it differs where this machine's arithmetic does."""
        split = next(iter(self._start["splits"]))
        task = ProbeTask(order="calibration", split=split, seed=CALIBRATION_SEED, steps=CALIBRATION_STEPS)
        digest = hashlib.sha256()
        for probe in await pool.record_probes(task):
            path = trajectory_path(self._folder, str(probe.episode.trajectory))
            arrays = load_recording(path).arrays()
            for name in sorted(arrays):
                digest.update(name.encode() + arrays[name].tobytes())
            path.unlink()
        return digest.hexdigest()[:16]

    async def call(self, ticket: int, data: bytes) -> bytes:
        """Carry out one call of `wire.pack_call`; its answer has the same form."""
        self.beat_now()
        task = asyncio.create_task(self._answered(data))
        self._tasks[ticket] = task
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                return pack_call({"withdrawn": True}, None, {})
            raise
        finally:
            del self._tasks[ticket]

    async def read(self, key: str) -> bytes | None:
        """A recording that is here; None if it is not."""
        return self._recordings.read(key) if self._pool is not None and self._recordings.has(key) else None

    async def withdraw(self, ticket: int) -> None:
        """Give up a call under way."""
        task = self._tasks.get(ticket)
        if task is not None:
            task.cancel()

    async def beat(self) -> int:
        """Stay alive. Returns the number of calls under way."""
        self.beat_now()
        return len(self._tasks)

    def beat_now(self) -> None:
        """Note that the controller's side is alive."""
        self._heard = asyncio.get_running_loop().time()

    async def close(self) -> None:
        """End every worker and program, and remove the recordings."""
        if self._pool is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._pool.__aexit__(None, None, None)
            self._remove_folder()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        while loop.time() - self._heard < SILENCE_S:    # noqa: ASYNC110 - silence gives no event
            await asyncio.sleep(BEAT_S)
        await self.close()
        os._exit(1)     # nobody is there to hear a reason

    def _remove_folder(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)
        self._pool = None

    # -------------------------------------------------------------------------------------- calls

    async def _answered(self, data: bytes) -> bytes:
        message, program, files = unpack_call(data)
        if self._pool is None:
            raise RolloutError("the node is closed")
        try:
            with self._recordings.used(message["wants"]):
                for key, content in files.items():
                    self._recordings.write(key, content)
                absent = [key for key in message["wants"] if not self._recordings.has(key)]
                if absent:
                    return pack_call({"absent": absent}, None, {})
                done, made = await self._done(self._pool, message, program)
                for key in made:
                    self._recordings.keep(key)
                faulty = isinstance(done, dict) and done.get("fault") is not None
                sent = made if message["send"] or faulty else []     # a run keeps the end of a faulty episode
                return pack_call(
                    {"done": done, "made": made}, None, {key: self._recordings.read(key) for key in sent}
                )
        except (RolloutError, StoreError) as error:
            return pack_call({"failed": type(error).__name__, "message": str(error)}, None, {})

    async def _done(
        self, pool: ProcessPool, message: Mapping[str, Any], program: Program
    ) -> tuple[messages.Message | list[messages.Message], list[str]]:
        """The answer as JSON and the keys of the recordings that it made."""
        match message["do"]:
            case "roll":
                task = {
                    **message["task"], "practice": messages.practice_of(message["task"]["practice"]),
                    "disturbance": messages.disturbance_of(message["task"]["disturbance"]),
                }
                episode = await pool.roll(RollTask(**task, program=program))
                return messages.episode_message(episode), [] if episode.trajectory is None else [episode.trajectory]
            case "probes":
                cuts = tuple(Cut(**{**cut, "below": tuple(cut["below"])}) for cut in message["task"]["cuts"])
                sources = tuple(Source(**each) for each in message["task"]["sources"])
                probes = await pool.record_probes(ProbeTask(**{**message["task"], "cuts": cuts, "sources": sources}))
                return [messages.probe_message(each) for each in probes], [
                    str(each.episode.trajectory) for each in probes
                ]
            case do:
                recorded = Episode(
                    index=0, seed=message["seed"], steps=0, ended_by="", success=False, trajectory=message["wants"][0]
                )
                if do == "score":
                    return messages.score_message(await pool.score(program, recorded)), []
                if do == "compute":
                    return messages.score_message(await pool.compute(program, recorded)), []
                return messages.score_message((await pool.examine(program, [recorded])).scores[0]), []


class Recordings:
    """The recordings on a node, up to KEPT_BYTES; those in use stay."""

    def __init__(self, folder: Path, most: int = KEPT_BYTES) -> None:
        self._folder = folder
        self._most = most
        self._sizes: OrderedDict[str, int] = OrderedDict()
        self._uses: Counter[str] = Counter()

    def used(self, keys: list[str]) -> "_Use":
        """Keeps these recordings during a block."""
        return _Use(self._uses, keys)

    def has(self, key: str) -> bool:
        """Whether the recording is here."""
        return trajectory_path(self._folder, key).exists()

    def keep(self, key: str) -> None:
        """Count a recording that a worker has made. Raises StoreError."""
        try:
            self._note(key, trajectory_path(self._folder, key).stat().st_size)
        except OSError as error:
            raise StoreError(f"the trajectory {key} is not on the node: {os_problem(error)}") from error

    def read(self, key: str) -> bytes:
        """The bytes of a recording. Raises StoreError."""
        try:
            return trajectory_path(self._folder, key).read_bytes()
        except OSError as error:
            raise StoreError(f"the trajectory {key} cannot be read on the node: {os_problem(error)}") from error

    def write(self, key: str, data: bytes) -> None:
        """Store a recording of another node. Raises StoreError."""
        try:
            replace_file(trajectory_path(self._folder, key), data)
        except OSError as error:
            raise StoreError(f"the trajectory {key} cannot be written on the node: {os_problem(error)}") from error
        self._note(key, len(data))

    def _note(self, key: str, size: int) -> None:
        self._sizes[key] = size
        self._sizes.move_to_end(key)
        total = sum(self._sizes.values())
        for old in [old for old in self._sizes if old != key and not self._uses[old]]:
            if total <= self._most:
                break
            total -= self._sizes.pop(old)
            trajectory_path(self._folder, old).unlink(missing_ok=True)


class _Use:
    def __init__(self, uses: Counter[str], keys: list[str]) -> None:
        self._uses, self._keys = uses, keys

    def __enter__(self) -> None:
        self._uses.update(self._keys)

    def __exit__(self, *_: object) -> None:
        self._uses.subtract(self._keys)


def _own_folder() -> tuple[Path, int]:
    """A new folder, locked while this process lives; those that killed hosts left are removed."""
    for old in Path(tempfile.gettempdir()).glob(f"{FOLDER}*"):
        with suppress(OSError):
            descriptor = os.open(old / _LOCK, os.O_RDWR)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(old, ignore_errors=True)
            finally:
                os.close(descriptor)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER))
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return folder, descriptor
