"""Plays an episode and computes a hash of it; run as a program, it does so in a separate process."""

import copy
import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from memento.core.ports import Action, Environment, Observation
from memento.core.provenance import GIVEN
from memento.core.recording import Recording
from memento.core.values import JSON
from memento.domains import load


@dataclass(kw_only=True)
class Played:
    """Everything that an environment returned in one episode."""

    observations: list[Observation] = field(default_factory=list)
    ended: str | None = None
    success: bool = False
    recording: Recording

    def digest(self) -> str:
        """A hash of the episode, exact to the bit."""
        whole = hashlib.sha256()
        for observation in self.observations:
            if isinstance(observation, np.ndarray):
                whole.update(observation.tobytes())
            else:
                whole.update(json.dumps(observation, allow_nan=False).encode())
        whole.update(f"{self.ended} {bool(self.success)} {json.dumps(self.recording.info, sort_keys=True)}".encode())
        for name, array in sorted(self.recording.arrays().items()):
            whole.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
        return whole.hexdigest()


def play(environment: Environment, actions: Sequence[Action], *, index: int = 0, seed: int) -> Played:
    """Play one episode with these actions, or fewer if it ends earlier."""
    environment.reset(index=index, seed=seed)
    observations, ended = [], None
    for action in actions:
        observations.append(copy.deepcopy(environment.observe()))
        ended = environment.step(action)
        if ended is not None:
            break
    return Played(
        observations=observations, ended=ended, success=environment.success(), recording=environment.recording(),
    )


def digest_elsewhere(
    domain: str, options: Mapping[str, JSON], actions: Sequence[Action], *, index: int = 0, seed: int,
) -> str:
    """The digest of this episode, played in a fresh process."""
    episode = json.dumps({
        "domain": domain, "options": dict(options), "index": index, "seed": seed,
        "actions": [action.tolist() if isinstance(action, np.ndarray) else action for action in actions],
    })
    command = [sys.executable, "-c", "from memento.tests.conformance.playing import main; main()"]
    done = subprocess.run(command, input=episode, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def main() -> None:
    """Play the episode described on standard input and print its digest."""
    request = json.load(sys.stdin)
    environment = load(request["domain"], GIVEN).environment(request["options"])
    vectors = environment.observation_layout is not None
    actions = [np.array(action) if vectors else action for action in request["actions"]]
    print(play(environment, actions, index=request["index"], seed=request["seed"]).digest())  # noqa: T201 - its output
    environment.close()
