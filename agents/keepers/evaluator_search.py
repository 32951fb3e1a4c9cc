"""Evaluator evolution (paper, Algorithm 1): a pool of programs, scored on T_0, chosen by a panel of judges."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...core import order_ids
from ...core.errors import SearchError
from ...core.events import (
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
    Examine,
    Fact,
    Judge,
    ProposalFailed,
    ProposalMade,
    ProposeEvaluator,
    VoteCast,
)
from ...core.keeper import Decision
from ...core.values import Candidate, EvaluatorCandidate, Examination
from .places import put
from .votes import majority, tally


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorBudget:
    """The budget of evaluator search: pool size n, voting budget k, evaluator generations T_eval."""

    pool: int
    judges: int
    generations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """The state between two facts: generation i, its pool D_i and the votes on it."""

    generation: int
    parent: EvaluatorCandidate | None = None  # E*_(i-1)
    written: Mapping[int, EvaluatorCandidate]  # programs that are being examined
    pool: tuple[EvaluatorCandidate | None, ...]
    votes: Mapping[int, int | None]  # seat -> slot, None for an abstention
    voting: bool = False
    chosen: EvaluatorCandidate | None = None  # E*, once frozen


class EvaluatorKeeper:
    """Decides evaluator evolution over the fixed rollouts T_0 of p_0."""

    def __init__(self, *, baseline: Candidate, budget: EvaluatorBudget) -> None:
        self._baseline = baseline
        self._budget = budget

    def start(self) -> Decision[Evolution]:
        """Request the initial pool."""
        return self._begin_generation(0, None)

    def decide(self, state: Evolution, fact: Fact) -> Decision[Evolution]:
        """The decision after one reply, examination or vote."""
        if state.chosen is not None:
            return Decision(state=state)
        match fact:
            case ProposalMade() | ProposalFailed():
                return self._take_proposal(state, fact)
            case EvaluatorExamined():
                return self._take_examination(state, fact)
            case VoteCast():
                return self._take_vote(state, fact)
        return Decision(state=state)

    def finished(self, state: Evolution) -> bool:
        """Whether E* is frozen."""
        return state.chosen is not None

    # ------------------------------------------------------------------------------------- the pool

    def _begin_generation(self, generation: int, parent: EvaluatorCandidate | None) -> Decision[Evolution]:
        orders = tuple(
            ProposeEvaluator(
                id=str(order_ids.evaluator(generation, slot)),
                generation=generation,
                slot=slot,
                parent=parent,
                episodes=self._baseline.episodes,
                success_rate=self._baseline.success_rate,
            )
            for slot in range(self._budget.pool)
        )
        state = Evolution(
            generation=generation,
            parent=parent,
            written={},
            pool=(None,) * self._budget.pool,
            votes={},
        )
        return Decision(state=state, orders=orders)

    def _take_proposal(self, state: Evolution, fact: ProposalMade | ProposalFailed) -> Decision[Evolution]:
        slot = self._open_slot(state, fact.order, part="")
        if slot is None or slot in state.written:
            return Decision(state=state)
        candidate = EvaluatorCandidate(
            id=str(order_ids.evaluator(state.generation, slot)),
            generation=state.generation,
            slot=slot,
            program=fact.program if isinstance(fact, ProposalMade) else None,
            summary=fact.summary,
        )
        if isinstance(fact, ProposalFailed):
            return self._fill(state, replace(candidate, examination=Examination(fault=fact.fault)))
        order = Examine(
            id=order_ids.examine_id(candidate.id), evaluator=fact.program, episodes=self._baseline.episodes
        )
        return Decision(state=replace(state, written={**state.written, slot: candidate}), orders=(order,))

    def _take_examination(self, state: Evolution, fact: EvaluatorExamined) -> Decision[Evolution]:
        slot = self._open_slot(state, fact.order, part=order_ids.EXAMINE)
        if slot is None or slot not in state.written:
            return Decision(state=state)
        return self._fill(state, replace(state.written[slot], examination=fact.examination))

    def _fill(self, state: Evolution, candidate: EvaluatorCandidate) -> Decision[Evolution]:
        state = replace(state, pool=put(state.pool, candidate.slot, candidate))
        pool = tuple(entry for entry in state.pool if entry is not None)
        if len(pool) < self._budget.pool:
            return Decision(state=state)
        scored = EvaluatorPoolScored(generation=state.generation, pool=pool)
        valid = tuple(entry for entry in pool if entry.examination.valid)
        if not valid:
            return self._carry_over(state, scored)
        orders = tuple(
            Judge(
                id=str(order_ids.judge(state.generation, seat)),
                generation=state.generation,
                seat=seat,
                pool=valid,
                success_rate=self._baseline.success_rate,
            )
            for seat in range(self._budget.judges)
        )
        return Decision(state=replace(state, voting=True), orders=orders, facts=(scored,))

    def _carry_over(self, state: Evolution, scored: EvaluatorPoolScored) -> Decision[Evolution]:
        """A whole generation was invalid: the previous choice is kept. Raises SearchError in generation 0."""
        if state.parent is None:
            faults = "; ".join(
                f"{entry.id}: {entry.examination.fault.message}" for entry in scored.pool if entry.examination.fault
            )
            raise SearchError(
                f"none of the {len(scored.pool)} evaluators of the first generation is valid ({faults}); "
                "use --evaluator reference, another model, or a larger pool"
            )
        choice = replace(state.parent, carried_over=True)
        onward = self._choose(state, choice, {})
        return replace(onward, facts=(scored, *onward.facts))

    # ------------------------------------------------------------------------------------ the judges

    def _take_vote(self, state: Evolution, fact: VoteCast) -> Decision[Evolution]:
        mine = state.voting and fact.generation == state.generation
        if not mine or fact.seat in state.votes or not 0 <= fact.seat < self._budget.judges:
            return Decision(state=state)
        state = replace(state, votes={**state.votes, fact.seat: fact.choice})
        if len(state.votes) < self._budget.judges:
            return Decision(state=state)
        valid = {entry.slot: entry for entry in state.pool if entry is not None and entry.examination.valid}
        slot = majority(slot for slot in state.votes.values() if slot in valid)
        if slot is None:
            raise SearchError(
                f"no judge of evaluator generation {state.generation} gave a usable vote: use another "
                "--judge model, or --evaluator reference"
            )
        return self._choose(state, valid[slot], tally(state.votes.values()))

    def _choose(self, state: Evolution, choice: EvaluatorCandidate, votes: Mapping[str, int]) -> Decision[Evolution]:
        final = state.generation == self._budget.generations - 1
        fact = EvaluatorChosen(generation=state.generation, chosen=choice, votes=votes, final=final)
        if final:
            return Decision(state=replace(state, chosen=choice), facts=(fact,))
        begun = self._begin_generation(state.generation + 1, choice)
        return replace(begun, facts=(fact,))

    def _open_slot(self, state: Evolution, order: str | None, *, part: order_ids.Part) -> int | None:
        """The open slot of this generation whose proposal or examination `order` names, or None."""
        named = order_ids.parse(order or "")
        expected = replace(order_ids.evaluator(state.generation, named.slot), part=part)
        if named != expected or named.slot >= self._budget.pool:
            return None
        return named.slot if state.pool[named.slot] is None else None
