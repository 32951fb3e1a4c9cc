"""AI2-THOR's client with a watchdog: every call ends in time, with metadata or a RolloutError.

The client itself waits forever for a player that dies before it opens its pipe, and spins until its time limit
after one that dies later. So a timer watches every call: it ends a call whose time is up or whose player has
died, wherever the call is in the client.
"""

import os
import shlex
import signal
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

from ....core.errors import RolloutError
from ..embedded.sight import FIELD_OF_VIEW_DEG, HEIGHT, VISIBILITY_M, WIDTH
from ..scene import GRID_M

Metadata = Mapping[str, Any]

TICK_S: Final = 0.1
TICKS_OF_GRACE: Final = 3       # to read what a player wrote before it died
END_S: Final = 5.0              # for the kernel to end a killed player
NO_DISPLAY: Final = ":0"        # the client requires one; a headless build ignores it


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """Time limits of the player, in seconds."""

    start_s: float = 300.0      # to start, with its first scene
    reset_s: float = 100.0      # to load a scene
    step_s: float = 60.0        # an action


class _Cut(BaseException):
    """Ends a call from the timer; not an Exception, because the client catches those as its own."""


class Client:
    """Starts a Unity build or another player and talks to it. Usable in a process's main thread only."""

    def __init__(self, program: Path, scene: str, *, deadlines: Deadlines, wsgi: bool = False) -> None:
        """Start `program` with a scene. Raises RolloutError."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")     # the client's source has invalid escapes
            from ai2thor.controller import Controller
            from ai2thor.wsgi_server import WsgiServer
        self._deadlines = deadlines
        self._name = program.name
        # __init__ starts the player, but the watchdog needs the object before that.
        self._controller: Any = Controller.__new__(Controller)
        self._controller.server = None
        with self._within_deadline(deadlines.start_s, "starting"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._controller.__init__(
                local_executable_path=shlex.quote(str(program)), x_display=os.environ.get("DISPLAY") or NO_DISPLAY,
                server_class=WsgiServer if wsgi else None, scene=scene, width=WIDTH, height=HEIGHT,
                server_timeout=None, server_start_timeout=deadlines.start_s, gridSize=GRID_M,
                visibilityDistance=VISIBILITY_M, fieldOfView=FIELD_OF_VIEW_DEG, snapToGrid=True,
                rotateStepDegrees=90, renderDepthImage=False, renderInstanceSegmentation=False,
            )

    @property
    def metadata(self) -> Metadata:
        """The metadata of the last event."""
        metadata: Metadata = self._controller.last_event.metadata
        return metadata

    @property
    def pid(self) -> int:
        """The player's process id."""
        process = self._process()
        assert process is not None
        return process.pid

    def reset(self, scene: str) -> Metadata:
        """Load a scene. Raises RolloutError."""
        with self._within_deadline(self._deadlines.reset_s, f"loading {scene}"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._controller.reset(scene)
        return self.metadata

    def step(self, action: str, **arguments: object) -> Metadata:
        """Do one action, without an image; whether it worked is in the metadata. Raises RolloutError."""
        before = self._controller.last_event
        with self._within_deadline(self._deadlines.step_s, action):
            try:
                self._controller.step(action=action, renderImage=False, **arguments)
            except ValueError:      # the client rejects the event as misuse; with malformed data there is no event
                if self._controller.last_event is before:
                    raise
        return self.metadata

    def close(self) -> None:
        """End the player."""
        server = self._controller.server
        process = self._process()
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_S)
        for name in ("client_pipe", "server_pipe"):
            pipe = getattr(server, name, None)
            if pipe is not None:
                with suppress(OSError):     # unflushed data of a dead player
                    pipe.close()
        folder = getattr(server, "tmp_dir", None)
        if folder is not None:
            folder.cleanup()

    def _process(self) -> "subprocess.Popen[bytes] | None":
        return getattr(self._controller.server, "unity_proc", None)

    @contextmanager
    def _within_deadline(self, limit_s: float, what: str) -> Iterator[None]:
        """Any error within this context ends the player and raises RolloutError."""
        try:
            with _timer(limit_s, self._process):
                yield
        except _Cut as cut:
            self.close()
            raise RolloutError(f"the AI2-THOR player {self._name} {cut} ({what})") from None
        except Exception as error:
            self.close()
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise RolloutError(f"the AI2-THOR player {self._name} failed ({what}): {reason}") from error
        except BaseException:
            self.close()
            raise


@contextmanager
def _timer(limit_s: float, process: Any) -> Iterator[None]:
    """Raise _Cut in the main thread when the time is up, or some ticks after the player died."""
    if threading.current_thread() is not threading.main_thread():
        raise RolloutError("AI2-THOR can be played in a process's main thread only")
    end = time.monotonic() + limit_s
    live, ticks_dead = True, 0

    def tick(_: int, __: FrameType | None) -> None:
        nonlocal ticks_dead
        player = process()
        if player is not None and player.poll() is not None:
            ticks_dead += 1
        if live and ticks_dead > TICKS_OF_GRACE:
            raise _Cut(f"ended with code {player.returncode}")
        if live and time.monotonic() > end:
            raise _Cut(f"did not answer within {limit_s:g} s")

    handler = signal.signal(signal.SIGALRM, tick)
    since = time.monotonic()
    left_s, interval_s = signal.setitimer(signal.ITIMER_REAL, TICK_S, TICK_S)
    try:
        yield
    finally:
        live = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)
        if left_s > 0.0:    # resume a timer that was set before
            signal.setitimer(signal.ITIMER_REAL, max(left_s - (time.monotonic() - since), 1e-3), interval_s)
