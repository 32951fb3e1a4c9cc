"""What the keepers tell prompts of earlier edits: independent of the order of arrival, bounded, in no fact."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import CandidateRejected, CandidateScored, Order, Propose
from memento.core.values import (
    Ancestor,
    CandidateState,
    EpisodeNotes,
    FreshPair,
    Operator,
    Program,
    Rejection,
    Stage,
    Verdict,
)
from memento.memory.codec import encode
from memento.search.keepers import KEEPERS
from memento.search.lineage import LINEAGE, lineage_of
from memento.search.options import GenerationBudget
from memento.search.parts.foci import FociSettings
from memento.search.trials import brief_of, candidate_of, trial_from
from memento.search.tried import BESIDE, TRIED, last_stage, not_chosen, of_lineage

from ..support.keeper_world import Repeating, play
from ..support.prompt_samples import candidate
from ..support.searches import FULL, PLAN, budgets, make, seeds

methods = st.sampled_from(sorted(set(KEEPERS) - {"random"}))  # which asks without parents


class Noting(Repeating):
    """Notes what each order tells of earlier edits."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.shown: dict[str, tuple[object, ...]] = {}
        self.orders: list[Propose] = []

    def answer(self, order: Order):
        if isinstance(order, Propose):
            parents = [(parent.id, parent.fitness, parent.lineage) for parent in order.parents]
            self.shown[order.id] = (parents, order.rejections, order.tried, order.focus, order.elite)
            self.orders.append(order)
        return super().answer(order)


def noted(
    method: str, slots: GenerationBudget, seed: int, arrival: int, *, racing: bool, duplicates: bool
) -> tuple[Noting, list]:
    world = Noting(seed)
    keeper = make(method, slots, seed, (racing, duplicates, False), FULL, FociSettings())
    log, _ = play(keeper, world, random.Random(arrival).randrange)
    return world, log


@settings(max_examples=80, deadline=None)
@given(methods, budgets, seeds, seeds, seeds, st.booleans(), st.booleans())
def test_what_a_prompt_tells_depends_neither_on_arrival_nor_on_savings(
    method: str, slots: GenerationBudget, seed: int, one: int, other: int, racing: bool, duplicates: bool
) -> None:
    plain, _ = noted(method, slots, seed, one, racing=False, duplicates=False)
    saved, _ = noted(method, slots, seed, other, racing=racing, duplicates=duplicates)
    assert saved.shown == plain.shown


@settings(max_examples=30, deadline=None)
@given(seeds, seeds)
def test_lineage_and_attempts_are_bounded_true_and_in_no_fact(seed: int, arrival: int) -> None:
    slots = GenerationBudget(generations=4, hill_climb=12, macro=3, crossover=2)
    world, log = noted("memento", slots, seed, arrival, racing=True, duplicates=True)
    scored = {fact.candidate.id: fact.candidate for fact in log if isinstance(fact, CandidateScored)}
    for order in world.orders:
        assert len(order.tried) <= TRIED + slots.hill_climb
        for parent in order.parents:
            assert len(parent.lineage) <= LINEAGE
            known = [ancestor for ancestor in parent.lineage if ancestor.id in scored]
            assert all(ancestor.fitness == scored[ancestor.id].fitness for ancestor in known)
        assert not {one.candidate for one in order.tried} & {parent.id for parent in order.parents}
    for fact in log:
        if isinstance(fact, CandidateRejected):
            short = fact.rejection
            assert fact.rejection == Rejection(
                summary=short.summary, candidate=short.candidate, fitness_difference=short.fitness_difference,
                reason=short.reason,
            )
        if isinstance(fact, CandidateScored):
            assert not fact.candidate.lineage
            assert not fact.candidate.shape
            assert len(encode(fact).body) < 2000


def test_a_fact_names_no_metric_that_no_episode_has() -> None:
    """Older versions wrote none, and a log is continued only if it follows from the rules."""
    whole = candidate()
    known = {"never_m": {"count": 0}, "m": {"rate": 0.5, "count": 2}}
    assert brief_of(replace(whole, metrics=known)) == replace(
        whole, episodes=(), scores=(), metrics={"m": {"rate": 0.5, "count": 2}}
    )


def test_each_kind_of_rejection_is_noted() -> None:
    verdicts: set[Verdict] = set()
    for seed in range(12):
        slots = GenerationBudget(generations=2, hill_climb=8, macro=3, crossover=1)
        world, _ = noted("memento", slots, seed, 0, racing=True, duplicates=True)
        verdicts |= {one.verdict for order in world.orders for one in (*order.rejections, *order.tried)}
    assert verdicts == {*Verdict} - {Verdict.STOPPED, Verdict.REPLACED}     # of a gate, and of an evaluator that moves


