"""The controller's hold on one worker process: start it, give it a task, read its answer, end it for sure."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Final, TypeVar

from ...core.interpreters import module_command
from . import worker_messages as messages
from .limits import Limits

MODULE: Final = "memento.runtime.rollouts.worker"
STDERR_TAIL_BYTES: Final = 4096
STDERR_CHARS: Final = 1500  # of which an error shows this much
CLOSE_S: Final = 1.0        # for a worker to end by itself
KILL_S: Final = 5.0         # for the kernel to end a killed one

_PASSED: Final = frozenset({    # by name: a prefix such as NVIDIA_ would pass NVIDIA_API_KEY
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "TZ", "TMPDIR",
    "LD_LIBRARY_PATH", "DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "VIRTUAL_ENV", "PYTHONPATH",
    "SSL_CERT_FILE",
    "MUJOCO_GL", "MUJOCO_EGL_DEVICE_ID", "PYOPENGL_PLATFORM", "EGL_PLATFORM", "EGL_LOG_LEVEL",
    "LIBGL_ALWAYS_SOFTWARE", "LIBGL_DRIVERS_PATH", "LIBGL_DEBUG", "GALLIUM_DRIVER",
    "MESA_GL_VERSION_OVERRIDE", "MESA_GLSL_VERSION_OVERRIDE", "MESA_LOADER_DRIVER_OVERRIDE",
    "MESA_SHADER_CACHE_DIR", "MESA_SHADER_CACHE_DISABLE",
    "__GLX_VENDOR_LIBRARY_NAME", "__EGL_VENDOR_LIBRARY_FILENAMES", "__EGL_VENDOR_LIBRARY_DIRS",
    "__EGL_EXTERNAL_PLATFORM_CONFIG_DIRS", "__GL_SHADER_DISK_CACHE", "__GL_SHADER_DISK_CACHE_PATH",
    "__NV_PRIME_RENDER_OFFLOAD", "VK_ICD_FILENAMES", "VK_DRIVER_FILES", "VK_LAYER_PATH", "VK_ADD_DRIVER_FILES",
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_CACHE_PATH", "CUDA_HOME", "CUDA_PATH",
    "NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES",
    "NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_DISABLE_JIT", "NUMBA_NUM_THREADS",
    "NUMBA_THREADING_LAYER", "NUMBA_OPT",
    "AI2THOR_VISIBILITY_DISTANCE",
})
_SECRET_WORDS: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")    # of names that are never passed: a model's variables


T = TypeVar("T")


class WorkerLost(Exception):
    """The worker died, fell silent or passed its deadline: ours, not the candidate's."""


