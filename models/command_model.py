"""`command:PROGRAM`: a program on this machine that reads a prompt on stdin and writes the answer to stdout.

It may be a coding agent in its headless mode, a script, or a person at an editor. It runs with the rights and the
environment of the person who started MEMENTO, in the present folder, and is not isolated.
"""

import asyncio
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from ..core.errors import ModelError, UsageError
from ..core.interpreters import module_command
from ..core.kept_process import NOT_STARTED, NOT_STARTED_WORDS
from ..core.ports import Ask, Reply
from ..core.process_tree import end_descendants
from ..core.text import duration, one_line
from ..core.values import Usage
from ..core.variables import secrets_in
from .call_limits import Elapsed, Gate
from .spec import ModelSpec

PROMPT_FILE: Final = "MEMENTO_PROMPT_FILE"      # the variable with the path of a file that holds the prompt
ROLE: Final = "MEMENTO_ROLE"                    # "proposer", "evaluator-writer", "judge" or "attacker"
ORDER: Final = "MEMENTO_ORDER"                  # what the answer is for, such as g1/hill/0
ATTEMPT: Final = "MEMENTO_ATTEMPT"              # 0, or 1, … where an answer could not be used
VARIABLES: Final = (PROMPT_FILE, ROLE, ORDER, ATTEMPT)

MOST_BYTES: Final = 4 * 1024 * 1024     # of an answer; replies of more than a million characters spend their slot
TAIL_BYTES: Final = 4096                # that are kept of what it says on stderr
TAIL_CHARS: Final = 300                 # of which a message shows this much
LINGER_S: Final = 1.0                   # after its end, for processes that it left behind to close its output
KILL_S: Final = 5.0                     # for the system to end a killed program
IN_VAIN: Final = 3                      # failures before any answer after which it is not asked again


class CommandModel:
    """A Model that starts the program once for every question. What the program itself asks or spends is unknown."""

    def __init__(
        self, spec: ModelSpec, *, gate: Gate, total_s: float, environ: Mapping[str, str],
        elapsed: Elapsed = time.monotonic,
    ) -> None:
        self.name = spec.name
        self._command = spec.command
        self._gate = gate
        self._total_s = total_s
        self._environ = environ
        self._secrets = secrets_in(environ)
        self._elapsed = elapsed
        self._answered = False
        self._failures = 0

    async def open(self) -> None:
        """Raise UsageError if there is no such program."""
        program = self._command[0]
        if shutil.which(program, path=self._environ.get("PATH")) is None:
            why = "is no program that can be run" if os.sep in program else "is on no folder of PATH"
            raise UsageError(f"{program!r} in {self.name!r} {why}: name a file with the right to execute it")

    async def complete(self, ask: Ask) -> Reply:
        """What the program wrote. Raises ModelError if it failed; fatally where it can never answer."""
        async with self._gate.slot():
            began_s = self._elapsed()
            output, problem = await self._run(ask)
        if problem:
            self._failures += 1
            lost = not self._answered and self._failures >= IN_VAIN
            count = f" ({self._failures} times, and it never answered)" if lost else ""
            raise ModelError(f"{self.name} {problem}{count}", fatal=lost, attempts=1)
        self._answered = True
        text = self._without_secrets(output.decode(errors="replace"))
        return Reply(text=text, model=self.name, usage=Usage(latency_s=self._elapsed() - began_s))

    async def _run(self, ask: Ask) -> tuple[bytes, str]:
        """Its output, and what went wrong; "" if nothing did."""
        if shutil.which(self._command[0], path=self._environ.get("PATH")) is None:
            return b"", "could not be started: there is no such program any more"
        # A program may do with its folder what it likes: an answer is not lost by that.
        with tempfile.TemporaryDirectory(prefix="memento-prompt-", ignore_cleanup_errors=True) as folder:
            file = Path(folder) / "prompt.md"
            file.write_text(ask.prompt, encoding="utf-8", errors="replace")
            environment = {
                **self._environ, PROMPT_FILE: str(file), ROLE: ask.role, ORDER: ask.order.id, ATTEMPT: str(ask.attempt)
            }
            # The keeper ends what the program leaves behind, also what left its session. It is started in a separate
            # task: a start that is cancelled halfway never ends in asyncio's subprocesses.
            start = asyncio.ensure_future(asyncio.get_running_loop().subprocess_exec(
                _Talk, *module_command("memento.core.kept_process"), *self._command, env=environment,
                start_new_session=True
            ))
            try:
                transport, talk = await asyncio.shield(start)
            except OSError as error:
                return b"", f"could not be started: {error.strerror}"
            except asyncio.CancelledError:
                with suppress(OSError):
                    await _end(*await start)
                raise
            try:
                return await self._talk(transport, talk, ask.prompt)
            finally:
                await _end(transport, talk)

    async def _talk(
        self, transport: asyncio.SubprocessTransport, talk: "_Talk", prompt: str
    ) -> tuple[bytes, str]:
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        stdin.write(prompt.encode("utf-8", "replace"))
        stdin.write_eof()       # after what was written; a program that does not read it is no error
        over: set[asyncio.Future[None]] = {talk.exited, talk.too_long}
        await asyncio.wait(over, timeout=self._total_s, return_when=asyncio.FIRST_COMPLETED)
        if talk.exited.done():
            await asyncio.wait({talk.closed}, timeout=LINGER_S)
        if talk.too_long.done():
            return b"", f"wrote more than {MOST_BYTES // 1024**2} MiB"
        said, wrote = (
            one_line(self._without_secrets(end.decode(errors="replace")).strip()[-TAIL_CHARS:], TAIL_CHARS)
            for end in (talk.errors, bytes(talk.output[-TAIL_BYTES:]))
        )
        words = f"; it said: {said}" if said else f"; it wrote: {wrote}" if wrote else "; it said nothing"
        if not talk.exited.done():
            return b"", f"did not answer within {duration(self._total_s)}{words}"
        code = transport.get_returncode()
        if code == NOT_STARTED and talk.errors.startswith(NOT_STARTED_WORDS.encode()):
            return b"", f"could not be started: {said.removeprefix(NOT_STARTED_WORDS)}"
        return bytes(talk.output), "" if code == 0 else f"{_ending(code)}{words}"

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text


class _Talk(asyncio.SubprocessProtocol):
    """What a program writes: its whole output, up to a bound, and the end of what it says on stderr."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.output = bytearray()
        self.errors = b""
        self.exited: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()        # nothing more can come
        self.too_long: asyncio.Future[None] = loop.create_future()
        self._open = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.errors = (self.errors + data)[-TAIL_BYTES:]
        elif len(self.output) + len(data) <= MOST_BYTES:
            self.output += data
        elif not self.too_long.done():
            self.too_long.set_result(None)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        if not self._open and not self.closed.done():
            self.closed.set_result(None)

    def process_exited(self) -> None:
        if not self.exited.done():
            self.exited.set_result(None)


async def _end(transport: asyncio.SubprocessTransport, talk: _Talk) -> None:
    """End the program, its group and its descendants, whatever it does; afterwards no pipe is open."""
    pid = transport.get_pid()
    try:
        if not talk.exited.done():
            end_descendants(pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        await asyncio.wait({talk.exited}, timeout=KILL_S)
    finally:
        transport.close()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
        return f"was ended by signal {-code}"
    return f"ended with code {code}"
