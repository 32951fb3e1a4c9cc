"""The memetic search as a state machine: hypothesis plays the world, answering any open order in any way."""

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from memento.core.events import (
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    Roll,
    SearchEnded,
    Withdraw,
)
from memento.core.faults import Fault, FaultKind
from memento.core.values import Call, CandidateState, Document, Episode, Operator, Program, Score
from memento.runtime.supervisor import Replay
from memento.search.keepers import KEEPERS
from memento.search.memento import PAPER
from memento.search.options import PLAIN, GenerationBudget
from memento.search.parts.memory import Rejections
from memento.search.parts.speculation import SpeculationSettings
from memento.search.rollout_plan import RolloutPlan

CALL = Call(model="scripted", prompt=Document("?"), reply=Document("!"))
PLAN = RolloutPlan(split="search", seeds=(5, 6), evaluator=Program("E*"), racing=True)
fitnesses = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000000000000001, 1.0])
counts = st.integers(0, 3)


class Search(RuleBasedStateMachine):
    @initialize(
        generations=st.integers(1, 3), hill=counts, macro=counts, cross=counts, fitness=fitnesses,
        duplicates=st.booleans(), speculation=st.booleans(),
    )
    def begin(
        self, generations: int, hill: int, macro: int, cross: int, fitness: float, duplicates: bool, speculation: bool
    ) -> None:
        self.slots = GenerationBudget(generations=generations, hill_climb=hill, macro=macro, crossover=cross)
        initial = CandidateState(
            id="init/0",
            program=Program("p0"),
            operator=Operator.INITIAL,
            generation=0,
            slot=0,
            fitness=fitness,
        )
        plan = replace(PLAN, duplicates=duplicates)
        choices = PAPER.but(SpeculationSettings(speculation=speculation))
        self.keeper = KEEPERS["memento"](initial, plan, self.slots, PLAIN, choices)
        self.log: list[Fact] = []
        self.open: dict[str, Order] = {}
        decision = self.keeper.start()
        self.state = decision.state
        self._follow(decision)

    def _follow(self, decision) -> None:
        self.state = decision.state
        self.log += decision.facts
        for order in decision.orders:
            if isinstance(order, Withdraw):
                del self.open[order.target]
                continue
            assert order.id not in self.open, "an order is given once"
            self.open[order.id] = order

    def _answer(self, fact: Fact) -> None:
        del self.open[fact.order]
        self.log.append(fact)
        self._follow(self.keeper.decide(self.state, fact))

    def _pick(self, data, kind: type) -> Order:
        return data.draw(st.sampled_from(sorted(
            (order for order in self.open.values() if isinstance(order, kind)), key=lambda order: order.id
        )))

    def _has(self, kind: type) -> bool:
        return any(isinstance(order, kind) for order in self.open.values())

    @precondition(lambda self: self._has(Propose))
    @rule(data=st.data(), program=st.sampled_from(["a", "b", "c"]))
    def a_program_comes(self, data, program: str) -> None:
        order = self._pick(data, Propose)
        self._answer(ProposalMade(order=order.id, program=Program(program), summary=order.id, call=CALL))

    @precondition(lambda self: self._has(Propose))
    @rule(data=st.data())
    def a_reply_is_no_program(self, data) -> None:
        order = self._pick(data, Propose)
        fault = Fault(kind=FaultKind.TRUNCATED, message="cut off")
        self._answer(ProposalFailed(order=order.id, fault=fault, summary=order.id, call=CALL))

    @precondition(lambda self: self._has(Roll))
    @rule(data=st.data(), kind=st.sampled_from([None, FaultKind.CRASHED, FaultKind.NOT_STARTED]))
    def an_episode_ends(self, data, kind: FaultKind | None) -> None:
        order = self._pick(data, Roll)
        fault = None if kind is None else Fault(kind=kind, message="raised")
        episode = Episode(
            index=order.index, seed=order.seed, steps=1, ended_by="x", success=False, fault=fault
        )
        self._answer(EpisodeEnded(order=order.id, episode=episode))

    @precondition(lambda self: any(order.id.endswith("/score") for order in self.open.values()))
    @rule(data=st.data(), fitness=fitnesses)
    def a_score_comes(self, data, fitness: float) -> None:
        ids = sorted(order for order in self.open if order.endswith("/score"))
        self._answer(EpisodeScored(order=data.draw(st.sampled_from(ids)), score=Score(fitness=fitness)))

    @rule(fitness=fitnesses, place=st.integers(0, 10**6))
    def an_answer_comes_late_or_unasked(self, fitness: float, place: int) -> None:
        answers = [fact for fact in self.log if isinstance(fact, ProposalMade | EpisodeEnded | EpisodeScored)]
        stray = EpisodeScored(order="g9/hill/0/e0/score", score=Score(fitness=fitness))
        fact = answers[place % len(answers)] if answers else stray
        decision = self.keeper.decide(self.state, fact)
        assert decision.state == self.state
        assert not decision.orders
        assert not decision.facts

    # -------------------------------------------------------------------------- what always holds

    def _of(self, kind: type) -> list:
        return [fact for fact in self.log if isinstance(fact, kind)]

    @invariant()
    def the_elite_never_gets_worse(self) -> None:
        fitness = [fact.fitness for fact in self._of(EliteChanged)]
        assert fitness == sorted(fitness)

    @invariant()
    def no_failed_program_is_taken(self) -> None:
        failed = {fact.candidate.id for fact in self._of(CandidateScored) if fact.candidate.fault}
        assert not failed & {fact.candidate for fact in self._of(CandidateAccepted) + self._of(EliteChanged)}

    @invariant()
    def every_climb_has_one_verdict_and_no_slot_is_spent_twice(self) -> None:
        scored = [fact.candidate for fact in self._of(CandidateScored)]
        assert len({candidate.id for candidate in scored}) == len(scored)
        climbs = [candidate.id for candidate in scored if candidate.operator is Operator.HILL_CLIMB]
        verdicts = [fact.candidate for fact in self._of(CandidateAccepted) + self._of(CandidateRejected)]
        assert sorted(climbs) == sorted(verdicts)

    @invariant()
    def the_memory_is_this_generations_rejections_in_order(self) -> None:
        generation = f"g{self.state.generation}/"
        rejected = [
            fact.rejection for fact in self._of(CandidateRejected) if fact.candidate.startswith(generation)
        ]
        if not self.state.over:
            assert list(self.state.slice(Rejections).edits) == rejected

    @invariant()
    def something_is_open_until_the_budget_is_spent(self) -> None:
        slots = self.slots
        budget = slots.generations * (slots.hill_climb + slots.macro + slots.crossover)
        spent = len(self._of(CandidateScored))
        assert spent <= budget
        assert bool(self._of(SearchEnded)) == (spent == budget) == (not self.open)

    @invariant()
    def the_log_alone_gives_the_same_state(self) -> None:
        again = Replay(self.keeper).replay(self.log)
        assert again.state == self.state
        assert {order.id: order for order in again.orders} == self.open


Search.TestCase.settings = settings(max_examples=30, stateful_step_count=60, deadline=None)
TestSearch = Search.TestCase
