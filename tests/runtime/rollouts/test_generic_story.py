"""Stories are bounded tables of what happened, for every recording of every domain."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from memento.core.ports import MAX_ROWS, Story
from memento.core.recording import Recording
from memento.runtime.rollouts.generic_story import LAST, LEAST, generic_story, story_of
from memento.runtime.rollouts.story_text import MAX_CONDITIONS, MAX_STORY, shown_conditions, story_text
from memento.runtime.rollouts.tracks import parts_of

STEPS = 40
TIME = np.arange(STEPS + 1)
CART = Recording(
    states={
        "position": np.stack([TIME * 0.05, np.zeros(STEPS + 1)], axis=1),
        "held": TIME > 30,
        "phase": np.array(["go", "stop"])[(TIME > 12).astype(int)],
        "height": np.where(TIME < 20, 0.9, 0.1),
        "rail": np.zeros((STEPS + 1, 2)),
        "rounding": np.where(TIME < 9, 0.0, 1e-14),
        "success": TIME > 35,
    },
    actions={"push": np.sin(TIME[:STEPS])},
    constants={"goal": np.array([1.25, -0.5]), "map": np.zeros((8, 8)), "room": np.array("hall")},
)

words = st.text("a\n\x07\ud800 |", max_size=60)
stories = st.builds(
    Story,
    head=st.lists(words, max_size=20).map(tuple),
    rows=st.lists(st.lists(words, max_size=20).map(tuple), max_size=30).map(tuple),
    notes=st.lists(words, max_size=10).map(tuple),
    conditions=st.dictionaries(words, st.none() | st.booleans() | st.floats() | words, max_size=12),
)


def test_numbers_at_eight_points_of_time_and_sudden_changes() -> None:
    lines = story_text(generic_story(CART)).splitlines()
    last = next(place for place, line in enumerate(lines) if line.startswith("steps at changes, and the last"))
    cells = {line.split()[0]: line.split()[1:] for line in lines[:last]}
    assert cells["step"] == ["0", "6", "11", "17", "23", "29", "34", "40"]
    assert cells["position[0]"][:3] == ["0.00", "0.30", "0.55"]
    flags = ["held no at 0: yes from 31", "phase go at 0: stop from 13", "height 0.900 at 0: 0.100 from 20"]
    assert lines[2:5] == flags
    assert lines[5].startswith("swinging: push -1.000 to 1.000, mean 0.")
    assert lines[last - 1] == "never changed: rail 0.00 0.00, rounding 0.00e+00"
    assert "position[1]" not in cells


def test_each_of_the_last_steps_is_shown() -> None:
    head, *rows = generic_story(CART).last
    assert head[0] == "steps at changes, and the last"
    assert head[1:] == (*map(str, range(11, 16)), "|", *map(str, range(18, STEPS + 1))), "the phase changed at step 13"
    assert {row[0] for row in rows} == {"position[0]", "held", "phase", "height", "push"}
    assert {row[0]: row[-2:] for row in rows}["push"][1] == "", "the last state has no action"


def walking() -> Recording:
    """A gait of 40 steps that ends in a fall, with rays that hardly change, as in a bipedal walker."""
    time = np.arange(1501)
    phase, fall = 2 * np.pi * time / 40, np.clip((time - 1485) / 15, 0, 1)
    body = np.stack([0.05 * np.sin(phase) + 1.2 * fall, 0.3 + 0.05 * np.sin(phase + 1) + 0.5 * fall], axis=1)
    joints = np.stack([np.sin(phase + joint) for joint in range(4)], axis=1)
    contact = (np.sin(phase) > 0)[:, None].astype(float)
    rays = np.stack([0.4 + 0.05 * ray + 0.02 * np.sin(time / 300) for ray in range(10)], axis=1)
    noise = np.random.default_rng(1).normal(size=1501)
    return Recording(
        states={"obs": np.concatenate([rays, joints, body, contact], axis=1), "reward": noise, "qpos": noise},
        actions={"torque": joints[:-1]},
    )


def test_a_fall_shows_what_left_its_range_and_no_row_of_equal_rays() -> None:
    names = *("",) * 14, "tilt of the hull, positive where it leans back"
    story = generic_story(walking(), {"obs": names})
    head, *rows = story.last
    assert head[-1] == "1500" and 20 <= sum(cell.isdecimal() for cell in head) <= LAST
    assert any(row[0].startswith("torque") for row in rows), "what was done beside what happened"
    found = {row[0] for row in rows[:5]}
    assert {"obs[14] tilt hull", "obs[15]"} <= found, "the tilt and the speed of the body"
    rays = {f"obs[{ray}]" for ray in range(10)}
    assert all(len(rays & {row[0] for row in table}) <= 1 for table in (story.rows, rows)), "rays move alike"
    text = story_text(story)
    assert "obs[16] 0.00 at 0, 1.00 in" in text and "changes; the last: " in text, "the contact has a timeline"
    assert "rises every 4" in text
    assert "qpos" not in text and "reward" not in text, "a policy does not observe them"
    assert len(text) <= MAX_STORY
    everything = story_text(generic_story(walking()))
    assert "qpos" in everything and "reward" not in everything


def test_what_stays_as_it_is_takes_no_columns_and_a_motion_shows_a_whole_cycle() -> None:
    time = np.arange(301)
    stops = Recording(states={"x": np.minimum(time, 120) * 0.1}, actions={"a": np.minimum(time[:-1], 120) * 1.0})
    shown = [int(cell) for cell in generic_story(stops).last[0] if cell.isdecimal()]
    assert shown[-1] == 300 and 118 <= shown[-2] <= 121 and shown[0] <= 121 - LEAST + 2
    time = np.arange(601)
    swings = Recording(states={"x": np.sin(2 * np.pi * time / 100), "y": np.cos(2 * np.pi * time / 100)}, actions={})
    shown = [int(cell) for cell in generic_story(swings).last[0] if cell.isdecimal()]
    assert shown[-1] == 600 and 95 <= shown[-1] - shown[0] <= 130 and len(shown) <= LAST
    fallen = Recording(states=swings.states, actions={"terminated": np.arange(1, 601) == 600})
    shown = [int(cell) for cell in generic_story(fallen).last[0] if cell.isdecimal()]
    assert shown == [*range(shown[0], 601)], "each step before a failure"


HOPPER = (
    "z-coordinate of the torso (height of hopper)", "angle of the torso", "angle of the thigh joint",
    "angle of the foot joint", "velocity of the x-coordinate of the torso", "angular velocity of the foot hinge",
    "1 while the foot touches the ground, else 0", "lidar 0, straight down", "lidar 1",
)
LED = [
    "obs[0] z torso", "obs[1] angle torso", "obs[4] velocity x torso", "obs[2] angle thigh joint",
    "obs[3] angle foot joint", "obs[6] 1 while foot touches ground",
]


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from([0.0, 0.01, 1.0, 50.0]), min_size=len(HOPPER), max_size=len(HOPPER)))
def test_the_same_numbers_lead_every_trace_of_a_task(scales: list[float]) -> None:
    """Whatever moved: where the trunk is and how it leans and moves, the joints of the legs, and the contacts."""
    states = np.sin(np.outer(np.arange(60), 0.1 + np.arange(len(HOPPER)))) * scales
    states[:, 6] = states[:, 6] > 0
    recording = Recording(states={"obs": states}, actions={"a": np.sin(TIME[:-1])})
    story = generic_story(recording, {"obs": HOPPER})
    assert [row[0] for row in story.last][1 : len(LED) + 1] == LED
    shown = [row[0] for row in story.rows]
    assert shown[:3] == LED[:3] and not set(LED[3:]) & set(shown), "8 points of time show nothing of a stride"


def test_steps_tell_apart_what_differs_by_a_part_of_the_range() -> None:
    angle = np.r_[np.linspace(3.1, 0.86, 40), 0.834, 0.811, 0.79, 0.772, 0.76]
    (part,) = parts_of({"angle": angle})
    shown = part.shown(range(40, 45), by_range=True)
    assert [shown(row) for row in range(40, 45)] == ["0.83", "0.81", "0.79", "0.77", "0.76"]
    (still,) = parts_of({"angle": np.r_[np.linspace(3.1, 0.86, 40), 0.83, 0.8299, 0.8301, 0.83]})
    shown = still.shown(range(40, 44), by_range=True)
    assert {shown(row) for row in range(40, 44)} == {"0.8"}, "noise gets no digits"
    assert shown(99) == ""


@given(st.text(alphabet="ab c", max_size=120))
def test_a_label_is_never_cut_inside_of_a_word(called: str) -> None:
    (part,) = parts_of({"obs": np.zeros((3, 1))}, {"obs": (called,)})
    assert set(part.words.split()) <= {*called.split(), "…"}
    assert len(part.words) <= 33 or len(part.words.split()) <= 2


def test_what_is_moved_leads_and_few_numbers_all_do() -> None:
    things = ("goal of the object", "fingertip", "object")
    names = tuple(f"{axis}-coordinate of the {thing}" for thing in things for axis in "xyz")
    states = np.random.default_rng(1).normal(size=(50, 9)).cumsum(axis=0)
    story = generic_story(Recording(states={"o": states}, actions={}), {"o": names})
    assert [row[0] for row in story.last][1:7] == [f"o[{place}] {axis} {what}" for place, axis, what in (
        (3, "x", "fingertip"), (4, "y", "fingertip"), (5, "z", "fingertip"),
        (6, "x", "object"), (7, "y", "object"), (8, "z", "object"),
    )]
    still = np.concatenate([np.zeros((50, 2)), states[:, :2]], axis=1)
    few = generic_story(Recording(states={"o": still}, actions={}), {"o": ()})
    assert [row[0] for row in few.last][1:] == ["o[0]", "o[1]", "o[2]", "o[3]"]


def test_steps_around_changes_of_stages_are_shown() -> None:
    """The last change before the last steps, then what happened seldom, after the longest stage first."""
    steps = 400
    stages = [["wait", 0], ["swing", 20], ["push", 30], ["swing", 110], ["push", 120], ["fall", 390]]
    recording = Recording(
        states={"obs": np.sin(np.arange(steps + 1) / 9)[:, None]}, actions={"a": np.zeros(steps)},
        info={"policy_stages": stages},
    )
    story = generic_story(recording, {"obs": ()})
    assert story.notes[0] == (
        "the program's stages by step: "
        "wait 0-19, swing 20-29, push 30-109, swing 110-119, push 120-389, fall 390-400"
    )
    head, named, *rows = story.last
    columns = " ".join(head[1:]).split(" | ")
    assert [block.split()[0] for block in columns] == ["18", "108", "118", str(steps + 1 - LAST + 15)]
    assert columns[0] == "18 19 20 21 22" and columns[-1].split()[-1] == "400" and len(head) == 1 + LAST + 3
    assert named[0] == "the program's stage"
    assert {step: name for step, name in zip(head[1:], named[1:], strict=True) if name not in ("", "|")} == {
        "18": "wait", "20": "swing", "108": "push", "110": "swing", "118": "swing", "120": "push",
        "386": "push", "390": "fall",
    }
    assert rows[0][1] == "0.91" and all(row[6] == "|" for row in rows)


def test_of_ranked_rows_the_last_are_left_out() -> None:
    rows = tuple((f"row {place}", "1") for place in range(MAX_ROWS + 3))
    lines = story_text(Story(head=("step", "0"), rows=rows, ranked=True)).splitlines()
    shown = [line.split("  ")[0] for line in lines[1:]]
    assert shown == [*(name for name, _ in rows[:MAX_ROWS]), "… 3 rows are left out"]


def test_each_kind_of_change_is_shown_before_a_second_one_of_its_kind() -> None:
    cycle = ["stand", "push", "fly"]
    stages = [[cycle[place % 3], 40 * place] for place in range(12)]
    recording = Recording(
        states={"obs": np.sin(np.arange(481) / 9)[:, None]}, actions={"a": np.zeros(480)},
        info={"policy_stages": stages},
    )
    story = generic_story(recording, {"obs": ()})
    head, named, *_ = story.last
    begun = {name for step, name in zip(head[1:], named[1:], strict=True) if step.isdecimal() and int(step) % 40 == 0}
    assert begun >= {*cycle}
    assert story.notes[1] == "steps in an entry: stand 40 (4 times), push 40 (4 times), fly 40 to 41 (4 times)"


def test_steps_around_changes_of_contacts_are_shown_where_there_are_no_stages() -> None:
    time = np.arange(301)
    contact = ((time > 40) & (time < 200)).astype(float)
    states = np.stack([np.sin(time / 9), contact], axis=1)
    head, *_ = generic_story(Recording(states={"o": states}, actions={}), {"o": ("angle", "contact of the foot")}).last
    assert " ".join(head[1:]).split(" | ")[:2] == ["39 40 41 42 43", "198 199 200 201 202"]


def test_conditions_are_the_small_constants_and_success_is_secret() -> None:
    story = generic_story(CART)
    assert story.conditions == {"goal": "1.25 -0.50", "room": "hall"}
    assert "success" not in story_text(story)


def test_numbers_that_others_show_have_no_row() -> None:
    numbers = np.outer(TIME, np.arange(1, 21))
    turns = np.minimum(TIME, 30.0)
    story = generic_story(Recording(states={"a": numbers, "b": -numbers, "c": turns}, actions={}))
    assert [row[0] for row in story.rows] == ["a[19]", "c"]


def test_swinging_numbers_are_described_and_equal_ones_shown_once() -> None:
    swinging = [np.sin(TIME * (10 + place)) * 100 for place in range(MAX_ROWS)]
    body = np.stack([*swinging, TIME], axis=1)
    over = np.arange(len(TIME)) == len(TIME) - 1
    story = generic_story(Recording(states={"body": body, "again": TIME.astype(float), "over": over}, actions={}))
    names = [row[0] for row in story.rows]
    assert f"body[{MAX_ROWS}]" in names
    assert any(note.startswith("swinging: body[") for note in story.notes)
    assert not {"again", "over"} & {*names}, "equal to an earlier number, or the end of the episode"
    assert not any("never changed" in note for note in story.notes)


def test_a_domain_tells_its_own_story() -> None:
    class Narrator:
        def story(self, recording: Recording) -> Story:
            return Story(rows=(("one", "two"),))

    assert story_of(Narrator(), CART) == Story(rows=(("one", "two"),))
    assert story_of(object(), CART) == generic_story(CART)


def test_a_long_table_loses_rows_in_its_middle() -> None:
    story = Story(head=("step", "hand"), rows=tuple((str(row), "x") for row in range(20)), notes=("the end",))
    lines = story_text(story).splitlines()
    assert (lines[1], lines[-2], lines[-1]) == ("0     x", "19    x", "the end")
    assert lines[7] == "… 8 rows are left out" and len(lines) == MAX_ROWS + 3


@given(stories, st.integers(1, MAX_STORY))
def test_every_story_is_bounded_and_printable(story: Story, limit: int) -> None:
    text = story_text(story, limit)
    assert len(text) <= limit
    text.encode()
    conditions = shown_conditions(story)
    assert len(conditions) <= MAX_CONDITIONS
    json.dumps(conditions, allow_nan=False, ensure_ascii=False).encode()


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    steps = draw(st.integers(0, 12))

    def fields(rows: int, prefix: str) -> dict[str, np.ndarray]:
        kinds = hnp.boolean_dtypes() | hnp.integer_dtypes() | hnp.floating_dtypes() | hnp.unicode_string_dtypes()
        shapes = hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=30)
        arrays = [draw(hnp.arrays(draw(kinds), (rows, *draw(shapes)))) for _ in range(draw(st.integers(1, 3)))]
        return {f"{prefix}{place}": array for place, array in enumerate(arrays)}

    return Recording(states=fields(steps + 1, "s"), actions=fields(steps, "a"), constants=fields(3, "c"))


@settings(deadline=None, max_examples=60)
@given(recordings())
def test_every_recording_has_a_story(recording: Recording) -> None:
    story = generic_story(recording)
    text = story_text(story)
    assert 0 < len(text) <= MAX_STORY
    text.encode()
    assert len(story.rows) <= MAX_ROWS
    assert story == generic_story(recording)
