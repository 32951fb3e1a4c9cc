"""Small kitchens for tests, built box by box, and functions to play episodes in one process."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from memento.domains.kitchen.embedded.simulator import Embedded
from memento.domains.kitchen.environment import KitchenEnvironment
from memento.domains.kitchen.scene import Kitchen, Stance, Thing, object_id

RECORDINGS = Path(os.environ.get("KITCHEN_RECORDINGS") or Path(__file__).parents[4] / "shared/data/ai2thor")
needs_recordings = pytest.mark.skipif(
    not (RECORDINGS / "start_states").is_dir(),
    reason="there are no recorded kitchens; name their folder in KITCHEN_RECORDINGS",
)

FLAGS = {
    "Apple": "pickupable", "Bread": "pickupable", "Mug": "pickupable receptacle",
    "Microwave": "receptacle openable toggleable", "Fridge": "receptacle openable", "CounterTop": "receptacle",
    "Cabinet": "receptacle openable", "Drawer": "receptacle openable", "Window": "", "Bowl": "receptacle pickupable",
    "Book": "openable pickupable",
}


def thing(
    kind: str, centre: Sequence[float], size: Sequence[float], *, yaw: int = 0, parents: Sequence[str] = (),
    flags: str | None = None, hinge: Sequence[float] | None = None,
) -> Thing:
    position = tuple(hinge or centre)
    x, y, z = centre
    width, up, depth = size
    return Thing(
        object_id=object_id(kind, position), name=f"{kind}_1", object_type=kind, position=position, yaw_deg=90.0 * yaw,
        centre=(x, y, z), size=(width, up, depth), extent=(width, up, depth) if yaw % 2 == 0 else (depth, up, width),
        flags=frozenset((FLAGS[kind] if flags is None else flags).split()), parents=tuple(parents),
    )


def kitchen(
    *extra: Thing, cells: Iterable[tuple[int, int]] | None = None, apple: Thing | None = None,
    bread: Thing | None = None, start: Stance | None = None,
) -> Kitchen:
    """A counter ahead (+z) with Apple, Bread and Microwave; the Fridge to the right (+x); 7 × 5 cells to stand on."""
    counter = thing("CounterTop", (0.0, 0.9, 1.1), (2.4, 0.04, 0.6), yaw=2)
    apple = apple or thing("Apple", (-0.3, 0.98, 0.95), (0.1, 0.1, 0.1), parents=[counter.object_id])
    bread = bread or thing("Bread", (-0.8, 1.0, 1.0), (0.15, 0.14, 0.28), parents=[counter.object_id])
    microwave = thing("Microwave", (0.5, 1.1, 1.15), (0.6, 0.36, 0.36), yaw=2, parents=[counter.object_id])
    fridge = thing("Fridge", (1.6, 0.9, -0.25), (0.7, 1.8, 0.9), yaw=3)
    return Kitchen(
        name="Test", start=start or Stance(cell=(0, 0), yaw=0, horizon_deg=0), agent_y_m=0.9,
        things=(counter, apple, bread, microwave, fridge, *extra),
        cells=frozenset(cells if cells is not None else ((x, z) for x in range(-3, 4) for z in range(-2, 3))),
    )


def environment(*kitchens: Kitchen, horizon: int = 250, reveal_unseen: bool = False) -> KitchenEnvironment:
    by_name = {each.name: each for each in kitchens}
    return KitchenEnvironment([*by_name], Embedded(by_name.__getitem__), horizon=horizon, reveal_unseen=reveal_unseen)


def play(env: KitchenEnvironment, policy: Any, *, index: int, seed: int = 0) -> str:
    """Play one episode to its end, with observations encoded as JSON; returns the reason why it ended."""
    env.reset(index=index, seed=seed)
    policy.reset()
    ended = None
    while ended is None:
        action = policy.compute_action(json.loads(json.dumps(env.observe(), allow_nan=False)))
        ended = env.step(json.loads(json.dumps(action)))
    return ended


def policy_class(text: str) -> Any:
    """A policy program's class, loaded as a separate module."""
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "policy", "exec"), space)
    return space["Policy"]
