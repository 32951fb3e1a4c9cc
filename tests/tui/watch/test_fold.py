"""The fold: in pieces as at once, agreeing with the questions that memory answers, harmless for any facts."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    Fact,
    ProposalMade,
    RunStarted,
    SpeculationEnded,
    StageEntered,
)
from memento.core.values import Call, Candidate, Document, Episode, Operator, Program
from memento.memory.queries import (
    active_seconds,
    list_candidates,
    list_generations,
    list_rejections,
    summarise,
)
from memento.tui.view import View, after
from memento.tui.watch import panels
from memento.tui.watch.facts import words_of
from memento.tui.watch.fold import fold
from memento.tui.watch.snapshot import Sight
from memento.tui.watch.view import RunView, branch_of, owner_of, time_left_s

from ...support.story import STORY
from ...support.strategies import PATIENT
from ...support.strategies import facts as any_facts
from .recording import BEGAN


@dataclass(frozen=True)
class At:
    seq: int
    at: float
    fact: Fact


def dated(facts: Sequence[Fact], step_s: float = 1.0) -> list[At]:
    return [At(place, BEGAN + step_s * place, fact) for place, fact in enumerate(facts, start=1)]


@settings(PATIENT, max_examples=50)
@given(st.lists(any_facts, max_size=30), st.data())
def test_folding_in_pieces_is_folding_at_once(facts: list[Fact], data: st.DataObject) -> None:
    entries = dated(facts)
    cut = data.draw(st.integers(0, len(entries)))
    first = fold(RunView(), entries[:cut])
    kept = fold(RunView(), entries[:cut])
    assert fold(first, entries[cut:]) == fold(RunView(), entries)
    assert first == kept, "the view that was folded on is as it was"
    piecemeal = RunView()
    for entry in entries:
        piecemeal = fold(piecemeal, [entry])
    assert piecemeal == fold(RunView(), entries)


@settings(PATIENT, max_examples=40)
@given(st.lists(any_facts, max_size=20), st.integers(40, 130), st.integers(3, 40))
def test_any_facts_can_be_drawn(facts: list[Fact], width: int, height: int) -> None:
    view = fold(RunView(), dated(facts))
    sight = Sight(folder=None, view=view, live=True)  # type: ignore[arg-type]
    for name in ("slots", "fitness", "elites", "memory", "workers", "spending"):
        drawn = getattr(panels, f"draw_{name}")(sight, width=width, height=height, now=BEGAN)
        assert len(drawn.plain.split("\n")) <= height
        assert max(line.cell_length for line in drawn.split("\n")) <= width
    for fact in facts:
        assert "\n" not in words_of(fact)


@settings(PATIENT, max_examples=50)
@given(st.lists(any_facts, max_size=20))
def test_the_older_view_folds_any_facts_and_leaves_the_one_before_alone(facts: list[Fact]) -> None:
    view = View()
    for fact in facts:
        before, again = after(view, fact, now_s=1.0), after(view, fact, now_s=1.0)
        assert before == again
        view = before


@pytest.mark.parametrize("upto", [1, 5, 12, 14, 19, 24, len(STORY)])
def test_a_made_up_run_agrees_with_the_questions_of_memory(upto: int) -> None:
    agree([At(place, BEGAN + place, fact) for place, fact in enumerate(STORY[:upto], start=1)])


def test_a_real_run_agrees_with_the_questions_of_memory(facts: list[tuple[float, Fact]]) -> None:
    entries = [At(place, BEGAN + at, fact) for place, (at, fact) in enumerate(facts, start=1)]
    for upto in (1, 10, len(entries) // 2, len(entries)):
        agree(entries[:upto])


def agree(entries: list[At]) -> None:
    facts = [entry.fact for entry in entries]
    view, summary = fold(RunView(), entries), summarise(facts)
    assert (view.status, view.stage or None) == (summary.status, summary.stage)
    assert (view.settled, view.failed, view.episodes) == (summary.candidates, summary.failed, summary.episodes_run)
    assert view.spending == summary.spending
    assert view.final == summary.final
    assert view.active_s == pytest.approx(active_seconds((entry.at, entry.fact) for entry in entries))
    rows = {row.id: row for row in list_candidates(facts)}
    known = {key: slot for key, slot in view.candidates.items() if key in rows}
    assert known.keys() == rows.keys()
    for key, row in rows.items():
        slot = known[key]
        assert (slot.fitness, slot.success_rate, slot.bound) == (row.fitness, row.success_rate, row.bound), key
        assert (slot.summary, slot.parents, slot.fault) == (row.summary, row.parents, row.fault)
        assert (slot.rolled, slot.elite_of, slot.same_as) == (row.episodes, row.elite_of, row.duplicate_of)
        assert (slot.state == "accepted") == (row.accepted is True)
    assert [(each.generation, each.candidate) for each in view.elites] == [
        (row.generation, row.elite) for row in list_generations(facts)
    ]
    remembered: dict[int, list[object]] = {}
    for entry in view.memory:
        remembered.setdefault(entry.generation, []).append(entry.rejection)
    assert {key: tuple(each) for key, each in remembered.items()} == list_rejections(facts)


CALL = Call(model="m", prompt=Document("?"), reply=Document("!"))


def made(order: str) -> ProposalMade:
    return ProposalMade(order=order, program=Program("x"), summary="s", call=CALL)


def test_a_branch_that_nobody_knows_is_folded_as_any_other() -> None:
    facts = [made("g3/isle-7/lagoon/4"), EpisodeEnded(order="g3/isle-7/lagoon/4/e0", episode=Episode(
        index=0, seed=0, steps=7, ended_by="horizon", success=False))]
    slot = fold(RunView(), dated(facts)).candidates["g3/isle-7/lagoon/4"]
    assert (slot.generation, slot.branch, slot.place, slot.state, slot.rolled) == (3, "isle-7/lagoon", 4, "rolling", 1)


def test_what_was_asked_ahead_and_withdrawn_leaves_no_trace() -> None:
    ahead = made("g1/hill/1/ahead")
    kept = SpeculationEnded(order="g1/hill/1/ahead", slot="g1/hill/1", kept=True, answered=True)
    lost = SpeculationEnded(order="g1/hill/1/ahead", slot="g1/hill/1", kept=False, answered=True)
    assert fold(RunView(), dated([ahead, kept])).candidates["g1/hill/1"].state == "proposed"
    assert not fold(RunView(), dated([ahead, lost])).candidates
    again = fold(RunView(), dated([ahead, lost, made("g1/hill/1")]))
    assert again.candidates["g1/hill/1"].state == "proposed"
    assert again.spending.total.calls == 2


def test_a_duplicate_says_of_whom() -> None:
    facts = [made("g1/macro/0"), DuplicateFound(order="g1/macro/0", candidate="g1/macro/0", of="init/0", episodes=2)]
    assert fold(RunView(), dated(facts)).candidates["g1/macro/0"].same_as == "init/0"


def test_what_is_open_when_its_generation_is_over_was_withdrawn() -> None:
    elite = EliteChanged(generation=1, candidate="g1/hill/0", origin=Operator.HILL_CLIMB, fitness=0.5, success_rate=0.0)
    view = fold(RunView(), dated([made("g1/hill/0"), made("g1/hill/1"), made("g2/hill/0"), elite]))
    assert view.candidates["g1/hill/1"].state == "withdrawn"
    assert view.candidates["g2/hill/0"].state == "proposed"


@pytest.mark.parametrize(
    ("order", "owner"),
    [("g1/macro/7", "g1/macro/7"), ("g1/macro/7/e3", "g1/macro/7"), ("g1/macro/7/e3/score", "g1/macro/7"),
     ("eval/g1/3/examine", "eval/g1/3"), ("g2/hill/7/ahead", "g2/hill/7"), ("e0", "e0"), ("", "")],
)
def test_whom_an_order_is_about(order: str, owner: str) -> None:
    assert owner_of(order) == owner


def test_what_an_id_names() -> None:
    assert branch_of("g2/hill/7") == (2, "hill", 7)
    assert branch_of("eval/g1/judge/4") == (1, "judge", 4)
    assert branch_of("g5/3") == (5, "", 3)
    assert branch_of("nonsense") == (0, "", 0)


def test_the_time_left_is_that_of_the_search_so_far() -> None:
    words = {"method": "memento", "generations": 2, "k_hc": 2, "k_macro": 2, "k_cross": 1, "final_episodes": 4,
                "workers": 2}
    facts: list[Fact] = [RunStarted(settings=words, versions={}), StageEntered(stage="search")]
    for slot in range(4):
        name = f"g1/macro/{slot}"
        facts.append(EpisodeEnded(order=f"{name}/e0", episode=Episode(
            index=0, seed=0, steps=9, ended_by="horizon", success=False, wall_s=2.0)))
        facts.append(CandidateScored(order=name, candidate=Candidate(
            id=name, program=Program("x"), operator=Operator.MACRO, generation=1, slot=slot, fitness=0.5)))
    view = fold(RunView(), dated(facts))
    # Four of ten candidates in eight seconds; then eight episodes of two seconds, two at once.
    assert time_left_s(view, now=BEGAN + 10) == pytest.approx(8 / 4 * 6 + 8)
    assert time_left_s(fold(RunView(), dated(facts[:4])), now=BEGAN + 10) is None


def test_a_branch_for_any_word_has_one_lane_and_an_unknown_branch_its_own() -> None:
    def lanes(method: str, *orders: str) -> list[str]:
        words = {"method": method, "generations": 2, "k": 3, "k_hc": 2, "k_macro": 1, "k_cross": 1, "n_roll": 2}
        elite = EliteChanged(generation=0, candidate="init/0", origin=Operator.INITIAL, fitness=0.1, success_rate=0.0)
        facts = [RunStarted(settings=words, versions={}), StageEntered(stage="search"), elite, *map(made, orders)]
        sight = Sight(folder=None, view=fold(RunView(), dated(facts)))  # type: ignore[arg-type]
        return panels.draw_slots(sight, width=80, height=5, now=BEGAN).plain.split("\n")

    assert lanes("revolve", "g1/macro/0", "g1/cross/2")[0].split() == ["islands", "p", "·", "p"]
    shown = [line.split() for line in lanes("memento", "g1/hill/0", "g1/isle/1")]
    assert shown[0] == ["climb", "p", "·"]
    assert ["isle", "·", "p"] in shown
