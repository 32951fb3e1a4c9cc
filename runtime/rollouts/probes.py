"""Probes on record, inside a worker: cut rollouts, an idle and a random episode, episodes that the domain offers.

No generated program takes part.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.ports import Action, Choosing, Domain, Environment, InvalidAction, KnowingOrder, KnownEpisode
from ...core.probes import CUT, IDLE, RANDOM
from ...core.recording_file import load_recording, save_recording, trajectory_key, trajectory_path
from ...core.seeds import derive_seed
from ...core.values import JSON, Episode, Probe

STOPPED: Final = "end of the probe"  # ended_by of an idle or random episode that could have gone on


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRecorder:
    """Makes the probes of a run from its domain, an environment with its options, and the folder of trajectories.

    `rest` is called between steps: it reports to the controller and raises where the task was withdrawn.
    """

    domain: Domain
    options: Mapping[str, JSON]
    environment: Environment
    folder: Path
    rest: Callable[[], None]

    def record(self, request: Mapping[str, Any]) -> list[Probe]:
        """All probes of the request (`order`, `seed`, `steps`, `cuts`), each on disk. Raises StoreError."""
        seed = int(request["seed"])
        probes: list[Probe] = []
        for made in self._all(request["cuts"], seed=seed, steps=int(request["steps"])):
            self.rest()
            key = trajectory_key(f"{request['order']}/{len(probes)}")
            save_recording(trajectory_path(self.folder, key), made.recording)
            episode = Episode(
                index=0, seed=seed, steps=made.recording.steps, ended_by=made.ended_by,
                success=made.success, trajectory=key,
            )
            probes.append(Probe(name=made.name, episode=episode, below=made.below))
        return probes

    def _all(self, cuts: list[Mapping[str, Any]], *, seed: int, steps: int) -> Iterator[KnownEpisode]:
        for cut in cuts:
            yield KnownEpisode(
                name=cut["name"], recording=load_recording(trajectory_path(self.folder, cut["key"])).cut(cut["steps"]),
                ended_by=CUT, success=False, below=tuple(cut["below"]),
            )
        domain = self.domain
        known = list(domain.known_episodes(self.options, seed=seed)) if isinstance(domain, KnowingOrder) else []
        if not any(each.name == IDLE for each in known):
            yield from self._played(IDLE, None, seed=seed, steps=steps)
        yield from self._played(RANDOM, np.random.default_rng(derive_seed(seed, RANDOM)), seed=seed, steps=steps)
        yield from known

    def _played(self, name: str, rng: np.random.Generator | None, *, seed: int, steps: int) -> Iterator[KnownEpisode]:
        """An episode of neutral actions, or of random ones; none where the domain cannot choose its actions."""
        environment = self.environment
        if environment.action_size is None and not isinstance(environment, Choosing):
            return
        environment.reset(index=0, seed=seed)
        ended_by: str | None = None
        for _ in range(steps):
            environment.observe()
            try:
                ended_by = environment.step(_action(environment, rng))
            except InvalidAction:
                return  # it takes other actions than these: no such probe
            self.rest()
            if ended_by is not None:
                break
        yield KnownEpisode(
            name=name, recording=environment.recording(), ended_by=ended_by or STOPPED, success=environment.success()
        )


def _action(environment: Environment, rng: np.random.Generator | None) -> Action:
    if isinstance(environment, Choosing):
        return environment.idle_action() if rng is None else environment.random_action(rng)
    assert environment.action_size is not None
    return np.zeros(environment.action_size) if rng is None else rng.uniform(-1.0, 1.0, environment.action_size)
