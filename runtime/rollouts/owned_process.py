"""A process of the controller's own, with a channel to it: start it, keep the end of its output, end it for sure."""

import asyncio
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Final, Self, TypeVar

from ...core.process_tree import end_descendants
from . import worker_messages as messages

STDERR_TAIL_BYTES: Final = 4096
STDERR_CHARS: Final = 1500  # of which an error shows this much
ENDS_ITSELF: Final = "zygote.main()"   # in the command of the warm process, which ends all programs after its worker
CLOSE_S: Final = 1.0        # for a process to end by itself
KILL_S: Final = 5.0         # for the kernel to end a killed one

T = TypeVar("T")


async def wait_undisturbed(task: asyncio.Future[T]) -> T:
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


class OwnedProcess:
    """One live process. Made by `spawn`; ended by `close` or `kill`, both of which always finish."""

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
        """The process id, and that of its session."""
        return self._process.pid

    @classmethod
    async def spawn(cls, command: Sequence[str], environment: Mapping[str, str]) -> Self:
        """The command, with the number of its channel's descriptor, in a separate session.

        Nothing is left of them where this fails or is cancelled. Raises OSError.
        """
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
                env=environment, pass_fds=(theirs.fileno(),), start_new_session=True,
            )
            undo.pop_all()
        return cls(process, reader, writer, tail, pipe)

    async def last_words(self) -> str:
        """Kill the process; returns the end of what it said on stderr, for an error's message."""
        return f"it said: {(await self.kill())[-STDERR_CHARS:].strip() or 'nothing'}"

    def ending(self) -> str:
        """How it ended, once it was waited for: " by SIGSEGV", " with code 3"; "" where that is not known."""
        code = self._process.returncode
        if code is None or code == 0:
            return ""
        if code > 0:
            return f" with code {code}"
        try:
            return f" by {signal.Signals(-code).name}"
        except ValueError:
            return f" by signal {-code}"

    async def close(self) -> None:
        """Close the channel, at which the process ends by itself; kill it where it does not."""
        self._writer.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await self._process.wait()
        finally:
            await self.kill()

    async def kill(self) -> str:
        """End the process and its group now, if it has not ended; returns the last it said on stderr.

        A worker's warm process, in a separate session, ends with the programs when the worker's socket closes.
        A cancellation waits until this is done, which takes milliseconds.
        """
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end())
        return await wait_undisturbed(self._ending)

    async def _end(self) -> str:
        if self._process.returncode is None:
            end_descendants(self._process.pid, spared=ENDS_ITSELF)
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
