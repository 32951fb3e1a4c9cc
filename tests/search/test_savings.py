"""Racing, known programs and speculative climbs make a search faster without changing its results."""

import itertools
import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    PopulationChanged,
    ProposalFailed,
    ProposalMade,
    Propose,
    SearchEnded,
    SpeculationEnded,
    Withdraw,
)
from memento.core.faults import Fault, FaultKind
from memento.core.order_ids import slot_of
from memento.core.programs.program_text import digest
from memento.core.values import CandidateState, Episode, Operator, Program, Score
from memento.runtime.supervisor import Replay
from memento.search import trials
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget, SearchOptions
from memento.search.parts.memory import MemorySettings
from memento.search.setting_groups import PartSettings

from ..support.keeper_world import Repeating, play
from ..support.searches import FULL, PLAN, budgets, initial, make, seeds

methods = st.sampled_from(sorted(KEEPERS))
savings = st.tuples(st.booleans(), st.booleans(), st.booleans())  # racing, duplicates, speculation


def run(
    method: str, slots: GenerationBudget, seed: int, arrival: int, saving: tuple[bool, bool, bool],
    *chosen: PartSettings, failure_rate: float = 0.2,
) -> list[Fact]:
    keeper = make(method, slots, seed, saving, *chosen)
    log, last = play(keeper, Repeating(seed, failure_rate=failure_rate), random.Random(arrival).randrange)
    assert keeper.finished(last.state)
    return log


def of(log: list[Fact], *kinds: type) -> list:
    return [fact for fact in log if isinstance(fact, kinds)]


def verdicts(log: list[Fact], *, method: str = "memento", racing: bool = False) -> list[str]:
    """The decisions of a search. With racing, `random` may not know the best of a generation that cannot win."""
    kinds = [CandidateAccepted, EliteChanged, SearchEnded, PopulationChanged]
    if not (racing and method == "random"):
        kinds.append(BranchEnded)
    rejected = [fact.candidate for fact in of(log, CandidateRejected)]
    return sorted(map(repr, of(log, *kinds))) + sorted(rejected)


@settings(max_examples=150, deadline=None)
@given(methods, budgets, seeds, seeds, seeds, savings)
def test_no_saving_in_any_order_of_arrival_changes_an_accept_a_winner_or_an_elite(
    method: str, slots: GenerationBudget, seed: int, one: int, other: int, saving: tuple[bool, bool, bool]
) -> None:
    plain = run(method, slots, seed, one, (False, False, False))
    saved = run(method, slots, seed, other, saving)
    racing = saving[0]
    assert verdicts(saved, method=method, racing=racing) == verdicts(plain, method=method, racing=racing)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(methods, budgets, seeds, seeds, savings)
def test_every_slot_is_spent_once_whatever_is_saved(
    method: str, slots: GenerationBudget, seed: int, arrival: int, saving: tuple[bool, bool, bool]
) -> None:
    log = run(method, slots, seed, arrival, saving)
    spent = Counter((fact.candidate.generation, fact.candidate.id) for fact in of(log, CandidateScored))
    assert set(spent.values()) <= {1}
    generations = 1 if method in ("zero-shot", "cma-es") else slots.generations
    each = 1 if method in ("cma-es", "calibrate") else slots.hill_climb + slots.macro + slots.crossover
    assert len(spent) == generations * each
    duplicates = {fact.candidate for fact in of(log, DuplicateFound)}
    assert duplicates <= {candidate for _, candidate in spent}


@settings(max_examples=100, deadline=None)
@given(methods, budgets, seeds, seeds, savings, st.integers(0, 120))
def test_replaying_the_log_at_any_moment_gives_the_same_state(
    method: str, slots: GenerationBudget, seed: int, arrival: int, saving: tuple[bool, bool, bool], cut: int
) -> None:
    keeper = make(method, slots, seed, saving)
    log, last = play(keeper, Repeating(seed), random.Random(arrival).randrange, steps=cut)
    again = Replay(make(method, slots, seed, saving)).replay(log)
    assert again.state == last.state
    assert {order.id: order for order in again.orders} == {order.id: order for order in last.orders}
    assert again.facts == ()


# ------------------------------------------------------------------------------------------- duplicates


