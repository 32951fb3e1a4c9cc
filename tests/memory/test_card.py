"""The card of a run: what unseen episodes say of luck, the purposes of episodes, and lines that come back."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.events import (
    EliteChanged,
    EliteChosen,
    EnvironmentRemembered,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    FinalMeasured,
    RobustMeasured,
    RunStarted,
)
from memento.core.faults import Fault, FaultKind
from memento.core.order_ids import final as final_id
from memento.core.order_ids import parse
from memento.core.values import Episode, Operator, Ranked, Score
from memento.memory.card import (
    HOLDS,
    OVERSTATED,
    TOO_FEW,
    UNDERSTATED,
    Card,
    card_of,
    card_words,
    luck_words,
    measured_names,
    reintroduction_share,
)
from memento.memory.run_view import view_of_facts

from ..evidence.logs import log


def final(
    values: Sequence[float], *, search: float, evaluator: str = "reference", success: float | None = None,
    who: str = "elite", faults: int = 0, before: Sequence[Fact] = (),
) -> Card:
    """The card of a run whose elite had `search` in the search and these f_e on unseen episodes."""
    won = None if success is None else sum(value > 0.5 for value in values) / len(values)
    facts: list[Fact] = [
        RunStarted(settings={"evaluator": evaluator}, versions={}, sandbox=()),
        *before,
        EliteChanged(generation=1, candidate="g1/macro/0", origin=Operator.MACRO, fitness=search, success_rate=success),
    ]
    for index, value in enumerate(values):
        order = f"final/{who}/e{index}"
        fault = Fault(kind=FaultKind.CRASHED, message="") if index < faults else None
        facts.append(EpisodeEnded(order=order, episode=Episode(
            index=index, seed=index, steps=1, ended_by="horizon", success=value > 0.5, fault=fault,
            info={"return": 100 * value},
        )))
        facts.append(EpisodeScored(order=f"{order}/score", score=Score(fitness=value)))
    facts.append(FinalMeasured(
        episodes=len(values), initial_fitness=0.0, initial_success=won, elite_fitness=sum(values) / len(values),
        elite_success=won, elite_return=100 * sum(values) / len(values),
    ))
    return card_of(view_of_facts(facts), facts, facts)


SPREAD = [0.9, 0.5, 0.7, 0.3] * 5


def test_changed_conditions_stand_beside_the_others_with_their_own_episodes() -> None:
    facts = list[Fact]()
    for conditions, values in (("", [0.5, 0.7] * 8), ("light", [0.4, 0.6] * 8), ("heavy", [0.1, 0.3] * 8)):
        for index, value in enumerate(values):
            order = str(final_id("elite", conditions).of_episode(index))
            episode = Episode(index=index, seed=index, steps=1, ended_by="horizon", success=False)
            facts.append(EpisodeEnded(order=order, episode=episode))
            facts.append(EpisodeScored(order=f"{order}/score", score=Score(fitness=value)))
        measured: dict[str, Any] = {
            "episodes": 16, "initial_fitness": 0.0, "initial_success": None, "elite_fitness": sum(values) / 16,
            "elite_success": None,
        }
        facts.append(RobustMeasured(conditions=conditions, **measured) if conditions else FinalMeasured(**measured))
    view = view_of_facts(facts)
    assert [parse(name).branch for name in measured_names(view.status)] == [
        "elite", "initial", "light/elite", "light/initial", "heavy/elite", "heavy/initial",
    ]
    card = card_of(view, facts, [])
    assert card.unseen is not None and card.unseen.fitness == pytest.approx(0.6)
    assert {name: each.fitness for name, each in card.robust.items()} == pytest.approx({"light": 0.5, "heavy": 0.2})
    heavy = card.robust["heavy"].fitness_interval
    assert heavy is not None and heavy[0] < 0.2 < heavy[1] and heavy != card.unseen.fitness_interval
    words = dict(card_words(card, "first"))
    assert words["Unseen, heavy changes"].startswith("F 0.200 [0.1")


@pytest.mark.parametrize(("values", "search", "verdict"), [
    (SPREAD, 0.62, HOLDS), (SPREAD, 0.9, OVERSTATED), (SPREAD, 0.2, UNDERSTATED), (SPREAD[:4], 0.7, TOO_FEW),
    ([0.5], 0.5, TOO_FEW), ([0.1, 0.11, 0.1, 0.11], 0.9, OVERSTATED),
])
def test_the_interval_of_unseen_episodes_decides(values: list[float], search: float, verdict: str) -> None:
    card = final(values, search=search)
    assert card.unseen is not None
    [luck] = card.luck
    assert (luck.measure, luck.verdict, card.unseen.episodes) == ("fitness", verdict, len(values))
    assert luck.gap == pytest.approx(search - sum(values) / len(values))
    if luck.gap_interval is not None:
        assert luck.gap_interval[0] <= luck.gap <= luck.gap_interval[1]
    assert bool(luck_words(card, "first")) == (verdict != HOLDS)


def test_the_sentence_names_both_figures_and_the_way_out() -> None:
    assert luck_words(final([0.769, 0.34, 0.8, 0.54], search=0.99), "first") == (
        "0.990 in the search, 0.612 [0.270, 0.955] on 4 held-out episodes: the first figure does not hold; "
        "memento rank first --episodes 64 measures its best programs"
    )


@pytest.mark.parametrize(("success", "words"), [
    (15 / 16, "success 94 % on 16 fresh episodes, 50 % [30, 70] % on 20 held-out episodes: the first figure does not"),
    (12 / 16, ""),      # two draws of one program may be that far apart
])
def test_the_gap_is_that_of_the_fresh_episodes_where_the_elite_has_them(success: float, words: str) -> None:
    won = Ranked(candidate="g1/macro/0", episodes=16, fitness=0.65, success_rate=success, failures=4)
    chosen = EliteChosen(generation=1, candidate="g1/macro/0", elite="g1/macro/0", ranking=(won,))
    card = final(SPREAD, search=0.99, success=1.0, before=[chosen])
    assert [(luck.measure, luck.stated, luck.on) for luck in card.luck] == [
        ("fitness", 0.65, "on 16 fresh episodes"), ("success", success, "on 16 fresh episodes"),
    ]
    assert luck_words(card, "first")[:len(words) or None] == words


def test_only_like_is_compared_with_like() -> None:
    evolved = final(SPREAD, search=1.0, evaluator="evolve", success=1.0)
    assert [(luck.measure, luck.unseen, luck.verdict) for luck in evolved.luck] == [("success", 0.5, OVERSTATED)]
    assert "success 100 % in the search, 50 % [30, 70] % on 20 held-out" in luck_words(evolved, "first")
    nothing = final(SPREAD, search=1.0, evaluator="evolve")
    assert nothing.luck == ()
    assert "different evaluators" in luck_words(nothing, "first")
    assert luck_words(Card(), "first") == ""


def test_the_worst_verdict_speaks() -> None:
    card = final([0.95, 0.3, 0.9, 0.4], search=0.77, success=1.0)
    assert [(luck.measure, luck.verdict) for luck in card.luck] == [("fitness", TOO_FEW), ("success", OVERSTATED)]
    assert luck_words(card, "first").startswith("success 100 % in the search, 50 % [15, 85] % on 4 held-out episodes: ")


def test_failures_and_faults_of_unseen_episodes_are_counted_also_where_p_0_is_the_elite() -> None:
    unseen = final(SPREAD, search=0.6, success=0.5, who="initial", faults=2).unseen
    assert unseen is not None
    assert (unseen.failures, unseen.faults, unseen.success) == (10, 2, 0.5)
    assert unseen.success_interval == pytest.approx((0.299, 0.701), abs=1e-3)
    assert unseen.return_interval is not None


@given(st.integers(0, 30))
def test_every_episode_of_a_run_has_a_purpose(seed: int) -> None:
    facts = log(seed=seed)
    view = view_of_facts(facts)
    for cut in (len(facts), random.Random(seed).randrange(len(facts))):
        view = view_of_facts(facts[:cut])
        card = card_of(view, [], facts[:cut])
        assert sum(card.episodes.values()) == view.status.episodes
    assert {*card.episodes} <= {"p_0", "candidates", "confirmation", "choice", "tuning", "final"}
    assert all(words for name, words in card_words(card, "first") if name == "Size" and card.elite_lines)


def test_lines_that_come_back_are_counted() -> None:
    first = "speed_limit = 1\nheight_limit = 2\n"
    texts = {
        "p": first,
        "a": "speed_limit = 3\nheight_limit = 2\n",             # deletes speed_limit = 1
        "b": "speed_limit = 1\nheight_limit = 9\nx = 1\n",      # one of two added lines comes back; x = 1 is too short
    }
    assert reintroduction_share(texts, {"a": ("p",), "b": ("a",)}) == pytest.approx(1 / 3)
    assert reintroduction_share(texts | {"c": first}, {"a": ("p",), "c": ("p",)}) == 0.0
    assert reintroduction_share({"p": first}, {}) is None
    crossed = texts | {"x": first}      # each line is in a parent: nothing is added
    assert reintroduction_share(crossed, {"a": ("p",), "b": ("a",), "x": ("p", "b")}) == pytest.approx(1 / 3)


@pytest.mark.parametrize("last", [True, False])
def test_the_note_on_a_memory_names_the_elite_that_was_rolled_out_before(last: bool) -> None:
    """Candidates of such rollouts are marked, those after it are not."""
    facts = log()
    places = [place for place, fact in enumerate(facts) if isinstance(fact, EliteChanged) and fact.changed]
    place = places[-1] if last else places[0]
    found = EnvironmentRemembered(differs="4 steps at first and 5 again", before=9, alone=True)
    view = view_of_facts([*facts[: place + 1], found, *facts[place + 1 :]])
    first, elite = facts[places[0]], facts[places[-1]]
    assert isinstance(first, EliteChanged) and isinstance(elite, EliteChanged) and first.candidate != elite.candidate
    [note] = [each for each in card_of(view, [], []).notes if "keeps something of earlier episodes" in each]
    assert f", F of {first.candidate}{f' and {elite.candidate}' if last else ''} in the search among them" in note
    early = {slot.id for slot in view.slots.candidates.values() if slot.early}
    assert (elite.candidate in early) == last and first.candidate in early
