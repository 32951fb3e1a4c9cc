"""The controller's hold on one worker process: start it, give it a task, read its answer, end it for sure."""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from ...core.errors import RolloutError
from ...core.interpreters import module_command
from ...core.variables import common_kernels, hint, passed_variables
from . import worker_messages as messages
from .limits import Limits
from .owned_process import OwnedProcess, wait_undisturbed

MODULE: Final = "memento.runtime.rollouts.worker"

ENDED: Final = "its process ended"


class WorkerLost(Exception):
    """The worker died, fell silent or passed its deadline: ours, not the candidate's."""


def worker_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment block of a worker: what simulators need of `given`, and no key or secret."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**passed_variables(given), **threads, **common_kernels(), "PYTHONHASHSEED": "0"}


class WorkerHandle(OwnedProcess):
    """One live worker. Made by `start`; ended by `close` or `kill`, both of which always finish."""

    @classmethod
    async def start(
        cls, message: Mapping[str, Any], limits: Limits, *, python: str | None = None
    ) -> "WorkerHandle":
        """Start a worker under this interpreter and wait until it is ready. Raises WorkerLost with what it said.

        Raises RolloutError where the domain cannot be loaded, so that another worker would fail, too.
        """
        try:
            worker = await cls.spawn(module_command(MODULE, python=python), worker_environment(os.environ))
        except OSError as error:
            raise WorkerLost(f"its process could not be made: {error}") from error
        try:
            answer = await worker.call({**message, "controller": os.getpid()}, b"", lambda _: limits.worker_start_s,
                                       wall_s=limits.worker_start_s)
            if "problem" in answer:
                said = str(answer["problem"])
                raise RolloutError(f"a worker could not be started: {said}{hint(said, os.environ)}")
        except WorkerLost as error:
            raise await worker.lost(error) from error
        except BaseException:
            await worker.kill()
            raise
        return worker

    async def call(self, message: Mapping[str, Any], blob: bytes, heard: Callable[[messages.Message], float],
                   *, wall_s: float) -> messages.Message:
        """Send one message and return its answer, passing notes on to `heard`; raw bytes are its "blob".

        `heard` returns how long the worker may stay silent from then on, in seconds. Raises WorkerLost.
        """
        try:
            async with asyncio.timeout(wall_s):
                self._writer.write(messages.pack(message, blob))
                await self._writer.drain()
                silence_s = heard({"note": "working", "steps": 0})
                while True:
                    async with asyncio.timeout(silence_s):
                        answer, blob = await self._reader.read_with_blob()
                    if "note" not in answer:
                        return {**answer, "blob": blob} if blob else answer
                    silence_s = heard(answer)
        except TimeoutError as error:
            raise WorkerLost("it fell silent or passed its deadline") from error
        except (EOFError, ConnectionError) as error:
            raise WorkerLost(ENDED) from error

    async def lost(self, error: WorkerLost) -> WorkerLost:
        """Kill the worker. The error with how it ended, if it did so by itself, and the last that it said."""
        said = await self.last_words()
        return WorkerLost(f"{error}{self.ending() if str(error) == ENDED else ''}; {said}")

    async def abort(self, limit_s: float) -> bool:
        """Ask it to give up the task under way; whether it is ready for another within `limit_s`."""
        return await wait_undisturbed(asyncio.ensure_future(self._abort(limit_s)))

    async def _abort(self, limit_s: float) -> bool:
        try:
            async with asyncio.timeout(limit_s):
                self._writer.write(messages.pack({"do": "abort"}))
                while "note" in await self._reader.read():
                    pass
        except (TimeoutError, EOFError, ConnectionError):
            return False
        return True
