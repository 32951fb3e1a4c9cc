"""Generated kitchens: the same on every machine, statistically like real ones, free of overlaps, solvable."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from memento.domains.kitchen import procedural as generated
from memento.domains.kitchen.embedded.planner import plan
from memento.domains.kitchen.embedded.simulator import Observer
from memento.domains.kitchen.embedded.world import World
from memento.domains.kitchen.rules import TARGETS
from memento.domains.kitchen.scene import Kitchen, reachable

from ...reference_policies.kitchen import Policy
from .kitchens import environment, play

NUMBERS = range(1, 30)


@cache
def drafted(number: int) -> Kitchen:
    """The first complete draft, without the proof that it is solvable."""
    return next(kitchen for attempt in range(50) if (kitchen := generated.draft(number, attempt)) is not None)


def parent_of_the_apple(kitchen: Kitchen) -> str:
    (apple,) = [thing for thing in kitchen.things if thing.object_type == "Apple"]
    return "SinkBasin" if apple.parents[0].endswith("SinkBasin") else apple.parents[0].partition("|")[0]


def test_the_same_name_gives_the_same_kitchen() -> None:
    assert generated.load("Kitchen5") == generated.load("Kitchen5")
    assert drafted(5) != drafted(6)


def test_the_training_kitchens_start_the_apple_in_three_ways() -> None:
    starts = [parent_of_the_apple(generated.load(f"Kitchen{number}")) for number in (1, 2, 3)]
    assert starts[0] in ("CounterTop", "DiningTable") and starts[1:] == ["Fridge", "SinkBasin"]


@pytest.mark.slow
def test_their_numbers_are_those_of_real_kitchens() -> None:
    kitchens = [drafted(number) for number in range(1, 61)]
    objects = [len(kitchen.things) for kitchen in kitchens]
    cells = [len(kitchen.cells) for kitchen in kitchens]
    assert min(objects) >= 54 and max(objects) <= 90 and 60 <= np.median(objects) <= 76
    assert min(cells) >= 30 and max(cells) <= 320 and 80 <= np.median(cells) <= 170
    places = Counter(parent_of_the_apple(kitchen) for kitchen in kitchens)
    assert 4 <= places["Fridge"] <= 18 and 2 <= places["SinkBasin"] <= 14
    for kitchen in kitchens:
        kinds = Counter(thing.object_type for thing in kitchen.things)
        assert all(kinds[kind] == 1 for kind in TARGETS)


@pytest.mark.parametrize("number", NUMBERS)
def test_what_is_pickupable_touches_nothing_but_what_it_lies_in(number: int) -> None:
    kitchen = drafted(number)
    ids = [thing.object_id for thing in kitchen.things]
    assert len(set(ids)) == len(ids)
    world = World(kitchen)
    for k, thing in enumerate(kitchen.things):
        if "pickupable" not in thing.flags:
            continue
        kin = world.containing(k) | {k}
        for j, other in enumerate(kitchen.things):
            if j in kin or k in world.containing(j) or other.object_type in ("Sink", "SinkBasin", "Floor"):
                continue
            gap = np.abs(world.centres[k] - world.centres[j]) - (world.sizes[k] + world.sizes[j]) / 2
            assert gap.max() > -1e-6, (thing.object_id, other.object_id)


@pytest.mark.parametrize("number", NUMBERS)
def test_the_agent_stands_clear_and_can_walk_everywhere(number: int) -> None:
    kitchen = drafted(number)
    assert kitchen.start.cell in kitchen.cells
    assert reachable(kitchen.cells, kitchen.start.cell) == kitchen.cells
    Observer(World(kitchen))


@pytest.mark.parametrize("number", [1, 2, 3, 4, 11, 30, 1234])
def test_a_kitchen_that_is_made_can_be_solved(number: int) -> None:
    kitchen = generated.load(f"Kitchen{number}")
    steps = plan(kitchen)
    assert steps is not None and len(steps) < 100
    env = environment(kitchen)
    env.reset(index=0, seed=0)
    assert [env.step([*step]) for step in steps][-1] == "success"


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_policy_that_sees_only_observations_solves_nearly_all() -> None:
    done = []
    for number in NUMBERS:
        env = environment(generated.load(f"Kitchen{number}"))
        done.append(play(env, Policy(seed=0), index=0) == "success")
    assert np.mean(done) >= 0.95, [number for number, one in zip(NUMBERS, done, strict=True) if not one]


def test_the_policy_solves_one_of_each_training_kind() -> None:
    for number in (1, 2, 3):
        env = environment(generated.load(f"Kitchen{number}"))
        assert play(env, Policy(seed=0), index=0) == "success", number
