"""How a domain draws its recorded episodes."""

from collections.abc import Mapping
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..recording import Recording
from ..values import JSON

Picture: TypeAlias = NDArray[np.uint8]
"""Rows from the top, of pixels from the left: (height, width, 3) of red, green, blue."""


class Playback(Protocol):
    """One recorded episode, ready to be drawn.

    **Order of calls.** Rows may be asked for in any order and again; what a row's picture and caption show depends
    on the recording, the camera and the size alone. After `close` nothing is called.

    **Determinism.** A row asked for again has the same caption and the same picture, but for what was not recorded,
    such as the elbow of an arm that was recorded by its hand alone.

    **Threads.** One thread makes, uses and closes a playback: graphics contexts belong to a thread.

    **Ownership.** Pictures are the caller's; the recording is not changed.
    """

    step_s: float | None  # what a step lasts in the task's own time; None where steps have no duration

    def picture(self, row: int) -> Picture:
        """The state of this row of the recording, 0 to T, in the size that was asked for."""

    def caption(self, row: int) -> tuple[str, ...]:
        """What there is to say of this row: one or two short lines. The caller adds step and time."""

    def close(self) -> None:
        """Let go of the graphics."""


class Renderer(Protocol):
    """Draws recorded episodes of a domain under some options. A graphics library is imported by `playback` at first."""

    @property
    def cameras(self) -> tuple[str, ...]:
        """From where it can draw, one name or more; the first is used where none is named."""

    def require(self) -> None:
        """Raises UsageError that says what to install or change where nothing can draw here.

        Asked before anything is rolled out. Where it returns, `playback` works for a recording of these options.
        """

    def playback(self, recording: Recording, *, camera: str, width: int, height: int) -> Playback:
        """Make ready to draw `recording` from one of `cameras`, in pixels.

        Raises UsageError where it cannot be drawn: an unknown camera, with the nearest one, or a recording that
        lacks what is drawn or was made elsewhere.
        """


@runtime_checkable
class Drawable(Protocol):
    """What a domain offers on top of `Domain` where its episodes can be drawn."""

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer for episodes under these (completed) options.

        Made in any process, without graphics; a renderer that plays an episode again may import its simulator.
        """
