"""The kitchen task as an environment: JSON observations, named actions, 250 steps."""

import json
from collections.abc import Sequence

import numpy as np

from ...core.errors import nearest
from ...core.ports import Action, Observation
from ...core.recording import Recording
from ...core.seeds import derive_seed
from ...core.values import JSON
from .embedded.preconditions import NOT_HERE
from .observation import ACTIONS, DESCRIPTION, MOVES, TASK, encoded, target_fields
from .rules import categorise
from .simulator import Simulator, target_code
from .story import Trace


class KitchenEnvironment:
    """Implements `core.ports.Environment` on a back end.

    Episode e plays scene e mod n. The first n episodes begin at the scene's start, later ones at a
    reachable pose drawn from the seed.
    """

    observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = None    # observations are JSON
    action_size: int | None = None

    def __init__(
        self, scenes: Sequence[str], simulator: Simulator, *, horizon: int, reveal_unseen: bool,
        program_seed: int | None = None,
    ) -> None:
        self.simulator = simulator
        self.program_seed = program_seed
        self._scenes = tuple(scenes)
        self._horizon, self._reveal_unseen = horizon, reveal_unseen
        self._trace = Trace(max_steps=horizon)
        self._target_texts: dict[tuple[tuple[bool, ...], tuple[bool, ...]], bytes] = {}

    def reset(self, *, index: int, seed: int) -> None:
        """Begin episode `index`."""
        self._scene = self._scenes[index % len(self._scenes)]
        self.simulator.begin(self._scene, seed=None if index < len(self._scenes) else seed)
        self._steps = 0
        self._result: dict[str, JSON] = {
            "action": None, "object_id": None, "success": True, "error_category": None, "error_message": "",
        }
        self._fragment = self.simulator.moment()
        self._seen = self._fragment.target_visible
        self._trace.begin(self._fragment, self._seen)
        self._target_texts.clear()
        self._head = encoded(self._opening(f"kitchen-{derive_seed(seed, 'scene'):x}"))

    def observe(self) -> Observation:
        """The policy's observation of the current state."""
        observation: dict[str, JSON] = json.loads(self.observe_encoded())
        return observation

    def observe_encoded(self) -> bytes:
        """The policy's observation as JSON text, assembled from cached parts."""
        now = self._fragment
        key = (self._seen, now.target_visible)
        targets = self._target_texts.get(key)
        if targets is None:
            targets = self._target_texts[key] = encoded(self._targets())
        last = encoded({
            "last_action_result": self._result, "step_count": self._steps, "max_steps": self._horizon,
        })
        return b"{" + b", ".join((self._head, now.before, targets, now.after, last)) + b"}"

    def _opening(self, alias: str) -> dict[str, JSON]:
        """The fields that stay. A policy gets an alias of the scene, so that it cannot know the kitchen by its name."""
        return {"task": TASK, "task_description": DESCRIPTION, "scene": alias, "scene_is_fixed": True}

    def _targets(self) -> dict[str, JSON]:
        ids, visible = self.simulator.target_ids, self._fragment.target_visible
        return {"targets": target_fields(ids, self._seen, visible, reveal_unseen=self._reveal_unseen)}

    def step(self, action: Action) -> str | None:
        """Do one action; returns the reason why the episode ended: "success", "done", "horizon", or None.

        Raises ValueError for an action that is not [name, object id or None] with a known name.
        """
        name, object_id = parse_action(action)
        valid, message = self._try(name, object_id)
        self._steps += 1
        category = categorise(message)
        self._result = {
            "action": name, "object_id": object_id, "success": not message, "error_category": category.word,
            "error_message": message,
        }
        self._fragment = now = self.simulator.moment()
        self._seen = tuple(a or b for a, b in zip(self._seen, now.target_visible, strict=True))
        self._trace.add(
            now, self._seen, action=name, target=target_code(self.simulator, object_id),
            object_id=object_id if object_id is not None and self.simulator.knows(object_id) else "", valid=valid,
            category=category,
        )
        if self.success():
            return "success"
        if name == "done":
            return "done"
        return "horizon" if self._steps >= self._horizon else None

    def idle_action(self) -> Action:
        """Looking up: at most one step of the camera, then it fails."""
        return ["look_up", None]

    def random_action(self, rng: np.random.Generator) -> Action:
        """A move, or an action on an object that is valid now; never "done"."""
        options: list[list[JSON]] = [[name, None] for name in MOVES]
        for name, ids in sorted(self._fragment.allowed.items()):
            options += [[name, object_id] for object_id in sorted(ids)]
        return options[int(rng.integers(len(options)))]

    def _try(self, name: str, object_id: str | None) -> tuple[bool, str]:
        """Do an action; returns whether it was valid, and the simulator's error message."""
        if name in MOVES or name == "done":
            if object_id is not None:
                return False, f"invalid action: {name} takes no object id"
            return True, "" if name == "done" else self.simulator.move(name)
        if object_id is None:
            return False, f"invalid action: {name} needs an object id"
        if not self.simulator.knows(object_id):
            return False, NOT_HERE.format(object_id)
        return object_id in self._fragment.allowed[name], self.simulator.act(name, object_id)

    def success(self) -> bool:
        """σ(τ): Apple in the Microwave, Microwave on, Bread in the Fridge."""
        return self._fragment.predicates[-1]

    def recording(self) -> Recording:
        """The trajectory so far."""
        return self._trace.recording(scene=self._scene)

    def close(self) -> None:
        """Close the back end."""
        self.simulator.close()


def parse_action(action: Action) -> tuple[str, str | None]:
    """(name, object id or None) from a policy's return value. Raises ValueError with one sentence."""
    if not isinstance(action, list) or len(action) != 2:
        raise ValueError("an action is a pair (name, object id or None)")
    name, object_id = action
    if not isinstance(name, str):
        raise ValueError(f"the name of an action is a string, not {type(name).__name__}")
    if object_id is not None and not isinstance(object_id, str):
        raise ValueError(f"an object id is a string or None, not {type(object_id).__name__}")
    if name not in ACTIONS:
        close = nearest(name, ACTIONS, most=2) or ACTIONS
        raise ValueError(f"there is no action {name[:60]!r}; did you mean {' or '.join(close)}?")
    return name, object_id
