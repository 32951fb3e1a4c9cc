"""The simulator's rules, in small kitchens: movement, visibility, hand, doors, placing, messages, categories."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.domains.kitchen.embedded.doors import blocked_by_panel
from memento.domains.kitchen.embedded.sight import Surroundings, agent_view, sample_points
from memento.domains.kitchen.embedded.world import World
from memento.domains.kitchen.rules import ErrorCategory, categorise, places_of
from memento.domains.kitchen.scene import Stance

from .kitchens import kitchen, thing

NORTH, EAST, SOUTH, WEST = range(4)


def world(*extra: object, at: tuple[int, int] = (0, 2), yaw: int = NORTH, horizon: int = 30, **given: object) -> World:
    made = World(kitchen(*extra, **given))  # type: ignore[arg-type]
    made.reset(Stance(cell=at, yaw=yaw, horizon_deg=horizon))
    return made


def the(where: World, kind: str) -> str:
    return next(each.object_id for each in where.things if each.object_type == kind)


def sees(where: World, kind: str) -> bool:
    return where.index[the(where, kind)] in where.sighting().visible


# ------------------------------------------------------------------------------------------ movement


def test_a_step_is_a_quarter_metre_along_the_heading() -> None:
    where = world(at=(0, 0))
    for yaw, cell in ((NORTH, (0, 1)), (EAST, (1, 0)), (SOUTH, (0, -1)), (WEST, (-1, 0))):
        where.reset(Stance(cell=(0, 0), yaw=yaw, horizon_deg=0))
        assert where.move_ahead() == ""
        assert where.stance.cell == cell


def test_a_blocked_step_changes_nothing_and_names_what_blocks() -> None:
    where = world(at=(0, 2))
    message = where.move_ahead()
    assert message == "CounterTop_1 is blocking Agent 0 from moving by (0.0000, 0.0000, 0.2500)."
    assert where.stance.cell == (0, 2)
    assert categorise(message) is ErrorCategory.BLOCKED


def test_the_building_blocks_where_no_object_does() -> None:
    where = world(at=(-3, 0), yaw=WEST)
    assert where.move_ahead().startswith("Structure_0 is blocking Agent 0")


def test_four_turns_come_round_and_looks_have_limits() -> None:
    where = world(horizon=0)
    for _ in range(4):
        assert where.turn(1) == ""
    assert where.stance.yaw == NORTH
    assert [where.look(1), where.look(1)] == ["", ""]
    assert where.stance.horizon_deg == 60
    assert where.look(1).startswith("can't look down beyond 60 degrees")
    assert [where.look(-1) for _ in range(3)] == [""] * 3
    assert where.stance.horizon_deg == -30
    assert categorise(where.look(-1)) is ErrorCategory.PRECONDITION


@given(st.lists(st.sampled_from(["move_ahead", "left", "right", "up", "down"]), max_size=60))
@settings(max_examples=60, deadline=None)
def test_the_agent_stays_on_cells_whatever_it_does(steps: list[str]) -> None:
    where = world(at=(0, 0))
    for step in steps:
        if step == "move_ahead":
            where.move_ahead()
        elif step in ("left", "right"):
            where.turn(1 if step == "right" else -1)
        else:
            where.look(1 if step == "down" else -1)
        assert where.stance.cell in where.kitchen.cells
        assert where.stance.horizon_deg in (-30, 0, 30, 60)


# --------------------------------------------------------------------------------------------- sight


def test_what_is_behind_the_agent_or_too_far_is_not_visible() -> None:
    assert sees(world(), "Apple")
    assert not sees(world(yaw=SOUTH), "Apple")
    assert not sees(world(at=(3, -2), horizon=0), "Apple"), "1.4 m to the north and 1 m aside are more than 1.5 m"
    assert sees(world(at=(3, 0)), "Apple")


def test_the_field_of_view_is_ninety_degrees_vertically_and_wider_across() -> None:
    view = agent_view(Stance(cell=(0, 0), yaw=NORTH, horizon_deg=0), 0.9)
    eye = np.array([0.0, 1.575, 0.0])
    above, below, inside, outside = (0, 0.99, 1.0), (0, -1.01, 1.0), (1.1, 0, 0.75), (1.2, 0, 0.75)
    assert view.sees(np.add(eye, [above, below, inside, outside])).tolist() == [True, False, True, False]


def test_a_closed_receptacle_hides_what_is_in_it() -> None:
    fridge = kitchen().things[-1]
    apple = thing("Apple", (1.6, 1.0, -0.25), (0.1, 0.1, 0.1), parents=[fridge.object_id])
    where = world(at=(2, -1), yaw=EAST, horizon=0, apple=apple)
    assert sees(where, "Fridge") and not sees(where, "Apple")
    assert where.act("open_object", the(where, "Fridge")) == ""
    assert sees(where, "Apple")
    assert where.act("pickup_object", the(where, "Apple")) == ""


def test_a_box_in_the_way_hides_what_is_behind_it() -> None:
    screen = thing("Cabinet", (-0.3, 1.2, 0.75), (0.5, 1.0, 0.1), yaw=2)
    assert not sees(world(screen), "Apple")


def test_behind_glass_a_thing_is_visible_but_not_interactable() -> None:
    where = world(thing("Window", (-0.3, 1.2, 0.75), (0.6, 1.0, 0.02), yaw=2))
    assert sees(where, "Apple")
    message = where.act("pickup_object", the(where, "Apple"))
    assert message.endswith("is visible but not interactable")
    assert categorise(message) is ErrorCategory.NOT_REACHABLE


@pytest.mark.slow
@given(
    st.lists(st.tuples(*[st.floats(-1.4, 1.4)] * 3, *[st.floats(0.05, 0.5)] * 3), min_size=1, max_size=6),
    st.integers(0, 3), st.sampled_from([-30, 0, 30, 60]),
)
@settings(max_examples=80, deadline=None)
def test_sight_agrees_with_a_plain_walk_along_each_ray(
    boxes: list[tuple[float, ...]], yaw: int, horizon: int
) -> None:
    """The slab test against points every 5 mm along the ray, away from the tolerance's edge."""
    centres, sizes = (np.array([box[part] for box in boxes]) for part in (slice(0, 3), slice(3, 6)))
    centres = np.add(centres, (0.0, 1.5, 0.0))
    n = len(boxes)
    low, high = centres - sizes / 2, centres + sizes / 2
    eye = np.array([0.0, 1.575, 0.0])
    if ((low - 0.02 < eye) & (eye < high + 0.02)).all(axis=1).any():
        return
    around = Surroundings(
        points=sample_points(centres, sizes), can_be_seen=np.ones(n, bool), low=low, high=high,
        clear=np.eye(n, dtype=bool), glass=np.zeros(n, bool), floor=None,
    )
    view = agent_view(Stance(cell=(0, 0), yaw=yaw, horizon_deg=horizon), 0.9)
    visible, interactable = around.seen(view)
    assert visible.tolist() == interactable.tolist()
    for k in range(n):
        free, doubtful = False, False
        for point in around.points[k]:
            if not view.sees(point[None])[0]:
                continue
            steps = np.linspace(0.0, 1.0, max(2, int(np.linalg.norm(point - eye) / 0.005)))
            ray = eye + steps[:, None] * (point - eye)
            step_m = np.linalg.norm(ray[1] - ray[0])
            inside = [((low[j] < ray) & (ray < high[j])).all(axis=1).sum() * step_m for j in range(n) if j != k]
            thickest = max(inside, default=0.0)
            free |= thickest < 0.035
            doubtful |= 0.035 <= thickest <= 0.065
        if not doubtful:
            assert bool(visible[k]) == free


