"""Probes on record, inside a worker: cut and changed rollouts, an idle and a random episode, the domain's episodes.

No generated program takes part in them. The rollouts of p_0 with disturbed actions, `Disturbed`, are like any other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.faults import Fault, FaultKind
from ...core.ports import (
    Action,
    Choosing,
    Domain,
    Environment,
    InvalidAction,
    KnowingOrder,
    KnownEpisode,
    Observation,
    SimulatorFailed,
    invariances_of,
)
from ...core.probes import CUT, IDLE, RANDOM, Disturbance
from ...core.recording_file import load_recording, save_recording, trajectory_key, trajectory_path
from ...core.seeds import derive_seed
from ...core.values import JSON, Episode, Probe
from .program_process import ProgramFailed
from .simulating import simulating

STOPPED: Final = "end of the probe"  # ended_by of an idle or random episode that could have gone on


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRecorder:
    """Makes the probes of a run from its domain, an environment with its options, and the folder of trajectories.

    `environment` makes it, or gives the one that is there. A simulator that fails in a probe loses this probe alone,
    since it is one that no policy reached. `rest` is called between steps: it reports to the controller and raises
    where the task was withdrawn.
    """

    domain: Domain
    options: Mapping[str, JSON]
    environment: Callable[[], Environment]
    folder: Path
    rest: Callable[[], None]

    def record(self, request: Mapping[str, Any]) -> list[Probe]:
        """All probes of the request (the fields of a ProbeTask), each on disk. Raises StoreError.

        With `cuts_only` no simulator takes part.
        """
        seed = int(request["seed"])
        probes: list[Probe] = []
        steps = None if request.get("cuts_only") else int(request["steps"])
        made_all = (("", made) for made in self._all(request["cuts"], seed=seed, steps=steps))
        for source, made in chain(made_all, self._variants(request["sources"], seed=seed)):
            self.rest()
            key = trajectory_key(f"{request['order']}/{len(probes)}")
            save_recording(trajectory_path(self.folder, key), made.recording)
            episode = Episode(
                index=0, seed=seed, steps=made.recording.steps, ended_by=made.ended_by,
                success=made.success, trajectory=key,
            )
            probes.append(Probe(name=made.name, episode=episode, below=made.below, source=source))
        return probes

    def _all(self, cuts: list[Mapping[str, Any]], *, seed: int, steps: int | None) -> Iterator[KnownEpisode]:
        for cut in cuts:
            yield KnownEpisode(
                name=cut["name"], recording=load_recording(trajectory_path(self.folder, cut["key"])).cut(cut["steps"]),
                ended_by=CUT, success=False, below=tuple(cut["below"]),
            )
        if steps is None:
            return
        domain = self.domain
        known = list(domain.known_episodes(self.options, seed=seed)) if isinstance(domain, KnowingOrder) else []
        if not any(each.name == IDLE for each in known):
            yield from self._episodes_of(IDLE, None, seed=seed, steps=steps)
        yield from self._episodes_of(RANDOM, np.random.default_rng(derive_seed(seed, RANDOM)), seed=seed, steps=steps)
        yield from known

    def _variants(self, sources: list[Mapping[str, Any]], *, seed: int) -> Iterator[tuple[str, KnownEpisode]]:
        """Recordings with changes that mean nothing, each with the name of the rollout that it repeats."""
        changes = invariances_of(self.domain, self.options) if sources else {}
        for source in sources:
            recording = load_recording(trajectory_path(self.folder, source["key"]))
            for name, change in changes.items():
                title = f"{source['name']}, {name}"
                yield source["name"], KnownEpisode(
                    name=title, recording=change(recording, np.random.default_rng(derive_seed(seed, title))),
                    ended_by=source["ended_by"], success=source["success"],
                )

    def _episodes_of(
        self, name: str, rng: np.random.Generator | None, *, seed: int, steps: int
    ) -> Iterator[KnownEpisode]:
        """An episode of neutral actions, or of random ones; none where the domain cannot choose its actions."""
        try:
            with simulating():
                made = self._episode(rng, seed=seed, steps=steps)
        except (InvalidAction, SimulatorFailed):
            return
        if made is not None:
            yield replace(made, name=name)

    def _episode(self, rng: np.random.Generator | None, *, seed: int, steps: int) -> KnownEpisode | None:
        environment = self.environment()
        environment.reset(index=0, seed=seed)
        ended_by: str | None = None
        for _ in range(steps):
            environment.observe()
            action = neutral_action(environment) if rng is None else random_action(environment, rng)
            if action is None:
                return None
            ended_by = environment.step(action)
            self.rest()
            if ended_by is not None:
                break
        return KnownEpisode(
            name="", recording=environment.recording(), ended_by=ended_by or STOPPED, success=environment.success()
        )


def neutral_action(environment: Environment) -> Action | None:
    """An action that does nothing; None where the environment cannot choose one."""
    if isinstance(environment, Choosing):
        return environment.idle_action()
    return None if environment.action_size is None else np.zeros(environment.action_size)


def random_action(environment: Environment, rng: np.random.Generator) -> Action | None:
    """A random action; None where the environment cannot choose one."""
    if isinstance(environment, Choosing):
        return environment.random_action(rng)
    return None if environment.action_size is None else rng.uniform(-1.0, 1.0, environment.action_size)


class Disturbed:
    """A policy some of whose actions are replaced, for a ladder."""

    def __init__(
        self, act: Callable[[Observation | bytes], Action], environment: Environment, disturbance: Disturbance, *,
        seed: int,
    ) -> None:
        self._act, self._environment, self._how = act, environment, disturbance
        # One number a step decides, whatever the share: what is disturbed at a smaller share is so at a greater one.
        self._drawn = np.random.default_rng(derive_seed(seed, "disturbed steps"))
        self._rng = np.random.default_rng(derive_seed(seed, "disturbing actions"))
        self._steps = 0
        self._last: Action | None = None

    def act(self, observation: Observation | bytes) -> Action:
        """The policy's action for an observation, or the one in its place. Raises ProgramFailed, SimulatorFailed."""
        step, how = self._steps, self._how
        self._steps += 1
        if how.kind == "late" and step < how.steps:
            return _action_or_idle(neutral_action(self._environment))
        action = self._act(observation)
        if self._drawn.random() * 100 < how.share:
            if how.kind == "random":
                with simulating():
                    action = _action_or_idle(random_action(self._environment, self._rng))
            elif self._last is not None:
                action = self._last
        self._last = action
        return action


def _action_or_idle(action: Action | None) -> Action:
    if action is None:
        message = "this environment names no idle and no random action"
        raise ProgramFailed(Fault(kind=FaultKind.INVALID_ACTION, message=message))
    return action
