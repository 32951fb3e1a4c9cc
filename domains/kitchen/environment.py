"""The kitchen task as an environment: JSON observations, named actions, 250 steps."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from random import Random

from ...core.errors import MementoError
from ...core.ports import Action, Observation
from ...core.recording import Recording
from ...core.values import JSON
from .observation import ACTIONS, DESCRIPTION, MOVES, TASK, Observer, target_fields
from .rules import TARGETS, categorise
from .scene import Kitchen, Stance, reachable
from .trace import Trace
from .world import NOT_HERE, World

_MOVES: Mapping[str, Callable[[World], str]] = {
    "move_ahead": World.move_ahead,
    "rotate_left": lambda world: world.turn(-1),
    "rotate_right": lambda world: world.turn(1),
    "look_up": lambda world: world.look(-1),
    "look_down": lambda world: world.look(1),
}


class KitchenEnvironment:
    """Implements `core.ports.Environment` on the embedded simulator.

    Episode e plays scene e mod n. The first n episodes begin at the scene's own start, later ones at a
    reachable pose drawn from the seed.
    """

    observation_layout: tuple[tuple[str, tuple[int, ...]], ...] | None = None    # JSON instead
    action_size: int | None = None

    def __init__(
        self, scenes: Sequence[str], load: Callable[[str], Kitchen], *, horizon: int, reveal_unseen: bool,
    ) -> None:
        """`load` makes a kitchen by its name; each is made once."""
        self._scenes, self._load = tuple(scenes), load
        self._horizon, self._reveal_unseen = horizon, reveal_unseen
        self._observers: dict[str, Observer] = {}
        self._trace = Trace(max_steps=horizon)
        self._observer: Observer | None = None

    def reset(self, *, index: int, seed: int) -> None:
        """Begin episode `index`."""
        scene = self._scenes[index % len(self._scenes)]
        if scene not in self._observers:
            self._observers[scene] = Observer(World(self._load(scene)))
        self._observer = self._observers[scene]
        self._world = self._observer.world
        kitchen = self._world.kitchen
        start = kitchen.start if index < len(self._scenes) else _drawn_start(kitchen, seed)
        self._world.reset(start)
        self._ids = {
            kind: self._world.things[k].object_id for kind, k in zip(TARGETS, self._observer.targets, strict=True)
        }
        self._steps = 0
        self._result: dict[str, JSON] = {
            "action": None, "object_id": None, "success": True, "error_category": None, "error_message": "",
        }
        self._fragment = self._observer.fragment()
        self._seen = self._fragment.target_visible
        self._trace.begin(self._fragment, self._world.stance, self._seen)

    def observe(self) -> Observation:
        """What the policy sees now."""
        now = self._fragment
        return {
            "task": TASK,
            "task_description": DESCRIPTION,
            "scene": self._world.kitchen.name,
            "scene_is_fixed": True,
            "agent": now.agent,
            "inventory": now.inventory,
            "targets": target_fields(self._ids, self._seen, now.target_visible, reveal_unseen=self._reveal_unseen),
            "visible_objects": now.visible_objects,
            "task_progress": now.progress,
            "available_actions": [*ACTIONS],
            "action_space": now.action_space,
            "last_action_result": self._result,
            "step_count": self._steps,
            "max_steps": self._horizon,
        }

    def step(self, action: Action) -> str | None:
        """Do one action; returns what ended the episode: "success", "done", "horizon", or None.

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
        assert self._observer is not None
        self._fragment = now = self._observer.fragment()
        self._seen = tuple(a or b for a, b in zip(self._seen, now.target_visible, strict=True))
        self._trace.add(
            now, self._world.stance, self._seen, action=name, target=self._observer.target_code(object_id),
            valid=valid, category=category,
        )
        if self.success():
            return "success"
        if name == "done":
            return "done"
        return "horizon" if self._steps >= self._horizon else None

    def _try(self, name: str, object_id: str | None) -> tuple[bool, str]:
        """Do it: whether it was among the valid actions, and the simulator's error message."""
        if name in MOVES or name == "done":
            if object_id is not None:
                return False, f"invalid action: {name} takes no object id"
            return True, "" if name == "done" else _MOVES[name](self._world)
        if object_id is None:
            return False, f"invalid action: {name} needs an object id"
        if object_id not in self._world.index:
            return False, NOT_HERE.format(object_id)
        allowed = self._fragment.action_space[name]
        assert isinstance(allowed, list)
        message = self._world.act(name, object_id)
        return object_id in allowed, message

    def success(self) -> bool:
        """σ(τ): Apple in the Microwave, Microwave on, Bread in the Fridge."""
        return self._fragment.predicates[-1]

    def recording(self) -> Recording:
        """The trajectory so far."""
        start = self._trace.first_stance()
        return self._trace.recording(
            agent_y_m=self._world.kitchen.agent_y_m,
            info={
                "scene": self._world.kitchen.name,
                "start": {"cell": [*start.cell], "yaw_deg": 90 * start.yaw, "horizon_deg": start.horizon_deg},
            },
        )

    def close(self) -> None:
        """Nothing to let go of."""


def parse_action(action: Action) -> tuple[str, str | None]:
    """(name, object id or None) from what a policy returned. Raises ValueError with one sentence."""
    if not isinstance(action, list) or len(action) != 2:
        raise ValueError("an action is a pair (name, object id or None)")
    name, object_id = action
    if not isinstance(name, str):
        raise ValueError(f"the name of an action is a string, not {type(name).__name__}")
    if object_id is not None and not isinstance(object_id, str):
        raise ValueError(f"an object id is a string or None, not {type(object_id).__name__}")
    if name not in ACTIONS:
        close = get_close_matches(name, ACTIONS, n=2) or ACTIONS
        raise ValueError(f"there is no action {name[:60]!r}; did you mean {' or '.join(close)}?")
    return name, object_id


def _drawn_start(kitchen: Kitchen, seed: int) -> Stance:
    """A reachable pose drawn from a seed, the camera level."""
    cells = sorted(reachable(kitchen.cells, kitchen.start.cell))
    if not cells:
        raise MementoError(f"{kitchen.name} has no cell to stand on.")
    rng = Random(seed)
    return Stance(cell=rng.choice(cells), yaw=rng.randrange(4), horizon_deg=0)