# ------------------------------------------------------------------------------------------ the hand


def test_picking_up_needs_an_empty_hand_and_a_thing_that_can_be_picked_up() -> None:
    where = world()
    assert categorise(where.act("pickup_object", the(where, "CounterTop"))) is ErrorCategory.PRECONDITION
    assert where.act("pickup_object", the(where, "Apple")) == ""
    assert where.held == where.index[the(where, "Apple")]
    assert where.act("pickup_object", the(where, "Microwave")).startswith("Agent hand has something in it already!")


def test_an_unknown_id_and_an_invisible_object_give_different_errors() -> None:
    where = world()
    assert where.act("pickup_object", "Apple|1|2|3") == (
        "objectId: Apple|1|2|3 is not the objectId on any object in the scene!"
    )
    where.turn(2)
    message = where.act("pickup_object", the(where, "Apple"))
    assert message == "Target object not found within the specified visibility."
    assert categorise(message) is ErrorCategory.NOT_VISIBLE


def test_picking_up_fails_where_the_thing_would_clip_at_the_hand() -> None:
    where = world(thing("Cabinet", (0.0, 1.25, 0.8), (0.15, 0.1, 0.1), yaw=2))
    message = where.act("pickup_object", the(where, "Apple"))
    assert message.startswith("Picking up object would cause it to collide")
    assert categorise(message) is ErrorCategory.COLLISION


