"""The feedback on candidates in prompts is bounded, fenced, and complete."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from memento.agents.episode_table import MAX_ROWS, metrics_table
from memento.agents.feedback import (
    MAX_EPISODES,
    fault_text,
    faults_text,
    policy_feedback,
    rollouts_table,
)
from memento.core.faults import Fault, FaultKind
from memento.core.figures import figure_of
from memento.core.metrics import OMITTED, aggregate, flat_metrics
from memento.core.text import fenced_text
from memento.core.values import EpisodeNotes, FreshRecord, Program, Score, Stage

from ..support.prompt_samples import EPISODES, SCORES, candidate, episode

names = st.sampled_from(["mean", "rate", "count", "most_common", "…", "omitted", "a|b", "`" * 9, "x\n" * 90, "\ud800"])
leaves = st.none() | st.booleans() | st.integers() | st.floats() | names
json = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=8)


@given(st.text(alphabet=st.sampled_from("`~a\n ")))
def test_nothing_gets_out_of_a_fence(text: str) -> None:
    block = fenced_text(text)
    opening, *inside, closing = block.split("\n")
    fence = re.match("`+", opening)[0]
    assert closing == fence
    assert len(fence) >= 3
    assert not any(fence in line for line in inside)
    assert "\n".join(inside) == text.rstrip()


def test_fitness_of_every_episode_is_shown() -> None:
    text = policy_feedback(candidate(), "metrics")
    assert "F = 0.4000" in text
    assert re.search(r"^2 +Track1 +0\.2000 +off the track$", text, re.MULTILINE)
    assert re.search(r"^f_e +0\.0000 +0\.2000 +0\.4000 +1\.0000 +0\.4000$", policy_feedback(candidate()), re.MULTILINE)


def test_the_commonest_faults_come_first_with_their_count() -> None:
    def fault(message: str, trace: str = "") -> Fault:
        return Fault(kind=FaultKind.CRASHED, message=message, traceback=trace)

    faults = [fault("a"), fault("b", "first"), fault("b", "second"), fault("c"), fault("d")]
    assert faults_text(faults) == "2 × crashed: b\nfirst\n1 × crashed: a\n1 × crashed: c\n… and 1 other kinds"
    assert faults_text([]) == ""


def test_long_tracebacks_keep_head_and_tail() -> None:
    text = fault_text(Fault(kind=FaultKind.CRASHED, message="m", traceback="HEAD" + "x" * 9000 + "TAIL"))
    assert "HEAD" in text
    assert text.endswith("TAIL")
    assert len(text) < 1300


def test_many_episodes_are_truncated_with_a_note() -> None:
    table = rollouts_table([episode(index) for index in range(MAX_EPISODES + 6)])
    assert "… and 6 more" in table
    assert len(table.splitlines()) == MAX_EPISODES + 4


def test_evaluator_writers_see_successes() -> None:
    table = rollouts_table([EPISODES[0], episode(1, success=True), episode(2)])
    ends = [line.split("200")[1].strip() for line in table.splitlines() if "200" in line]
    assert ends == ["success", "horizon, with success", "horizon"]


def test_whole_numbers_stay_whole() -> None:
    table = metrics_table(aggregate([
        Score(fitness=0.0, metrics={"steps": 11999, "far_m": 1e12, "dist_m": 0.123456}),
        Score(fitness=0.0, metrics={"steps": 11997, "far_m": 1e12, "dist_m": 0.5}),
    ]), 2)
    assert re.search(r"^steps +11998 +11997 +11999$", table, re.MULTILINE)
    assert "0.1235" in table
    assert table.endswith("the same in all 2 episodes: far_m 1e+12")


def test_what_no_episode_reached_is_named() -> None:
    lifts = [4.5, *[None] * 9]
    scores = [Score(fitness=0.0, metrics={"grasp_s": None, "lift_s": lift}) for lift in lifts]
    table = metrics_table(aggregate(scores), 10)
    assert re.search(r"^lift_s +4\.5 +4\.5 +4\.5 +in 1 of 10$", table, re.MULTILINE)
    assert table.endswith("never (0 of 10): grasp_s")


@given(st.dictionaries(names, json))
@example({"mean": {"mean": None, "count": "\ud800"}})
@settings(deadline=None, max_examples=40)
def test_any_metrics_make_a_bounded_table(metrics: dict) -> None:
    for table in (metrics_table(metrics, 1), metrics_table(aggregate([Score(fitness=0.0, metrics=metrics)]), 1)):
        assert len(table) < 30_000
        table.encode()


labels = st.text("abcdefg_", min_size=3, max_size=12)
values = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1e3, 1e3) | st.sampled_from(["go", "word " * 9])
measured = st.recursive(values, lambda inner: st.lists(inner, max_size=9) | st.dictionaries(labels, inner, max_size=4))


@pytest.mark.slow
@pytest.mark.parametrize("detail", ["stories", "metrics"])
@given(data=st.data(), count=st.integers(1, 6))
@settings(deadline=None, max_examples=40)
def test_no_metric_is_lost_on_the_way_to_a_prompt(detail: str, data: st.DataObject, count: int) -> None:
    names = data.draw(st.lists(labels, max_size=8, unique=True))
    scores = tuple(
        Score(fitness=data.draw(st.floats(0, 1)), metrics={name: data.draw(measured) for name in names})
        for _ in range(count)
    )
    whole = replace(candidate(), scores=scores, episodes=tuple(map(episode, range(count))), metrics=aggregate(scores))
    text = policy_feedback(whole, detail)
    summary = aggregate(scores)
    assert OMITTED in summary or {name for score in scores for name in flat_metrics(score.metrics)} == set(summary)
    for name in summary:
        assert re.search(rf"(^|[ ,]){re.escape(name)}([ ,]|$)", text, re.MULTILINE), name
    assert OMITTED not in summary or "more are left out" in text


@pytest.mark.parametrize("detail", ["stories", "metrics"])
def test_success_is_a_secret(detail: str) -> None:
    failed = tuple(
        replace(each, ended_by="horizon", success=False, steps=300) if each.ended_by == "success" else each
        for each in EPISODES
    )
    assert failed != EPISODES
    whole = candidate()
    assert policy_feedback(replace(whole, episodes=failed, success_rate=0.0), detail) == policy_feedback(whole, detail)


def test_the_worst_and_the_best_episode_are_described() -> None:
    text = policy_feedback(candidate())
    assert re.findall(r"The (\w+) episode, number (\d) \(f_e = (.*)\):", text) == [
        ("worst", "3", "0.0000"), ("best", "0", "1.0000"),
    ]
    assert "stages: drive from step 0 (150 steps, entered 2 times), brake" in text
    assert 'report: estimate.goal_m 1.5; sure yes; trial "second"' in text
    assert "CPU time of a call: median under 1 ms" in text
    assert "The only episode, number 0" in policy_feedback(
        replace(candidate(), episodes=EPISODES[:1], scores=candidate().scores[:1])
    )


def test_episodes_of_old_logs_have_no_story() -> None:
    old = replace(candidate(), episodes=tuple(replace(each, notes=EpisodeNotes()) for each in EPISODES))
    assert "The worst episode" not in policy_feedback(old)


words = st.text("a`#\n\x07\ud800 ", max_size=3000)
notes = st.builds(
    EpisodeNotes,
    story=words,
    conditions=st.dictionaries(words, st.none() | st.booleans() | st.floats() | words, max_size=8),
    begins_solved=st.booleans(),
    stages=st.lists(st.builds(Stage, name=words, first_step=st.integers(0, 9)), max_size=24).map(tuple),
    printed=words,
    report=st.dictionaries(words, st.none() | st.booleans() | st.floats() | words, max_size=24),
)


@given(notes)
@settings(deadline=None, max_examples=30)
def test_whatever_a_program_says_is_bounded_and_fenced(said: EpisodeNotes) -> None:
    noisy = tuple(replace(each, notes=said) for each in EPISODES)
    quiet = len(policy_feedback(candidate()))
    text = policy_feedback(replace(candidate(), episodes=noisy))
    assert len(text) < quiet + 2 * 5000
    text.encode()
    outside = re.sub(r"^(`{3,})text$.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "#" not in outside and "`" not in outside


@pytest.mark.parametrize(
    ("fitnesses", "words"),
    [
        ((1.0, 1.0), "the most that F can be on these episodes"),
        ((1.0, 1.0, 0.97), "Little is left to gain on these episodes: 0.0100"),
        ((0.5, 0.6), "may not have shown in these episodes"),
    ],
)
def test_feedback_says_when_little_is_left_to_gain(fitnesses: tuple[float, ...], words: str) -> None:
    scores = tuple(Score(fitness=fitness) for fitness in fitnesses)
    episodes = tuple(map(episode, range(len(scores))))
    text = policy_feedback(replace(candidate(), scores=scores, episodes=episodes, metrics={}))
    assert words in text
    assert ("left to gain" in text) == (0.97 in fitnesses)


def test_the_table_is_bounded_and_repeats_no_row() -> None:
    scores = tuple(
        Score(fitness=place / 10, metrics={"a": place, "b": place, **{f"m{n}": (place * n) % 7 for n in range(1, 40)}})
        for place in range(8)
    )
    whole = replace(
        candidate(), scores=scores, episodes=tuple(map(episode, range(8))), metrics=aggregate(scores), fitness=0.3
    )
    text = policy_feedback(whole)
    assert "the same numbers: b is a" in text
    assert len(re.findall(r"^(?:a|b|m\d+) ", text.split("More metrics")[0], re.MULTILINE)) <= MAX_ROWS


def test_feedback_states_one_figure_of_all_known_episodes_and_never_their_success() -> None:
    fresh = FreshRecord(
        episodes=(replace(EPISODES[0], index=7), replace(EPISODES[2], index=8, steps=41, ended_by="terminated")),
        scores=(Score(fitness=0.7), Score(fitness=0.0)),
    )
    whole = replace(candidate(), episodes=EPISODES[:2], scores=SCORES[:2], fitness=0.7, success_rate=0.5, fresh=fresh)
    text = policy_feedback(whole)
    first = text.partition("\n")[0]
    assert first.startswith(
        "Fitness F = 0.5250, the mean of f_e over all 4 episodes that are known: 0.3500 over 2 fresh ones, by which it "
        "was not selected, and 0.7000 over the 2 of the search, on which it is compared with other programs. They "
        "range from 0 to 1"
    )
    assert first.endswith(
        "1 of 4 episodes ended early (terminated): as far as 4 can show, 5 to 70 % of all starts do."
    )
    assert "success" not in first
    assert "Fresh episodes that went worse than those above: 1 of the 2 fresh episodes." in text
    assert re.search(r"^8 +0\.0000 +terminated after 41 steps$", text, re.MULTILINE)
    assert "The worst episode, number 1" in text and "The worst fresh episode, number 8 (f_e = 0.0000):" in text
    alike = replace(fresh, episodes=fresh.episodes[:1], scores=fresh.scores[:1])
    assert "The best episode" in policy_feedback(replace(whole, fresh=alike))


@given(
    own=st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["horizon", "success", "fell", "fault"])), min_size=1,
                 max_size=6),
    fresh=st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["horizon", "fell"])), max_size=6),
)
def test_a_figure_counts_every_known_episode_once(own: list[tuple[float, str]], fresh: list[tuple[float, str]]) -> None:
    def parts(of: list[tuple[float, str]]) -> dict:
        episodes = tuple(episode(place, ended_by=ending) for place, (_, ending) in enumerate(of))
        return {"episodes": episodes, "scores": tuple(Score(fitness=f) for f, _ in of)}

    whole = replace(candidate(), **parts(own), fitness=sum(f for f, _ in own) / len(own))
    whole = replace(whole, fresh=FreshRecord(**parts(fresh)) if fresh else None)
    figure, every = figure_of(whole), [*own, *fresh]
    assert figure.fitness == pytest.approx(sum(f for f, _ in every) / len(every))
    assert (figure.episodes, figure.fresh) == (len(every), len(fresh))
    assert figure.ended_early == sum(ending in ("fell", "fault") for _, ending in every)
    assert (figure.on_fresh is None) == (not fresh)
    if figure.on_fresh is not None:
        low, high = sorted((whole.fitness, figure.on_fresh))
        assert low - 1e-12 <= figure.fitness <= high + 1e-12, "between both, so never the luckier one"


def test_feedback_names_what_never_ran_in_any_episode() -> None:
    program = Program("class P:\n    def act(self, x):\n        if x > 3:\n            return 1\n        return 0\n\n"
                      "    def again(self):\n        return 2\n")
    parent = candidate(program)
    ran = [replace(each, notes=replace(each.notes, ran="01" if each.index else "")) for each in parent.episodes]
    text = policy_feedback(replace(parent, episodes=tuple(ran)))
    assert "These bodies never ran in 3 of the 4 episodes of which it is known, so nothing shows" in text
    assert "\nP.act: if x > 3\nP.again: the whole of it\n" in text
    all_ran = [replace(each, notes=replace(each.notes, ran="07")) for each in parent.episodes]
    assert "never ran" not in policy_feedback(replace(parent, episodes=tuple(all_ran)))
    assert "never ran" not in policy_feedback(parent)
    long = Program("class P:\n" + "".join(f"    def m{n}(self):\n        pass\n" for n in range(99)))
    bare = [replace(each, notes=replace(each.notes, ran="00" * 13)) for each in parent.episodes]
    assert "and 85 more" in policy_feedback(replace(parent, program=long, episodes=tuple(bare)))
