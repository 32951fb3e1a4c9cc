"""The controller's hold on one worker process: start it, give it a task, read its answer, end it for sure."""

import asyncio
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from ...core.errors import RolloutError
from ...core.interpreters import module_command
from . import worker_messages as messages
from .limits import Limits
from .owned_process import OwnedProcess, undisturbed

# The same arithmetic on every processor, as far as an environment variable can choose it.


_NEEDED: Final = frozenset({"avx2", "fma"})     # by OpenBLAS's kernels for Haswell, which newer processors run too


@cache
def common_kernels() -> Mapping[str, str]:
    """Variables that make every OpenBLAS of a process use the same kernels; none on processors without them.

    numpy and scipy each bring an OpenBLAS, and the newer one has kernels for newer processors, whose last bits differ.
    robosuite calls numpy's, the compiled physics scipy's. To be set before either is loaded.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    return {"OPENBLAS_CORETYPE": "Haswell"} if {*flags} >= _NEEDED else {}


MODULE: Final = "memento.runtime.rollouts.worker"

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


ENDED: Final = "its process ended"


class WorkerLost(Exception):
    """The worker died, fell silent or passed its deadline: ours, not the candidate's."""


def worker_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment block of a worker: what simulators need of `given`, and no key or secret."""
    passed = {name: value for name, value in given.items()
              if name in _PASSED and not any(word in name.upper() for word in _SECRET_WORDS)}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**passed, **threads, **common_kernels(), "PYTHONHASHSEED": "0"}


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
                raise RolloutError(f"a worker could not be started: {answer['problem']}")
        except WorkerLost as error:
            raise await worker.lost(error) from error
        except BaseException:
            await worker.kill()
            raise
        return worker

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
            raise WorkerLost(ENDED) from error

    async def lost(self, error: WorkerLost) -> WorkerLost:
        """Kill the worker. The error with how it ended, if it did so by itself, and the last that it said."""
        said = await self.last_words()
        return WorkerLost(f"{error}{self.ending() if str(error) == ENDED else ''}; {said}")

    async def abort(self, limit_s: float) -> bool:
        """Ask it to give up the task under way; whether it is ready for another within `limit_s`."""
        return await undisturbed(asyncio.ensure_future(self._abort(limit_s)))

    async def _abort(self, limit_s: float) -> bool:
        try:
            async with asyncio.timeout(limit_s):
                self._writer.write(messages.pack({"do": "abort"}))
                while "note" in await self._reader.read():
                    pass
        except (TimeoutError, EOFError, ConnectionError):
            return False
        return True
