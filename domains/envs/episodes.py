"""The common part of the Gymnasium environments: a domain's environment, its seeds, its pictures and its end."""

from collections.abc import Mapping
from typing import Any, Final, cast

import gymnasium
import numpy as np
from gymnasium import error

from ...core.errors import UsageError, no_such
from ...core.extras import explain
from ...core.ports import Drawable, Environment, Playback
from ...core.provenance import GIVEN
from ...core.recording import Recording
from ...core.values import JSON
from .. import load, require_installed

PRESETS: Final = ("smoke", "quick", "paper")
MOST_SEED: Final = 2**63 - 1
WIDTH, HEIGHT = 480, 360        # of a picture, in pixels
RESET_OPTIONS: Final = ("index",)


class DomainEnv(gymnasium.Env[dict[str, Any], Any]):
    """One environment of a domain. Subclasses turn observations and actions into Gymnasium's spaces.

    An episode is that of `memento evaluate` with the same seed: `reset(seed=s, options={"index": i})` begins episode
    i of a candidate with the seed s. The index matters in the kitchen alone, where it chooses the scene. Without a
    seed the next one is drawn from the generator of the last seed, and the index counts up. `info` of `reset` has
    both, as "seed" and "index".
    """

    metadata = {"render_modes": ["rgb_array"]}      # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self, domain: str, options: Mapping[str, JSON], *, preset: str, render_mode: str | None,
        camera: str | None, width: int, height: int,
    ) -> None:
        if preset not in PRESETS:
            raise no_such("preset", preset, PRESETS)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise no_such("render_mode", str(render_mode), self.metadata["render_modes"])
        self.render_mode = render_mode
        require_installed(domain)
        self._domain = load(domain, GIVEN)
        self.options = self._domain.options(options, preset=preset)
        self._view = camera, width, height
        self._renderer = None
        if render_mode is not None:
            assert isinstance(self._domain, Drawable)
            self._renderer = self._domain.renderer(self.options)
            self._renderer.require()    # before the simulator: it has to find the graphics first
        self._playback: Playback | None = None
        self._row: Recording | None = None
        self._closed = False
        self._index = -1
        self._under_way = False
        self.environment = self._made(domain)

    def _made(self, domain: str) -> Environment:
        """The domain's environment. Raises UsageError if a package for it is not installed."""
        try:
            return self._domain.environment(self.options)
        except ImportError as error:
            known = explain(error, f"the task {domain}")
            if known is None:
                raise
            raise known from None

    def recording(self) -> Recording:
        """The episode so far: T + 1 states and T actions, as in `core.recording`, for an evaluator or for drawing.

        Raises ResetNeeded before the first `reset`.
        """
        if self._index < 0:
            raise error.ResetNeeded("there is no episode yet: call reset() first")
        return self.environment.recording()

    def render(self) -> Any:
        """The current state as a picture: (height, width, 3) of uint8; None without `render_mode="rgb_array"`.

        Raises UsageError if it cannot be drawn.
        """
        if self._renderer is None:
            return None
        if self._playback is None:
            self._playback = self._new_playback(self.recording())
        return self._picture(self._playback)

    def close(self) -> None:
        """Release the simulator and the graphics. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._end_pictures()
            self.environment.close()

    # ------------------------------------------------------------------------------- for subclasses

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Begin an episode; returns the first part of its `info`."""
        index = self._index_of(seed, options or {})
        if seed is not None and not 0 <= seed <= MOST_SEED:
            raise UsageError(f"the seed of an episode is a whole number from 0 to {MOST_SEED}, not {seed}")
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(0, MOST_SEED, endpoint=True))
        self._end_pictures()
        self.environment.reset(index=index, seed=seed)
        self._index, self._under_way = index, True
        return {"seed": seed, "index": index}

    def _index_of(self, seed: int | None, options: Mapping[str, Any]) -> int:
        for key in options:
            if key not in RESET_OPTIONS:
                raise no_such("option of reset", str(key), RESET_OPTIONS)
        index = options.get("index", 0 if seed is not None else self._index + 1)
        if isinstance(index, bool) or not isinstance(index, (int, np.integer)) or index < 0:
            raise UsageError(f"the index of an episode is a whole number from 0, not {index!r}")
        return int(index)

    def _advance(self, action: Any) -> str | None:
        """Do one step; returns the word for the end of the episode, or None. Raises ResetNeeded after an end."""
        if not self._under_way:
            raise error.ResetNeeded("the episode is over: call reset() before the next step")
        ended = self.environment.step(action)
        self._under_way = ended is None
        return ended

    # ------------------------------------------------------------------------------------- pictures

    def _new_playback(self, recording: Recording) -> Playback:
        camera, width, height = self._view
        renderer = self._renderer
        assert renderer is not None
        return renderer.playback(recording, camera=camera or renderer.cameras[0], width=width, height=height)

    def _picture(self, playback: Playback) -> Any:
        return playback.picture(self.recording().steps)

    def _end_pictures(self) -> None:
        if self._playback is not None:
            self._playback.close()
            self._playback = None


def broken_rule(environment: Environment) -> str | None:
    """The rule of the task that ended the episode; None if none did."""
    return cast("str | None", environment.recording().info.get("broken_rule"))
