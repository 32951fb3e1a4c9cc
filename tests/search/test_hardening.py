"""Attackers in the loop: what a revision must keep, when rounds end, and that the order of arrival decides nothing."""

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from memento.core.errors import SearchError
from memento.core.evaluator_attacks import bar_of, with_attack
from memento.core.evaluator_choice import leading
from memento.core.evaluator_tests import evaluator_tests_of
from memento.core.events import (
    AttackEvaluator,
    EvaluatorAttacked,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorHardened,
    EvaluatorPoolScored,
    Examine,
    Fact,
    Order,
    ProposalMade,
    ProposeAttack,
    ProposeEvaluator,
)
from memento.core.examined import TOLERANCE, AttackCount
from memento.core.values import (
    CandidateState,
    Episode,
    EvaluatorCandidate,
    Examination,
    Exploit,
    Operator,
    Probe,
    Program,
    Score,
)
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.hardening import AttackTerms, HardeningKeeper
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..support.keeper_world import CALL, Sound, play

SUCCESS = Episode(index=0, seed=1, steps=9, ended_by="success", success=True, trajectory="s")
FAILURE = Episode(index=1, seed=2, steps=9, ended_by="horizon", success=False, trajectory="f")
T_0 = (SUCCESS, FAILURE)
IDLE = Probe(name="idle", episode=replace(FAILURE, index=0, trajectory="i"))
BASELINE = CandidateState(
    id="init/0", program=Program("p_0"), operator=Operator.INITIAL, generation=0, slot=0, fitness=0.0, metrics={},
    episodes=T_0, success_rate=0.5,
)


def examined(on: Mapping[str, float], probes: tuple[Probe, ...] = (IDLE,)) -> Examination:
    """The examination of an evaluator that gives these f_e, by "success", "failure" and the probes' names."""
    scores = tuple(Score(fitness=on[name]) for name in ("success", "failure"))
    others = tuple(Score(fitness=on[probe.name]) for probe in probes)
    return Examination(scores=scores, probe_scores=others, tests=evaluator_tests_of(T_0, scores, probes, others))


def exploit(number: int) -> Exploit:
    episode = replace(FAILURE, index=0, trajectory=f"x{number}")
    probe = Probe(name=f"attack: {number}", episode=episode)
    return Exploit(probe=probe, program=Program(f"exploit {number}"), fitness=0.95)


CHOSEN = EvaluatorCandidate(
    id="eval/g0/1", generation=0, slot=1, program=Program("E"), examination=examined(
        {"success": 0.95, "failure": 0.3, "idle": 0.1}
    ),
)
WHOLE = {"success": 0.95, "failure": 0.3, "idle": 0.1, "exploit 1": 0.4}


def hardened(
    attacks: list[int], revisions: list[Mapping[str, float]], *, rounds: int = 3, asks: bool = False
) -> tuple[EvaluatorHardened, list[Order], list[Fact]]:
    """The result where attack k finds this many exploits, and revision k gives these f_e."""
    keeper = HardeningKeeper(
        baseline=BASELINE, chosen=CHOSEN, probes=(IDLE,), terms=AttackTerms(rounds=rounds, seed=1, asks=asks)
    )
    decision, orders, facts = keeper.start(), [], []
    found, written = iter(attacks), iter(revisions)
    while not keeper.finished(decision.state):
        [order] = decision.orders
        orders.append(order)
        fact: Fact
        match order:
            case AttackEvaluator():
                many = next(found)
                new = tuple(exploit(len(orders) * 10 + k) for k in range(many))
                count = AttackCount(tried=20, found=many, best=0.95 if many else 0.2)
                fact = EvaluatorAttacked(order=order.id, count=count, exploits=new)
            case Examine():
                fact = EvaluatorExamined(order=order.id, examination=examined(next(written), order.probes))
            case _:
                fact = ProposalMade(order=order.id, program=Program(f"of {order.id}"), summary="s", call=CALL)
        decision = keeper.decide(decision.state, fact)
        facts += [fact, *decision.facts]
    [result] = [fact for fact in facts if isinstance(fact, EvaluatorHardened)]
    return result, orders, facts


def test_where_nothing_is_found_the_evaluator_stays() -> None:
    result, orders, facts = hardened([0], [])
    assert [type(order) for order in orders] == [AttackEvaluator]
    assert (result.rounds, result.revised, result.before.share, result.after.share) == (1, 0, 0.0, 0.0)
    assert isinstance(facts[-1], EvaluatorChosen) and facts[-1].final and facts[-1].chosen.program == Program("E")


