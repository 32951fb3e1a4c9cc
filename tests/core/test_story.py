"""Stories are bounded tables of what happened, for every recording of every domain."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from memento.core.generic_story import generic_story, story_of
from memento.core.recording import Recording
from memento.core.story import MAX_CONDITIONS, MAX_ROWS, MAX_STORY, Story, shown_conditions, story_text

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


def test_numbers_at_ten_points_of_time_and_sudden_changes() -> None:
    lines = story_text(generic_story(CART)).splitlines()
    cells = {line.split()[0]: line.split()[1:] for line in lines if " -> " not in line}
    assert cells["step"] == ["0", "4", "9", "13", "18", "22", "27", "31", "36", "40"]
    assert cells["position[0]"][:3] == ["0.00", "0.20", "0.45"]
    assert cells["held"] == ["no"] * 7 + ["yes"] * 3
    assert len(cells["push"]) == 9, "the last state has no action"
    events = [line for line in lines if " -> " in line]
    assert events == ["step 13: phase go -> stop", "step 20: height 0.900 -> 0.100", "step 31: held no -> yes"]
    assert lines[-1] == "never changed: rail, rounding"
    assert "position[1]" not in cells


def test_conditions_are_the_small_constants_and_success_is_secret() -> None:
    story = generic_story(CART)
    assert story.conditions == {"goal": "1.25 -0.50", "room": "hall"}
    assert "success" not in story_text(story)


def test_of_many_numbers_every_field_keeps_some() -> None:
    numbers = np.outer(TIME, np.arange(1, 21))
    wide = Recording(states={"a": numbers, "b": -numbers}, actions={})
    story = generic_story(wide)
    names = [row[0] for row in story.rows]
    assert names == [f"{name}[{place}]" for name in "ab" for place in range(14, 20)]
    assert "28 more numbers that change are left out" in story.notes


def test_steady_numbers_come_before_swinging_ones_and_equal_ones_once() -> None:
    swinging = [np.sin(TIME * (10 + place)) * 100 for place in range(MAX_ROWS)]
    body = np.stack([*swinging, TIME], axis=1)
    over = np.arange(len(TIME)) == len(TIME) - 1
    story = generic_story(Recording(states={"body": body, "again": TIME.astype(float), "over": over}, actions={}))
    names = [row[0] for row in story.rows]
    assert f"body[{MAX_ROWS}]" in names and len(names) == MAX_ROWS
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