def test_lost_candidates_are_compared_with_the_elite_only_where_all_are_measured() -> None:
    elite, lost = candidate(), replace(candidate(), id="g9/macro/3", fitness=0.1, operator=Operator.MACRO)
    lost = replace(lost, episodes=tuple(
        replace(episode, notes=EpisodeNotes(report={"tries": episode.index})) for episode in lost.episodes
    ))
    (raced,) = not_chosen([None, lost, elite], elite, {}, measured=False)
    assert (raced.verdict, raced.fitness_difference, raced.report) == (Verdict.NOT_CHOSEN, None, {})
    (known,) = not_chosen([None, lost, elite], elite, {}, measured=True)
    assert known.fitness_difference == 0.1 - elite.fitness
    assert known.report == {"tries": known.reported_in}
    worst = min(zip(lost.scores, lost.episodes, strict=True), key=lambda pair: pair[0].fitness)[1]
    assert known.reported_in == worst.index, "nothing changed in any episode, so the worst one speaks"


def test_a_lost_candidate_is_compared_on_the_fresh_episodes_that_both_were_seen_on() -> None:
    elite = candidate()
    lost = replace(elite, id="g9/macro/3", program=Program("B = 1"))
    records = {elite.program.text: elite, lost.program.text: replace(lost, scores=lost.scores[2:])}
    (met,) = not_chosen([lost], elite, records, measured=True)
    assert met.fresh == FreshPair(episodes=2, rejected=0.1, chosen=0.7)
    assert not_chosen([lost], elite, {elite.program.text: elite}, measured=True)[0].fresh is None


def test_an_edit_names_the_last_stage_only_where_it_is_known() -> None:
    once = Stage(name="swing", first_step=0, steps=4), Stage(name="land", first_step=4, steps=2)
    seen = candidate().episodes[0]
    assert last_stage(replace(seen, notes=EpisodeNotes(stages=once))) == "land"
    again = replace(once[0], entries=2), once[1]
    assert last_stage(replace(seen, notes=EpisodeNotes(stages=again))) == ""


def test_a_crossover_inherits_the_edits_of_both_parents_in_order() -> None:
    def parent(*names: str) -> CandidateState:
        edits = tuple(
            Ancestor(id=name, operator=Operator.HILL_CLIMB, summary=name, before=(0.0,), fitness=0.0) for name in names
        )
        return CandidateState(
            id=names[-1], program=Program(""), operator=Operator.HILL_CLIMB, generation=1, slot=0, lineage=edits
        )

    both = lineage_of([parent("init/0", "g1/hill/2", "g3/hill/10"), parent("init/0", "g1/hill/2", "g3/hill/9")])
    assert [edit.id for edit in both] == ["init/0", "g1/hill/2", "g3/hill/9", "g3/hill/10"]
    long = parent(*(f"g{n}/hill/0" for n in range(90)))
    assert len(lineage_of([long])) == LINEAGE


def test_attempts_beside_the_elite_are_remembered_for_some_generations() -> None:
    elite = candidate(lineage=LINEAGE_OF)
    fell = Rejection(
        summary="RISE", candidate="g2/cross/0", fitness_difference=-0.5, reason="", operator=Operator.CROSSOVER,
        edited="g2/hill/1", verdict=Verdict.NOT_CHOSEN, fitness=0.274,
    )
    own = replace(fell, candidate="g1/macro/9", edited=elite.id)
    merged = replace(fell, candidate=LINEAGE_OF[0].id)
    assert of_lineage((own, fell, merged), elite, since=3 - BESIDE + 1) == (own, fell)
    assert of_lineage((own, fell, merged), elite, since=4 - BESIDE + 1) == (own,)


def test_an_edit_that_changes_nothing_measured_is_idle() -> None:
    parent = candidate()
    trial = trial_from(
        "g2/macro/0", parent.program, operator=Operator.MACRO, generation=2, slot=0, parents=(parent,), summary=""
    )
    same = candidate_of(replace(trial, episodes=parent.episodes, scores=parent.scores), PLAN)
    assert same.lineage[-1].idle
    slower = (replace(parent.episodes[0], steps=7), *parent.episodes[1:])
    assert not candidate_of(replace(trial, episodes=slower, scores=parent.scores), PLAN).lineage[-1].idle
    better = (replace(parent.scores[0], metrics={"stop_m": 0.009}), *parent.scores[1:])
    assert not candidate_of(replace(trial, episodes=parent.episodes, scores=better), PLAN).lineage[-1].idle


LINEAGE_OF = (
    Ancestor(id="g1/macro/0", operator=Operator.MACRO, summary="a map", before=(0.1,), fitness=0.7),
    Ancestor(id="g1/macro/3", operator=Operator.MACRO, summary="gain", before=(0.7,), fitness=0.7),
)
