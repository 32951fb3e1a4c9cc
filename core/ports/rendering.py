"""The port of a domain that draws its recorded episodes."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..recording import Recording
from ..values import JSON

Picture: TypeAlias = NDArray[np.uint8]
"""Pixels in rows from the top, each from the left: shape (height, width, 3), red, green, blue."""


class Playback(Protocol):
    """One recorded episode, ready to be drawn.

    **Order of calls.** Rows may be requested in any order and repeatedly; a row's picture and caption depend on the
    recording, the camera and the size alone. After `close` no method is called.

    **Determinism.** A repeated request for a row gives the same caption and the same picture, except for details
    that were not recorded, such as the elbow of an arm whose recording holds the hand only.

    **Threads.** One thread makes, uses and closes a playback: graphics contexts belong to a thread.

    **Ownership.** Pictures belong to the caller; the recording is not changed.
    """

    step_s: float | None  # the duration of a step in task time (seconds); None if steps have no duration

    def picture(self, row: int) -> Picture:
        """The state of this row of the recording, 0 to T, in the requested size."""

    def caption(self, row: int) -> tuple[str, ...]:
        """A caption for this row: one or two short lines. The caller adds step and time."""

    def close(self) -> None:
        """Release the graphics."""


class Renderer(Protocol):
    """Draws recorded episodes of a domain under given options. Only `playback` imports a graphics library."""

    @property
    def cameras(self) -> tuple[str, ...]:
        """The names of its cameras, at least one; the first is the default."""

    def require(self) -> None:
        """Raises UsageError with what to install or change if drawing is not possible on this machine.

        Called before any rollout. If it returns, `playback` works for a recording of these options.
        """

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """Prepare to draw `recording` from one of `cameras`, with `width` and `height` in pixels.

        The recording may lack the array `success` and `ended_by` in its info: pictures for language models are drawn
        without them, and then say nothing about success.

        Raises UsageError if it cannot be drawn: for an unknown camera, with the nearest one, and for a recording
        that lacks the required arrays or whose scene differs on this machine.
        """


@runtime_checkable
class Drawable(Protocol):
    """An optional port of a domain whose episodes can be drawn."""

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer for episodes under these (completed) options.

        May be called in any process, without graphics; a renderer that replays an episode may import its simulator.
        """
