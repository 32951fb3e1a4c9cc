"""The stories of episodes: short, in the domain's words, for every recording, and silent on the success predicate."""

from dataclasses import replace

import numpy as np
import pytest
from memento.core.ports import MAX_ROWS, Narrating, Story
from memento.core.provenance import GIVEN
from memento.core.recording import Recording
from memento.domains import load
from memento.domains.hanoi import story as hanoi_story
from memento.domains.kitchen import DOMAIN as KITCHEN
from memento.runtime.rollouts.story_text import MAX_STORY, shown_conditions, story_text

from ..reference_policies import kitchen as kitchen_reference
from ..support.rollouts import kinematic, play, solve
from .kitchen.kitchens import play as play_kitchen


@pytest.fixture(scope="module")
def tower() -> Recording:
    env = kinematic(randomisation="light")
    assert solve(env, 3) == "success"
    return env.recording()


@pytest.fixture(scope="module")
def kitchen() -> Recording:
    env = KITCHEN.environment(KITCHEN.options({}, preset="quick"))
    assert play_kitchen(env, kitchen_reference.Policy(), index=0) == "success"
    recording = env.recording()
    env.close()
    return recording


@pytest.fixture(params=["hanoi", "hanoi-kinematic", "kitchen"])
def narrated(request: pytest.FixtureRequest, tower: Recording, kitchen: Recording) -> tuple[Narrating, Recording]:
    domain = load(request.param, GIVEN)
    assert isinstance(domain, Narrating)
    return domain, kitchen if request.param == "kitchen" else tower


def test_every_beginning_of_an_episode_has_a_short_story(narrated: tuple[Narrating, Recording]) -> None:
    domain, recording = narrated
    for steps in (0, 1, 2, recording.steps // 3, recording.steps):
        story = domain.story(recording.cut(steps))
        assert 1 <= len(story.rows) <= MAX_ROWS
        assert (story.rows[0][0], story.rows[-1][0]) == ("0", str(steps))
        assert [int(row[0]) for row in story.rows] == sorted({int(row[0]) for row in story.rows})
        assert len(story_text(story)) < MAX_STORY, "no row has to leave"
        assert shown_conditions(story) == shown_conditions(domain.story(recording)), "they are those of the start"


def test_a_story_does_not_depend_on_the_success_predicate(narrated: tuple[Narrating, Recording]) -> None:
    domain, recording = narrated
    states = {**recording.states, "success": np.logical_not(recording.states["success"])}
    other = replace(recording, states=states, info={"ended_by": "horizon", "scene": "FloorPlan99"})
    assert domain.story(other) == domain.story(recording)
    assert "FloorPlan" not in story_text(domain.story(recording))


def cells(story: Story, column: int) -> list[str]:
    return [row[column] for row in story.rows]


def test_a_tower_tells_its_latest_moves(tower: Recording) -> None:
    story = load("hanoi-kinematic").story(tower)
    assert "elsewhere than taken: 15, at least 15" in story.notes[0]
    assert "4 of 4 cubes stand right on C" in story.notes[0] or "3 of 4 cubes" in story.notes[0]
    assert {"carry small", "place small"} & set(cells(story, 1))
    assert cells(story, 5)[0] == "4 0 0" and cells(story, 5)[-1] == "0 0 4"


def test_a_long_episode_is_read_in_strides(tower: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hanoi_story, "READ_ROWS", tower.steps // 3)
    story = load("hanoi").story(tower)
    assert story.rows[-1][0] == str(tower.steps) and "elsewhere than taken: 15" in story.notes[0]


def test_an_illegal_stack_and_a_pushed_container_are_noted_with_their_step() -> None:
    env = kinematic(randomisation="none")
    idle = play(env, 1, lambda *_: np.zeros(7), 20)
    cubes, boxes = idle.states["cube_pos"].copy(), idle.states["container_pos"].copy()
    cubes[12, 2] = cubes[12, 0] + [0.0, 0.0, 0.05]      # large on small
    boxes[7:, 1] += [0.03, 0.0, 0.0]
    scores = np.zeros(21)
    scores[12] = 1.0
    story = load("hanoi").story(replace(idle, states={
        **idle.states, "cube_pos": cubes, "container_pos": boxes, "illegal_score": scores}))
    assert "illegal score at most 1.00 (0.7 ends the episode): large on small at step 12" in story.notes
    assert "container B was pushed by up to 3.0 cm, first at step 7" in story.notes


def test_a_kitchen_tells_what_changed_and_what_failed(kitchen: Recording) -> None:
    story = KITCHEN.story(kitchen)
    changed = ", ".join(cells(story, 5))
    for name in ("apple_picked", "apple_in_microwave", "bread_in_fridge", "microwave_on"):
        assert name in changed
    blocked = kitchen.cut(30)
    failing = replace(blocked, actions={
        **blocked.actions, "action_success": np.zeros(30, dtype=bool),
        "error_category": np.ones(30, dtype=np.int8), "action": np.zeros(30, dtype=np.int8),
        "action_target": np.zeros(30, dtype=np.int8),
    })
    story = KITCHEN.story(failing)
    assert story.notes[0] == "failed actions: 30 x move_ahead blocked"
    assert "blocked" in cells(story, 3)
