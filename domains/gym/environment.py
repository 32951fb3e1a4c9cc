"""A Gymnasium environment behind MEMENTO's port, and the rules by which known environments end an episode early."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.errors import UsageError
from ...core.ports import Action, InvalidAction, Observation, SimulatorFailed
from ...core.recording import Recording
from ...core.text import error_words
from ...core.values import JSON
from .actions import ActionReader, vector_of
from .brief import element_names
from .endings import broken_rule
from .loading import Simulator, environment_seed
from .masks import choices_of
from .names import parse_id
from .options import BY_RETURN, NONE, Settings
from .spaces import TEXT, flat_vector, has_text, value_at
from .success import reports_success
from .trace import Trace


def simulator_of(settings: Settings, *, render: bool = False) -> Simulator:
    """The simulator that an environment of these settings steps."""
    known = settings.description
    return Simulator(
        parse_id(known.id), known.kwargs, max_episode_steps=known.horizon, mode=known.mode, render=render,
        mask=known.mask, choices=choices_of(known.action) if known.mask else (), perturb=settings.perturb,
        reset=known.reset, at_reset=[str(leaf.path[1]) for leaf in known.observation if leaf.at_reset],
    )


class GymEnvironment:
    """Implements `core.ports.Environment`.

    Observations are vectors, unless the observation space holds a text: then they are JSON, and actions are lists.
    """

    def __init__(self, settings: Settings) -> None:
        known = settings.description
        self._settings, self._known = settings, known
        self._fields = known.observation
        self._json = has_text(known.observation)
        self._reader = ActionReader(known.action)
        self.observation_layout = None if self._json else tuple((leaf.name, leaf.shape) for leaf in known.observation)
        self.action_size = None if self._json else self._reader.size
        self._trace = Trace(settings, self._reader)
        self._simulator = simulator_of(settings)

    @cached_property
    def element_names(self) -> Mapping[str, Sequence[str]]:
        """What the documentation calls the numbers of the fields: see `core.ports.Naming`."""
        return element_names(self._settings)

    def reset(self, *, index: int, seed: int) -> None:
        """Begin an episode. Gymnasium's `reset` gets the episode's seed, if it has at most 31 bits."""
        observation, _ = self._simulator.begin(seed)
        self._total, self._steps, self._succeeded, self._rule = 0.0, 0, False, ""
        self._see(observation)
        self._trace.begin(self._flat, self._texts, seed=environment_seed(seed), drawn=self._simulator.drawn)

    def _see(self, observation: Any) -> None:
        self._flat = flat_vector(observation, self._fields)
        if self._json:
            self._texts = {
                leaf.name: str(value_at(observation, leaf.path)) for leaf in self._fields if leaf.kind == TEXT
            }
        else:
            self._texts = {}

    def observe(self) -> Observation:
        """The present observation: a vector, or for JSON a dict with one value per field."""
        if not self._json:
            return self._flat.copy()
        found: dict[str, JSON] = dict(self._texts)
        start = 0
        for leaf in self._fields:
            if leaf.kind != TEXT:
                flat = self._flat[start : start + leaf.size]
                part = np.nan_to_num(flat)
                plain = (part.astype(np.int64) if leaf.whole else part).astype(object)
                plain[np.isnan(flat)] = None        # JSON has no NaN
                found[leaf.name] = plain.reshape(leaf.shape).tolist()
                start += leaf.size
        return found

    def step(self, action: Action) -> str | None:
        """Do one step. Returns "horizon", "success", "terminated", "truncated" or "diverged" at the end.

        Numbers of a Box are clipped to its bounds. Raises InvalidAction where an integer is demanded, and where the
        environment raises for a choice that its mask does not allow, or diverges, unless the options let the episode
        end then; SimulatorFailed where it raises otherwise.
        """
        vector = action if isinstance(action, np.ndarray) else vector_of(action, self._reader.size)
        accepted = self._reader.accepted_vector(vector)
        mask = self._simulator.mask
        try:
            observation, reward, terminated, truncated, info = self._simulator.step(self._reader.native(accepted))
            self._see(observation)
        except UsageError as error:
            raise SimulatorFailed(str(error)) from error
        except (Exception, SystemExit) as error:    # the environment is the user's, and so is whatever it raises
            refused = "" if mask is None else self._reader.refusal(accepted, mask)
            if refused:
                raise InvalidAction(f"{refused}; the environment raised {error_words(error)}") from error
            raise SimulatorFailed(error_words(error)) from error
        unread = not self._settings.nan_is_reading and np.isnan(self._flat).any()
        diverged = bool(unread or not np.isfinite(reward))
        if diverged and self._settings.divergence_is_fault:     # else it would be a way to stop losing
            raise InvalidAction("the environment diverged: after this action its reward or observation is no number")
        reward = 0.0 if diverged else reward
        self._total += reward
        self._steps += 1
        self._note_success(info)
        self._trace.add(
            self._flat, self._texts, accepted, reward, terminated=terminated, truncated=truncated, info=info,
            success=self._succeeded,
        )
        if diverged:
            return "diverged"
        if terminated:
            told = self._settings.shows_success or self._settings.success == BY_RETURN
            if (told or self._settings.ranks_success) and self.success():
                return "success"
            self._rule = broken_rule(self._simulator.env)
            return "terminated"
        if self._steps >= self._known.horizon:
            return "horizon"
        return "truncated" if truncated else None

    def idle_action(self) -> Action:
        """0, or the allowed value next to it, of what is allowed now."""
        return self._reader.idle(self._simulator.mask)

    def random_action(self, rng: np.random.Generator) -> Action:
        """A uniform draw within the bounds, of what is allowed now."""
        return self._reader.random_vector(rng, self._simulator.mask)

    def _note_success(self, info: Mapping[str, Any]) -> None:
        key = self._settings.success
        if key in (BY_RETURN, NONE):
            return
        now = reports_success(info, key)
        self._succeeded = now or (self._succeeded and self._settings.success_at == "any")

    def success(self) -> bool:
        """Whether `info` reported success, at any step or at the last one, or the return reached the threshold."""
        threshold = self._settings.threshold
        if self._settings.success == BY_RETURN and threshold is not None:
            return self._steps > 0 and self._total >= threshold
        return self._succeeded

    def recording(self) -> Recording:
        """The trajectory so far; `info` has "broken_rule" where the rule that ended it is known."""
        recorded = self._trace.recording(total=self._total)
        return replace(recorded, info={**recorded.info, "broken_rule": self._rule}) if self._rule else recorded

    def close(self) -> None:
        """Release the environment."""
        self._simulator.close()