def test_a_known_program_is_not_rolled_out_again() -> None:
    slots = GenerationBudget(generations=2, hill_climb=4, macro=4, crossover=2)
    plain = run("memento", slots, 5, 1, (False, False, False), failure_rate=0.0)
    saved = run("memento", slots, 5, 1, (False, True, False), failure_rate=0.0)
    found = of(saved, DuplicateFound)
    assert len(of(plain, EpisodeEnded)) == 60
    assert found
    assert len(of(saved, EpisodeEnded)) == 60 - 3 * len(found), "without racing a duplicate has no rollouts"
    fitness = {fact.candidate.id: fact.candidate.fitness for fact in of(saved, CandidateScored)}
    fitness["init/0"] = initial(5).fitness
    assert all(fitness[fact.candidate] == fitness[fact.of] for fact in found)


@pytest.mark.parametrize("most", [1, 3])
def test_only_the_latest_programs_are_remembered_which_changes_nothing_but_what_is_saved(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    slots = GenerationBudget(generations=3, hill_climb=4, macro=4, crossover=2)
    plain = run("memento", slots, 5, 1, (False, False, False), failure_rate=0.0)
    all_known = run("memento", slots, 5, 1, (False, True, False), failure_rate=0.0)
    monkeypatch.setattr(trials, "KNOWN", most)
    keeper = make("memento", slots, 5, (False, True, False))
    few_known, last = play(keeper, Repeating(5, failure_rate=0.0), random.Random(1).randrange)
    assert len(last.state.trials.known) == most
    assert verdicts(few_known) == verdicts(plain)
    assert len(of(plain, EpisodeEnded)) > len(of(few_known, EpisodeEnded)) > len(of(all_known, EpisodeEnded))


def test_a_shape_in_the_log_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = GenerationBudget(generations=2, hill_climb=4, macro=4, crossover=2)
    keeper = make("memento", slots, 5, (False, True, False))
    log, last = play(keeper, Repeating(5), random.Random(1).randrange)
    shaped = [replace(fact, shape=digest(fact.program)) if isinstance(fact, ProposalMade) else fact for fact in log]
    again = make("memento", slots, 5, (False, True, False))
    parsed: list[Program] = []

    def noted(program: Program) -> str:
        parsed.append(program)
        return digest(program)

    monkeypatch.setattr(trials, "digest", noted)
    assert Replay(again).replay(shaped).state.elite.id == last.state.elite.id
    assert len(parsed) <= 1, "p_0 alone, which no proposal made"


def test_the_program_of_p0_is_known() -> None:
    slots = GenerationBudget(generations=1, hill_climb=0, macro=6, crossover=0)
    saved = run("memento", slots, 3, 1, (False, True, False), failure_rate=0.0)
    assert "init/0" in {fact.of for fact in of(saved, DuplicateFound)}


class Script:
    """Orders that a test answers by hand, in any order."""

    def __init__(self, keeper) -> None:
        self.keeper = keeper
        begun = keeper.start()
        self.state = begun.state
        self.open = {order.id: order for order in begun.orders}
        self.facts: list[Fact] = list(begun.facts)

    def tell(self, fact: Fact) -> None:
        self.open.pop(fact.order, None)
        decision = self.keeper.decide(self.state, fact)
        self.state = decision.state
        self.facts += decision.facts
        for order in decision.orders:
            if isinstance(order, Withdraw):
                self.open.pop(order.target)
            else:
                self.open[order.id] = order

    def propose(self, order: str, text: str) -> None:
        call = Repeating(0).answer(Propose(id=order, operator=Operator.MACRO, generation=1, slot=0)).call
        self.tell(ProposalMade(order=order, program=Program(text), summary=f"edit of {order}", call=call))

    def score(self, trial: str, index: int, fitness: float) -> None:
        episode = Episode(
            index=index, seed=PLAN.seeds[index], steps=1, ended_by="horizon", success=False, info={"fitness": fitness}
        )
        self.tell(EpisodeEnded(order=f"{trial}/e{index}", episode=episode))
        self.tell(Repeating(0).answer(self.open[f"{trial}/e{index}/score"]))

    def candidate(self, name: str) -> CandidateState | None:
        scored = (fact.candidate for fact in self.facts if isinstance(fact, CandidateScored))
        return next((candidate for candidate in scored if candidate.id == name), None)


def macros(count: int, *, racing: bool = False, fitness: float = 0.0) -> Script:
    slots = GenerationBudget(generations=1, hill_climb=0, macro=count, crossover=0)
    plan = replace(PLAN, racing=racing, duplicates=True)
    first = replace(initial(0), fitness=fitness, episodes=(), scores=())
    return Script(KEEPERS["memento"](first, plan, slots, SearchOptions()))


def test_a_duplicate_of_one_that_still_rolls_out_shares_its_episodes() -> None:
    script = macros(2)
    script.propose("g1/macro/1", "x = 1")
    script.score("g1/macro/1", 2, 0.5)
    script.propose("g1/macro/0", "x = 1  # the same")
    assert not any(order.startswith("g1/macro/0/") for order in script.open)
    assert DuplicateFound(
        order="g1/macro/0", candidate="g1/macro/0", of="g1/macro/1", episodes=1
    ) in script.facts
    script.score("g1/macro/1", 0, 0.25)
    script.score("g1/macro/1", 1, 0.75)
    assert script.candidate("g1/macro/0").fitness == script.candidate("g1/macro/1").fitness == 0.5
    winner = next(fact for fact in script.facts if isinstance(fact, BranchEnded))
    assert winner.winner == "g1/macro/0", "the lowest slot wins the tie, whichever slot rolled out"


def test_a_duplicate_of_one_that_was_cut_has_the_rest_rolled_out() -> None:
    script = macros(3, racing=True, fitness=0.0)
    script.propose("g1/macro/1", "a = 1")
    for index in range(3):
        script.score("g1/macro/1", index, 0.5)
    script.propose("g1/macro/2", "x = 1")
    script.score("g1/macro/2", 1, 0.5)
    script.score("g1/macro/2", 0, 0.0)  # at most 0.5 now, which loses the tie to a lower slot
    assert script.candidate("g1/macro/2").bound == 0.5
    script.propose("g1/macro/0", "x = 1")
    assert sorted(script.open) == ["g1/macro/0/e2"]
    script.score("g1/macro/0", 2, 1.0)
    assert script.candidate("g1/macro/0").fitness == 0.5
    assert next(fact for fact in script.facts if isinstance(fact, BranchEnded)).winner == "g1/macro/0"


def test_if_the_trial_that_rolls_out_is_pruned_its_duplicate_continues() -> None:
    script = macros(4, racing=True)
    script.propose("g1/macro/2", "x = 1")
    script.propose("g1/macro/0", "x = 1")
    script.propose("g1/macro/3", "x = 1")
    script.score("g1/macro/2", 0, 0.5)
    script.propose("g1/macro/1", "a = 1")
    for index in range(3):
        script.score("g1/macro/1", index, 5 / 6)
    assert script.candidate("g1/macro/2").bound == pytest.approx(5 / 6)
    assert script.candidate("g1/macro/3").bound == pytest.approx(5 / 6), "it would lose the tie as well"
    assert sorted(script.open) == ["g1/macro/0/e1", "g1/macro/0/e2"]
    script.score("g1/macro/0", 1, 1.0)
    script.score("g1/macro/0", 2, 1.0)
    assert next(fact for fact in script.facts if isinstance(fact, BranchEnded)).winner == "g1/macro/0"


def test_one_that_was_cut_before_its_first_episode_has_nothing_to_take_over() -> None:
    script = macros(3, racing=True)
    script.propose("g1/macro/0", "a = 1")
    for index in range(3):
        script.score("g1/macro/0", index, 1.0)
    script.propose("g1/macro/1", "x = 1")
    assert script.candidate("g1/macro/1").bound == 1.0
    script.propose("g1/macro/2", "x = 1")
    assert not any(isinstance(fact, DuplicateFound) for fact in script.facts)
    assert not script.open


# ----------------------------------------------------------------------------- episodes that end in a fault


def crash(script: Script, order: str, *, scored_to_fault: bool) -> None:
    fault = Fault(kind=FaultKind.CRASHED, message="raised")
    script.tell(EpisodeEnded(order=order, episode=Episode(
        index=0, seed=PLAN.seeds[0], steps=7, ended_by="fault", success=False, fault=fault,
        scored_to_fault=scored_to_fault, info={"fitness": 1.0},
    )))


def test_an_episode_that_ends_in_a_fault_is_scored_for_its_metrics_only() -> None:
    script = macros(1)
    script.propose("g1/macro/0", "x = 1")
    crash(script, "g1/macro/0/e0", scored_to_fault=True)
    script.tell(EpisodeScored(order="g1/macro/0/e0/score", score=Score(fitness=1.0, metrics={"height": 0.25})))
    script.score("g1/macro/0", 1, 0.5)
    script.score("g1/macro/0", 2, 1.0)
    candidate = script.candidate("g1/macro/0")
    assert candidate.fitness == 0.5
    assert dict(candidate.metrics["height"])["mean"] == 0.25


def test_a_fault_lowers_the_bound_before_its_metrics_are_there() -> None:
    script = macros(1, racing=True, fitness=0.9)
    script.propose("g1/macro/0", "x = 1")
    crash(script, "g1/macro/0/e0", scored_to_fault=True)
    assert script.candidate("g1/macro/0").bound == pytest.approx(2 / 3)
    assert not script.open


def test_a_fault_in_the_log_of_an_older_version_is_not_scored() -> None:
    script = macros(1)
    script.propose("g1/macro/0", "x = 1")
    crash(script, "g1/macro/0/e0", scored_to_fault=False)
    assert sorted(script.open) == ["g1/macro/0/e1", "g1/macro/0/e2"]


# ------------------------------------------------------------------------------------------ speculation


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), seeds, seeds)
def test_a_speculative_request_is_kept_exactly_if_the_verdict_was_a_rejection(
    climbs: int, seed: int, arrival: int
) -> None:
    slots = GenerationBudget(generations=2, hill_climb=climbs, macro=1, crossover=1)
    log = run("memento", slots, seed, arrival, (True, False, True))
    accepted = {fact.candidate for fact in of(log, CandidateAccepted)}
    for fact in of(log, SpeculationEnded):
        generation, _, slot = fact.slot.split("/")
        before = f"{generation}/hill/{int(slot) - 1}"
        assert fact.kept == (before not in accepted)
        assert fact.order == f"{fact.slot}/ahead"
        answers = [one for one in of(log, ProposalMade, ProposalFailed) if slot_of(one.order) == fact.slot]
        taken = [one for one in answers if one.order == (fact.order if fact.kept else fact.slot)]
        assert len(taken) == 1
    asked = Counter(fact.order for fact in of(log, ProposalMade, ProposalFailed))
    assert set(asked.values()) <= {1}, "no question is answered twice"


