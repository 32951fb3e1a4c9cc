"""Which episodes are described, and what is shown of what a program printed."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from memento.agents.episode_table import report_words
from memento.agents.stories import MAX_PRINTED, course_of, stories, story_within
from memento.core.values import EpisodeNotes, Score

from ..support.prompt_samples import candidate, episode


def described(*each: tuple[float, int], printed: str = "x") -> str:
    episodes = [
        replace(episode(place, notes=EpisodeNotes(story=f"story {place}", printed=printed)), steps=steps)
        for place, (_, steps) in enumerate(each)
    ]
    scores = tuple(Score(fitness=fitness) for fitness, _ in each)
    return stories(replace(candidate(), episodes=tuple(episodes), scores=scores))


def test_of_equal_episodes_the_longest_is_described() -> None:
    text = described((1.0, 130), (1.0, 187), (1.0, 150))
    assert text.startswith("The longest (f_e is the same in all) episode, number 1 (f_e = 1.0000):")
    assert text.count("story") == 1


def test_the_worst_and_the_best_episode_are_described() -> None:
    text = described((0.2, 9), (0.2, 9), (0.2, 9), (0.7, 9))
    assert "The worst episode, number 0" in text and "The best episode, number 3" in text
    assert described((0.2, 9)).startswith("The only episode, number 0")
    alike = described((0.394, 9), (0.392, 9), (0.396, 9))
    assert alike.startswith("The worst (f_e hardly differs) episode, number 1") and alike.count("story") == 1


def test_a_parent_shows_the_course_of_the_episode_in_which_the_other_does_better_by_most() -> None:
    told = tuple(episode(place, notes=EpisodeNotes(story=f"story {place}")) for place in range(3))
    one, other = (
        replace(candidate(), episodes=told, scores=tuple(map(score, each)))
        for each in ((0.1, 0.5, 0.9), (0.2, 0.9, 0.3))
    )
    assert course_of(one, other, "parent B").startswith(
        "The course of episode 1 (f_e = 0.5000), in which parent B has 0.9000:\n\n```text\nstory 1"
    )
    assert course_of(other, one, "parent A").startswith("The course of episode 2 (f_e = 0.3000), in which parent A has")
    assert course_of(one, one, "parent B").startswith("The course of episode 0 (f_e = 0.1000):"), "its worst"
    assert course_of(replace(one, scores=()), other, "parent B") == ""


STORY = "\n".join([
    "step        0     9     18", "obs[0] x    0.0   1.0   2.0", *(f"a note, number {place}" for place in range(20)),
    "steps at changes, and the last" + "".join(f"  {step:>4}" for step in range(20)),
    *(f"row {row:<26}" + "".join(f"  {row + step:>4}" for step in range(20)) for row in range(18)),
])


@given(st.integers(500, len(STORY) + 9))
def test_a_story_gets_shorter_by_whole_lines_and_its_last_table_keeps_its_head(limit: int) -> None:
    lines = story_within(STORY, limit).splitlines()
    added = [line for line in lines if line not in STORY.splitlines()]
    assert len("\n".join(lines)) <= limit
    assert all(re.fullmatch(r"… \d+ (?:lines? left out …|rows? left out)", line) for line in added)
    assert any(line.startswith("steps at changes") for line in lines)
    kept = sum(line.startswith("row ") for line in lines)
    assert kept >= 8 or sum("note" in line for line in lines) <= 2, "the steps go last"
    left = sum(int(line.split()[1]) for line in added)
    assert len(lines) - len(added) + left == len(STORY.splitlines())


@given(st.text(max_size=300), st.integers(1, 320))
def test_any_story_fits_its_bound(story: str, limit: int) -> None:
    assert len(story_within(story, limit)) <= limit


def test_a_report_is_cut_between_its_entries() -> None:
    report = {f"name_{place}": place for place in range(99)}
    shown = report_words(report, 100).split("; ")
    assert shown[-1] == f"and {99 - len(shown) + 1} more" and shown[:2] == ["name_0 0", "name_1 1"]
    assert all(entry in {f"{name} {value}" for name, value in report.items()} for entry in shown[:-1])
    assert report_words({"a": 1}, 100) == "a 1" and report_words({}, 9) == ""


def score(fitness: float) -> Score:
    return Score(fitness=fitness)


def test_whole_lines_of_what_was_printed_are_shown_and_counted() -> None:
    printed = "…\n" + "\n".join(f"line {place:>3} " + "." * 90 for place in range(20))
    text = described((0.5, 9), printed=printed)
    shown = [line for line in text.splitlines() if line.startswith("line ")]
    assert f"printed, its last {len(shown)} lines:" in text
    assert 5 < len(shown) < 20 and all(line.endswith("." * 90) for line in shown)
    long = described((0.5, 9), printed="y" * 5000)
    assert "printed, its last 1 line:" in long and len(long) < MAX_PRINTED + 400