def test_what_is_held_goes_along_and_can_block_movement_and_turns() -> None:
    post = thing("Cabinet", (-0.38, 1.41, -0.25), (0.06, 0.4, 0.06), yaw=2)
    where = world(post, horizon=30)
    assert where.act("pickup_object", the(where, "Apple")) == ""
    where.stance = Stance(cell=(0, -1), yaw=NORTH, horizon_deg=0)
    message = where.turn(-1)
    assert "will collide with something if agent rotates left" in message
    assert categorise(message) is ErrorCategory.COLLISION
    assert where.stance.yaw == NORTH and where.turn(1) == ""
    where.stance = Stance(cell=(1, -1), yaw=WEST, horizon_deg=0)
    assert where.move_ahead().startswith("Cabinet_1 is blocking Agent 0")
    where.held = None
    where.changed()
    assert where.move_ahead() == ""


def test_looking_down_draws_the_hand_in() -> None:
    where = world()
    ahead = [
        where.hand(Stance(cell=(0, 0), yaw=NORTH, horizon_deg=horizon))[2] for horizon in (0, 30, 60)
    ]
    assert ahead == pytest.approx([0.38, 0.249, 0.051], abs=0.001)
    assert where.hand(Stance(cell=(0, 0), yaw=EAST, horizon_deg=0)) == pytest.approx([0.38, 1.415, 0.0])


# --------------------------------------------------------------------------------------------- doors


def test_a_microwave_opens_only_when_off_and_runs_only_when_closed() -> None:
    where = world(at=(2, 2))
    microwave = the(where, "Microwave")
    assert where.act("open_object", microwave) == ""
    assert where.act("toggle_on", microwave) == "Target must be closed to Toggle On!"
    assert where.act("close_object", microwave) == ""
    assert where.act("toggle_on", microwave) == ""
    assert where.act("open_object", microwave) == "Target must be OFF to open!"
    assert where.act("toggle_off", microwave) == ""
    assert where.act("open_object", microwave) == ""


def test_opening_what_cannot_be_opened_or_is_open_already() -> None:
    where = world(at=(2, 2))
    assert where.act("open_object", the(where, "CounterTop")).endswith("is not an Openable object")
    assert where.act("close_object", the(where, "Microwave")).endswith("is already closed")
    assert categorise("X is not an Openable object") is ErrorCategory.PRECONDITION


def test_an_open_door_blocks_and_a_closed_one_does_not() -> None:
    where = world(at=(2, -1), yaw=EAST)
    assert where.act("open_object", the(where, "Fridge")) == ""
    panels = where.panels()
    assert len(panels) == 1, "a fridge of 0.9 m has one leaf"
    blocked = [
        (start, end)
        for start in where.kitchen.cells
        for end in ((start[0], start[1] + 1), (start[0], start[1] - 1), (start[0] + 1, start[1]))
        if end in where.kitchen.cells and blocked_by_panel(panels, start, end, floor_m=0.0)
    ]
    assert blocked
    start, end = blocked[0]
    yaw = {(0, 1): NORTH, (1, 0): EAST, (0, -1): SOUTH}[(end[0] - start[0], end[1] - start[1])]
    where.stance = Stance(cell=start, yaw=yaw, horizon_deg=0)
    assert where.move_ahead().startswith("Fridge_1 is blocking Agent 0")
    where.stance = Stance(cell=(2, -1), yaw=EAST, horizon_deg=30)
    assert where.act("close_object", the(where, "Fridge")) == ""
    where.stance = Stance(cell=start, yaw=yaw, horizon_deg=0)
    assert where.move_ahead() == ""