def worker_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment block of a worker: what simulators need of `given`, and no key or secret."""
    passed = {name: value for name, value in given.items()
              if name in _PASSED and not any(word in name.upper() for word in _SECRET_WORDS)}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**passed, **threads, "PYTHONHASHSEED": "0"}


async def _undisturbed(task: asyncio.Future[T]) -> T:
    """Await a task that must finish; a cancellation meanwhile is raised when it has.

    It is a separate task because timeouts within a task that is being cancelled already do not end as
    TimeoutError before Python 3.11.4.
    """
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


class _Tail(asyncio.Protocol):
    """Keeps the last bytes of a pipe."""

    def __init__(self) -> None:
        self.data = b""
        self.closed = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        self.data = (self.data + data)[-STDERR_TAIL_BYTES:]

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.closed.done():
            self.closed.set_result(None)


class WorkerHandle:
    """One live worker. Made by `start`; ended by `close` or `kill`, both of which always finish."""

    def __init__(self, process: asyncio.subprocess.Process, reader: asyncio.StreamReader,
                 writer: asyncio.StreamWriter, tail: _Tail, pipe: asyncio.ReadTransport) -> None:
        self._process = process
        self._reader = messages.MessageReader(reader)
        self._writer = writer
        self._tail = tail
        self._pipe = pipe
        self._ending: asyncio.Future[str] | None = None

    @property
    def pid(self) -> int:
        """The worker's process id, and that of its session."""
        return self._process.pid

    @classmethod
    async def start(
        cls, message: Mapping[str, Any], limits: Limits, *, python: str | None = None
    ) -> "WorkerHandle":
        """Start a worker under this interpreter and wait until it is ready. Raises WorkerLost with what it said."""
        try:
            worker = await cls._spawn(module_command(MODULE, python=python))
        except OSError as error:
            raise WorkerLost(f"its process could not be made: {error}") from error
        try:
            await worker.call({**message, "controller": os.getpid()}, b"", lambda _: limits.worker_start_s,
                              wall_s=limits.worker_start_s)
        except WorkerLost as error:
            raise WorkerLost(f"{error}; {await worker.last_words()}") from error
        except BaseException:
            await worker.kill()
            raise
        return worker

    @classmethod
    async def _spawn(cls, command: Sequence[str]) -> "WorkerHandle":
        """The process and the channels to it; nothing is left of them where this fails or is cancelled."""
        with ExitStack() as undo, ExitStack() as theirs_only:
            ours, theirs = socket.socketpair()
            undo.callback(ours.close)
            theirs_only.callback(theirs.close)
            reading, writing = os.pipe()
            theirs_only.callback(os.close, writing)
            said = undo.enter_context(os.fdopen(reading, "rb", buffering=0))
            pipe, tail = await asyncio.get_running_loop().connect_read_pipe(_Tail, said)
            undo.callback(pipe.close)
            reader, writer = await asyncio.open_connection(sock=ours)
            undo.callback(writer.close)
            process = await asyncio.create_subprocess_exec(
                *command, str(theirs.fileno()), f"for-{os.getpid()}",
                stdin=asyncio.subprocess.DEVNULL, stdout=writing, stderr=writing,
                env=worker_environment(os.environ), pass_fds=(theirs.fileno(),), start_new_session=True,
            )
            undo.pop_all()
        return cls(process, reader, writer, tail, pipe)

    async def call(self, message: Mapping[str, Any], blob: bytes, heard: Callable[[messages.Message], float],
                   *, wall_s: float) -> messages.Message:
        """Send one message and return its answer, passing notes on to `heard`.

        `heard` returns how long the worker may stay silent from then on, in seconds. Raises WorkerLost.
        """
        try:
            async with asyncio.timeout(wall_s):
                self._writer.write(messages.pack(message, blob))
                await self._writer.drain()
                silence_s = heard({"note": "working", "steps": 0})
                while True:
                    async with asyncio.timeout(silence_s):
                        answer = await self._reader.read()
                    if "note" not in answer:
                        return answer
                    silence_s = heard(answer)
        except TimeoutError as error:
            raise WorkerLost("it fell silent or passed its deadline") from error
        except (EOFError, ConnectionError) as error:
            raise WorkerLost("its process ended") from error

    async def abort(self, limit_s: float) -> bool:
        """Ask it to give up the task under way; whether it is ready for another within `limit_s`."""
        return await _undisturbed(asyncio.ensure_future(self._abort(limit_s)))

    async def _abort(self, limit_s: float) -> bool:
        try:
            async with asyncio.timeout(limit_s):
                self._writer.write(messages.pack({"do": "abort"}))
                while "note" in await self._reader.read():
                    pass
        except (TimeoutError, EOFError, ConnectionError):
            return False
        return True

    async def last_words(self) -> str:
        """Kill the worker; returns the end of what it said on stderr, for an error's message."""
        return f"it said: {(await self.kill())[-STDERR_CHARS:].strip() or 'nothing'}"

    async def close(self) -> None:
        """Close the channel, at which the worker ends by itself; kill it where it does not."""
        self._writer.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> str:
        """End the worker and its group now, if it has not ended; returns the last it said on stderr.

        Its warm process, in a separate session, ends with the programs when the worker's socket closes.
        A cancellation waits until this is done, which takes milliseconds.
        """
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        return await _undisturbed(self._ending)

    async def _end(self) -> str:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()
        try:
            async with asyncio.timeout(KILL_S):
                await self._process.wait()
        except TimeoutError:
            self._pipe.close()
            return f"nothing; process {self.pid} did not die within {KILL_S:g} s of being killed"
        with suppress(TimeoutError):    # the warm process holds the pipe until it has cleaned up
            async with asyncio.timeout(KILL_S):
                await asyncio.shield(self._tail.closed)
        self._pipe.close()
        return self._tail.data.decode(errors="replace")