def test_an_exploit_is_closed_by_a_revision_that_is_attacked_again() -> None:
    result, orders, _ = hardened([1, 0], [WHOLE], asks=True)
    kinds = [ProposeAttack, AttackEvaluator, ProposeEvaluator, Examine, ProposeAttack, AttackEvaluator]
    assert [type(order) for order in orders] == kinds
    assert (result.before.found, result.after.found, result.revised) == (1, 0, 1)
    assert result.chosen.program == Program("of eval/fix/1")
    attack = orders[1]
    assert isinstance(attack, AttackEvaluator) and attack.programs == (Program("p_0"), Program("of eval/attack/0"))
    fix = orders[2]
    assert isinstance(fix, ProposeEvaluator) and [each.probe.name for each in fix.exploits] == ["exploit 1"]
    examine = orders[3]
    assert isinstance(examine, Examine) and [each.name for each in examine.probes] == ["idle", "exploit 1"]
    again = orders[5]
    assert isinstance(again, AttackEvaluator) and again.programs[-1] == Program("exploit 20"), "tried on fresh seeds"
    assert again.seed != attack.seed and again.bar == 0.9


def test_attacks_begin_with_the_exploits_of_earlier_runs_each_once() -> None:
    terms = AttackTerms(rounds=1, seed=1, known=(Program("# as before\nA = 1\n"), Program("B = 2\n")))
    order = terms.order("eval/g0/1", 0, Program("E"), 0.9, (Program("p_0"), Program("A = 1\n")))
    assert order.programs == (Program("p_0"), Program("A = 1\n"), Program("B = 2\n"))


@pytest.mark.parametrize("refused", [
    {**WHOLE, "exploit 1": 0.9}, {**WHOLE, "success": 0.95 - TOLERANCE - 0.001}, {**WHOLE, "exploit 1": 0.94},
    {**WHOLE, "success": 0.4, "failure": 0.5},
    {"success": 0.95, "failure": 0.2, "idle": 0.2, "exploit 1": 0.2},
], ids=["open", "a success loses", "above the bar", "inverted", "flat"])
def test_a_revision_that_is_not_better_is_refused(refused: Mapping[str, float]) -> None:
    result, orders, _ = hardened([1], [refused, refused, refused])
    assert (result.revised, result.rounds, result.open) == (0, 1, 1)
    assert result.chosen.program == Program("E")
    assert sum(isinstance(order, ProposeEvaluator) for order in orders) == 3, "one in each round"


def test_rounds_end_after_their_number() -> None:
    closed = {**WHOLE, **{f"exploit {number}": 0.1 for number in range(1, 9)}}
    result, orders, _ = hardened([2, 2, 1], [closed, closed], rounds=2)
    assert (result.rounds, result.revised, result.known, result.open) == (3, 2, 5, 1)
    assert sum(isinstance(order, AttackEvaluator) for order in orders) == 3


def test_the_bar_is_what_the_least_success_gets() -> None:
    found = examined({"success": 0.6, "failure": 0.3, "idle": 0.1})
    assert bar_of(T_0, (IDLE,), found) == 0.6
    assert bar_of((FAILURE,), (), replace(found, scores=found.scores[1:], probe_scores=())) == 0.9


def test_of_those_that_invert_no_pair_one_without_an_open_attack_leads() -> None:
    open_, closed = (AttackCount(tried=9, found=found, best=0.9) for found in (2, 0))
    inverting = examined({"success": 0.2, "failure": 0.3, "idle": 0.1})
    chosen = CHOSEN.examination
    exams = (with_attack(chosen, open_), with_attack(chosen, closed), with_attack(inverting, closed))
    pool = [replace(CHOSEN, slot=slot, examination=each) for slot, each in enumerate(exams)]
    assert [each.slot for each in leading(pool)] == [1]
    assert [each.slot for each in leading(pool[::2])] == [0], "an inversion weighs more"
    assert [each.slot for each in leading(pool[:1])] == [0], "all open: the votes decide"


PLAN = RunPlan(
    method=KEEPERS["memento"], slots=GenerationBudget(generations=1, hill_climb=1, macro=1, crossover=0),
    search=RolloutPlan(split="search", seeds=(1, 2), evaluator=None), final_seeds=(9,), probe_seed=7, tested=True,
    evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2), attacks=AttackTerms(rounds=3, seed=7),
)


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_order_of_arrival_decides_nothing(seed: int, arrival: int) -> None:
    def settled(pick: random.Random) -> tuple[list[str], list[Fact]]:
        try:
            log, _ = play(Sequencer(PLAN), Sound(seed, failure_rate=0.2), pick.randrange)
        except SearchError:         # no judge votes
            return [], []
        kinds = EvaluatorPoolScored | EvaluatorChosen | EvaluatorHardened
        return sorted(map(repr, (fact for fact in log if isinstance(fact, kinds)))), log

    one, log = settled(random.Random(0))
    assert one == settled(random.Random(arrival))[0]
    assume(log)
    chosen = [fact for fact in log if isinstance(fact, EvaluatorChosen)]
    assert [fact.final for fact in chosen].count(True) == 1 and chosen[-1].final
    [result] = [fact for fact in log if isinstance(fact, EvaluatorHardened)]
    assert result.chosen == chosen[-1].chosen and result.rounds <= 4