def test_an_agent_that_a_door_touches_may_go_away_from_it() -> None:
    panel = (np.array([0.0, 0.0, 0.0]), np.array([0.05, 2.0, 1.0]))
    assert blocked_by_panel([panel], (1, 1), (0, 1), floor_m=0.0), "towards it"
    assert not blocked_by_panel([panel], (0, 1), (-1, 1), floor_m=0.0), "away from it"
    assert blocked_by_panel([panel], (-1, 1), (0, 1), floor_m=0.0)
    high = (np.add(panel[0], (0, 1.9, 0)), np.add(panel[1], (0, 1.9, 0)))
    assert not blocked_by_panel([high], (1, 1), (0, 1), floor_m=0.0), "above the agent's head"


def test_a_drawer_needs_room_for_the_agent() -> None:
    drawer = thing("Drawer", (0.9, 0.6, 0.9), (0.4, 0.2, 0.4), yaw=2)
    near = world(drawer, at=(3, 2), horizon=60)
    assert near.act("open_object", drawer.object_id) == "Object failed to open/close successfully."
    assert categorise("Object failed to open/close successfully.") is ErrorCategory.COLLISION
    assert not near.open
    far = world(drawer, at=(3, 0), horizon=30)
    assert far.act("open_object", drawer.object_id) == ""


def test_a_door_does_not_move_through_what_is_held() -> None:
    where = carrying("Bread", at=(3, -1), yaw=EAST, horizon=0)
    assert where.act("open_object", the(where, "Fridge")) == "Object failed to open/close successfully."
    where.stance = replace(where.stance, horizon_deg=60)
    assert where.act("open_object", the(where, "Fridge")) == "", "looking down draws the hand in"


def test_a_book_opens_without_a_door() -> None:
    book = thing("Book", (0.0, 0.95, 0.95), (0.2, 0.04, 0.25))
    where = world(book)
    assert where.act("open_object", book.object_id) == ""
    assert where.panels() == []


# ------------------------------------------------------------------------------------------- placing


def carrying(kind: str, *extra: object, at: tuple[int, int], yaw: int, horizon: int) -> World:
    where = world(*extra, at=(-2, 2))
    assert where.act("pickup_object", the(where, kind)) == ""
    where.stance = Stance(cell=at, yaw=yaw, horizon_deg=horizon)
    return where


def test_putting_needs_something_held_an_open_receptacle_and_a_fitting_type() -> None:
    bowl = thing("Bowl", (-0.6, 0.97, 0.95), (0.2, 0.1, 0.2))
    empty = world(at=(2, 2))
    assert empty.act("put_object", the(empty, "Microwave")) == "Can't place an object if Agent isn't holding anything"
    where = carrying("Bread", bowl, at=(2, 2), yaw=NORTH, horizon=30)
    assert where.act("put_object", the(where, "Microwave")).startswith("Target openable Receptacle is CLOSED")
    where.stance = Stance(cell=(-2, 2), yaw=NORTH, horizon_deg=30)
    assert "cannot be placed in" in where.act("put_object", bowl.object_id)
    assert where.act("put_object", the(where, "Apple")) == "This target object is NOT a receptacle!"
    assert "Bowl" in places_of("Apple") and not {"Bowl", "Pot", "Pan", "Sink"} & places_of("Bread")


def test_the_apple_goes_into_the_open_microwave_entirely() -> None:
    where = carrying("Apple", at=(2, 2), yaw=NORTH, horizon=30)
    apple, microwave = where.index[the(where, "Apple")], where.index[the(where, "Microwave")]
    assert where.act("open_object", the(where, "Microwave")) == ""
    assert where.act("put_object", the(where, "Microwave")) == ""
    assert where.is_in(apple, microwave) and where.held is None
    low, high = (where.centres[apple] + sign * where.sizes[apple] / 2 for sign in (-1, 1))
    assert (low >= where.centres[microwave] - where.sizes[microwave] / 2).all()
    assert (high <= where.centres[microwave] + where.sizes[microwave] / 2).all()
    assert where.act("pickup_object", the(where, "Apple")) == ""
    assert not where.is_in(apple, microwave)