def test_both_outcomes_and_both_times_of_the_answer_occur() -> None:
    slots = GenerationBudget(generations=2, hill_climb=6, macro=1, crossover=0)
    seen = {
        (fact.kept, fact.answered)
        for seed, arrival in itertools.product(range(6), range(4))
        for fact in of(run("memento", slots, seed, arrival, (False, False, True)), SpeculationEnded)
    }
    assert seen == {(True, True), (True, False), (False, True), (False, False)}


def test_with_a_full_memory_climbs_are_neither_speculative_nor_pruned() -> None:
    slots = GenerationBudget(generations=2, hill_climb=6, macro=0, crossover=0)
    log = run("memento", slots, 4, 0, (True, False, True), FULL, failure_rate=0.0)
    assert not of(log, SpeculationEnded)
    assert all(fact.rejection.fitness_difference is not None for fact in of(log, CandidateRejected))
    raced = run("memento", slots, 4, 0, (True, False, True), failure_rate=0.0)
    assert any(fact.rejection.fitness_difference is None for fact in of(raced, CandidateRejected))


@pytest.mark.parametrize("lasting", [False, True])
def test_the_memory_lasts_a_generation_or_the_run(lasting: bool) -> None:
    slots = GenerationBudget(generations=3, hill_climb=3, macro=0, crossover=0)
    memory = MemorySettings(memory_detail="summary", memory_scope="run" if lasting else "generation")
    world = Repeating(1, failure_rate=0.0)
    shown: dict[str, list[str]] = {}
    answer = world.answer

    def watch(order):
        if isinstance(order, Propose):
            shown[order.id] = [rejection.candidate for rejection in order.rejections]
        return answer(order)

    world.answer = watch
    log, _ = play(make("memento", slots, 1, (False, False, False), memory), world, lambda n: 0)
    rejected = [fact.candidate for fact in of(log, CandidateRejected)]
    before = [candidate for candidate in rejected if not candidate.startswith("g3/")]
    assert any(candidate.startswith("g1/") for candidate in before)
    assert shown["g3/hill/0"] == (before if lasting else [])