def test_an_item_is_never_put_out_of_view_or_in_an_occupied_place() -> None:
    message = "No valid positions to place object found"
    where = carrying("Apple", at=(2, 2), yaw=NORTH, horizon=30)
    assert where.act("open_object", the(where, "Microwave")) == ""
    where.stance = Stance(cell=(2, -1), yaw=NORTH, horizon_deg=-30)
    assert sees(where, "Microwave"), "its top, not its floor"
    assert where.act("put_object", the(where, "Microwave")) == message
    assert categorise(message) is ErrorCategory.FAILED
    block = thing("Mug", (0.5, 1.1, 1.15), (0.58, 0.3, 0.34))
    full = carrying("Apple", block, at=(2, 2), yaw=NORTH, horizon=30)
    assert full.act("open_object", the(full, "Microwave")) == ""
    assert full.act("put_object", the(full, "Microwave")) == message


def test_a_thing_put_down_lies_on_the_counter_and_touches_nothing() -> None:
    where = carrying("Apple", at=(0, 2), yaw=NORTH, horizon=30)
    assert where.act("put_object", the(where, "CounterTop")) == ""
    apple = where.index[the(where, "Apple")]
    assert where.centres[apple][1] - where.sizes[apple][1] / 2 == pytest.approx(0.925, abs=0.001)
    for k in range(len(where.things)):
        gap = np.abs(where.centres[k] - where.centres[apple]) - (where.sizes[k] + where.sizes[apple]) / 2
        assert k == apple or gap.max() >= -1e-6


def test_what_lies_in_a_thing_goes_with_it() -> None:
    bowl = thing("Bowl", (-0.6, 0.97, 0.95), (0.3, 0.1, 0.3))
    apple = thing("Apple", (-0.6, 0.99, 0.95), (0.1, 0.1, 0.1), parents=[bowl.object_id])
    where = world(bowl, at=(-2, 2), apple=apple)
    assert where.act("pickup_object", bowl.object_id) == ""
    assert not sees(where, "Apple")
    where.stance = Stance(cell=(1, 2), yaw=NORTH, horizon_deg=30)
    before = where.centres[where.index[apple.object_id]].copy()
    assert where.act("put_object", the(where, "CounterTop")) == ""
    assert sees(where, "Apple")
    moved = where.centres[where.index[apple.object_id]] - before
    assert moved == pytest.approx(where.position(where.index[bowl.object_id]) - np.array(bowl.position))


# ---------------------------------------------------------------------------------------- everything


@pytest.mark.parametrize(("message", "category"), [
    ("", ErrorCategory.NONE),
    ("Cup_1 is blocking Agent 0 from moving by (0.0, 0.0, 0.25).", ErrorCategory.BLOCKED),
    ("a held item: Cup_1 will collide with something if agent rotates Right 90 degrees", ErrorCategory.COLLISION),
    ("Target object not found within the specified visibility.", ErrorCategory.NOT_VISIBLE),
    ("Window|1|2|3 is visible but not interactable.", ErrorCategory.NOT_REACHABLE),
    ("Target must be OFF to open!", ErrorCategory.PRECONDITION),
    ("This target object is NOT a receptacle!", ErrorCategory.PRECONDITION),
    ("No valid positions to place object found", ErrorCategory.FAILED),
    ("NullReferenceException: Object reference not set", ErrorCategory.EXCEPTION),
    ("something that nobody has foreseen", ErrorCategory.FAILED),
])
def test_messages_have_categories(message: str, category: ErrorCategory) -> None:
    assert categorise(message) is category
    assert category.word is None or category.word == category.name.lower()


def test_equal_states_have_equal_numbers_and_a_reset_is_complete() -> None:
    where = world(at=(2, 2))
    first, seen = where.state, where.sighting()
    assert where.act("open_object", the(where, "Microwave")) == ""
    assert where.state != first
    assert where.act("close_object", the(where, "Microwave")) == ""
    assert (where.state, where.sighting()) == (first, seen)
    where.act("open_object", the(where, "Microwave"))
    where.reset(Stance(cell=(2, 2), yaw=NORTH, horizon_deg=30))
    assert (where.state, where.open, where.held) == (first, set(), None)
