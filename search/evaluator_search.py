"""Evaluator evolution (paper, Algorithm 1): a pool of programs, scored on T_0, chosen by a panel of judges.

Where evaluators are tested, one with a flaw is out before the votes, which then decide among those that invert the
fewest pairs of certain order. Where they are attacked as well, those on which no attack is open come first.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ..core import order_ids
from ..core.errors import SearchError
from ..core.evaluator_attacks import bar_of, with_attack
from ..core.evaluator_choice import leading, open_to_votes
from ..core.events import (
    EvaluatorAttacked,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
    Examine,
    Fact,
    Judge,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    ProposeEvaluator,
    RecordProbes,
    VoteCast,
)
from ..core.keeper import Decision, put
from ..core.values import CandidateState, EvaluatorCandidate, Examination, JudgeReason, Probe
from .hardening import PROBED, AttackTerms
from .setting_groups import JUDGE, WRITER, PartSettings, Positive, SettingGroup
from .votes import majority, tally

EVALUATOR_WRITER = SettingGroup(name="evaluator writer", roles=frozenset({WRITER}))
EVALUATOR_SEARCH = SettingGroup(name="evaluator search", roles=frozenset({JUDGE}))
EVALUATOR_TESTS = SettingGroup(name="evaluator tests", roles=frozenset({JUDGE}), switches=(PROBED,))


class EvaluatorSettings(PartSettings):
    """Who writes and judges evaluators, how many, and what they are compared on."""

    evaluator_model: str | None = EVALUATOR_WRITER.field(None, "the model that writes evaluators; none: `model`")
    judges: tuple[str, ...] = EVALUATOR_SEARCH.field((), "models of the judges, seats dealt in turn; none: `model`")
    evaluator_pool: Positive = EVALUATOR_SEARCH.field(..., "n, evaluators in a pool")
    evaluator_generations: Positive = EVALUATOR_SEARCH.field(
        ..., "T, generations of evaluator search, the first pool among them"
    )
    evaluator_judges: Positive = EVALUATOR_SEARCH.field(..., "k, judges who vote on a pool")
    probes: Literal["on", "off"] = EVALUATOR_SEARCH.field("on", "evaluators are compared on more recordings than T_0")
    evaluator_tests: Literal["on", "off"] = EVALUATOR_TESTS.field(
        "on", "tests on probes come before the votes on evaluators; off: votes alone, as in the paper"
    )
    judge_reasons: bool = EVALUATOR_SEARCH.field(
        True, "writers of evaluators read why the last judges voted as they did"
    )


def _measures(fact: ProposalMade | ProposalFailed, parent: EvaluatorCandidate | None) -> str:
    """What a new evaluator measures; a revision that does not say so measures what its parent does."""
    said = fact.measures if isinstance(fact, ProposalMade) else ""
    return said or (parent.measures if parent is not None else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorBudget:
    """The budget of evaluator search: pool size n, voting budget k, evaluator generations T_eval."""

    pool: int
    judges: int
    generations: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Predecessor:
    """The evaluator in use, from which its successor is evolved in a move.

    `probes` are those of the run, `first` numbers the first generation. `later` of the recordings, the last ones, are
    of later programs than p_0.
    """

    chosen: EvaluatorCandidate
    move: int
    first: int
    probes: tuple[Probe, ...] = ()
    later: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedVote:
    """A vote without its calls: the slot (None for an abstention), the reason, the slots in the order seen."""

    choice: int | None
    reason: str
    seen: tuple[int, ...]

    def reason_for(self, chosen: int) -> JudgeReason:
        """The reason as the next writers read it; `chosen` is the slot that won."""
        place = self.seen.index(chosen) if chosen in self.seen else None
        return JudgeReason(text=self.reason, agrees=self.choice == chosen, place=place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """The state between two facts: generation i, its pool D_i and the votes on it."""

    generation: int
    parent: EvaluatorCandidate | None = None  # E*_(i-1)
    written: Mapping[int, EvaluatorCandidate]  # programs that are being examined
    pool: tuple[EvaluatorCandidate | None, ...]
    votes: Mapping[int, CountedVote]  # by seat
    probes: tuple[Probe, ...] | None = ()  # None while they are being recorded
    reasons: tuple[JudgeReason, ...] = ()  # of the judges who chose the parent
    voting: bool = False
    chosen: EvaluatorCandidate | None = None  # E*, once frozen
    kept: EvaluatorCandidate | None = None  # in a move the evaluator in use, once it is examined on the new recordings


class EvaluatorKeeper:
    """Decides evaluator evolution over fixed rollouts: T_0 of p_0, in a move of the evaluator with later ones."""

    def __init__(
        self, *, baseline: CandidateState, budget: EvaluatorBudget, probe_seed: int | None = None, tested: bool = False,
        attacks: AttackTerms | None = None, replaces: Predecessor | None = None,
    ) -> None:
        """`probe_seed` is the seed of the probes; None for a search without probes, as in the paper.

        `tested`: evaluators are tested on probes, and the tests come before the votes. With `attacks` each tested one
        is attacked by bred programs. The last choice is not final then: it is attacked and revised (`hardening`).
        In a move all pools are revisions of the evaluator that it `replaces`, and the last choice is not final either.
        """
        self._replaces = replaces
        self._first = 0 if replaces is None else replaces.first
        self._later = 0 if replaces is None else replaces.later
        self._attacks = attacks if tested and probe_seed is not None else None
        self._tested = tested and probe_seed is not None
        self._baseline = baseline
        self._budget = budget
        self._probe_seed = probe_seed

    def start(self) -> Decision[Evolution]:
        """Request the probes, if there are any, then the initial pool; in a move the predecessor is examined first."""
        if self._replaces is not None:
            return self._examine_kept(self._replaces)
        begun = self._begin_generation(0, None, probes=(), reasons=())
        if self._probe_seed is None:
            return begun
        order = RecordProbes(
            id=str(order_ids.probes()), split="search", seed=self._probe_seed, episodes=self._baseline.episodes,
            program=self._baseline.program if self._tested else None,
        )
        return Decision(state=replace(begun.state, probes=None), orders=(order,))

    def decide(self, state: Evolution, fact: Fact) -> Decision[Evolution]:
        """The decision after one reply, examination or vote."""
        if state.chosen is not None:
            return Decision(state=state)
        if self._replaces is not None and state.kept is None:
            return self._take_kept(state, self._replaces, fact)
        if state.probes is None:
            return self._take_probes(state, fact)
        match fact:
            case ProposalMade() | ProposalFailed():
                return self._take_proposal(state, fact)
            case EvaluatorExamined():
                return self._take_examination(state, fact)
            case EvaluatorAttacked():
                return self._take_attack(state, fact)
            case VoteCast():
                return self._take_vote(state, fact)
        return Decision(state=state)

    def finished(self, state: Evolution) -> bool:
        """Whether E* is frozen."""
        return state.chosen is not None

    # ------------------------------------------------------------------------------------- the pool

    def _take_probes(self, state: Evolution, fact: Fact) -> Decision[Evolution]:
        if not isinstance(fact, ProbesRecorded):
            return Decision(state=state)
        return self._begin_generation(0, None, probes=fact.probes, reasons=())

    def _examine_kept(self, before: Predecessor) -> Decision[Evolution]:
        assert before.chosen.program is not None
        order = Examine(
            id=order_ids.examine_id(str(order_ids.kept_evaluator(before.move))), evaluator=before.chosen.program,
            episodes=self._baseline.episodes, probes=before.probes, tested=self._tested,
        )
        state = Evolution(generation=self._first, written={}, pool=(), votes={}, probes=before.probes)
        return Decision(state=state, orders=(order,))

    def _take_kept(self, state: Evolution, before: Predecessor, fact: Fact) -> Decision[Evolution]:
        name = str(order_ids.kept_evaluator(before.move))
        if not isinstance(fact, EvaluatorExamined) or fact.order != order_ids.examine_id(name):
            return Decision(state=state)
        found, old = fact.examination, before.chosen.examination.tests
        if old is not None and old.attacks is not None:
            found = with_attack(found, old.attacks)
        kept = replace(before.chosen, examination=found, carried_over=False)
        begun = self._begin_generation(self._first, kept, probes=before.probes, reasons=())
        return replace(begun, state=replace(begun.state, kept=kept))

    def _begin_generation(
        self, generation: int, parent: EvaluatorCandidate | None, *, probes: tuple[Probe, ...],
        reasons: tuple[JudgeReason, ...],
    ) -> Decision[Evolution]:
        orders = tuple(
            ProposeEvaluator(
                id=str(order_ids.evaluator(generation, slot)),
                generation=generation,
                slot=slot,
                parent=parent,
                episodes=self._baseline.episodes,
                success_rate=self._baseline.success_rate,
                probes=probes,
                reasons=reasons,
                later=self._later,
            )
            for slot in range(self._budget.pool)
        )
        state = Evolution(
            generation=generation,
            parent=parent,
            written={},
            pool=(None,) * self._budget.pool,
            votes={},
            probes=probes,
            reasons=reasons,
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
            measures=_measures(fact, state.parent),
        )
        if isinstance(fact, ProposalFailed):
            return self._fill(state, replace(candidate, examination=Examination(fault=fact.fault)))
        order = Examine(
            id=order_ids.examine_id(candidate.id), evaluator=fact.program, episodes=self._baseline.episodes,
            probes=state.probes or (), tested=self._tested,
        )
        return Decision(state=replace(state, written={**state.written, slot: candidate}), orders=(order,))

    def _take_examination(self, state: Evolution, fact: EvaluatorExamined) -> Decision[Evolution]:
        slot = self._open_slot(state, fact.order, part=order_ids.EXAMINE)
        if slot is None or slot not in state.written:
            return Decision(state=state)
        candidate = replace(state.written[slot], examination=fact.examination)
        if self._attacks is None or candidate.program is None or not fact.examination.valid:
            return self._fill(state, candidate)
        bar = bar_of(self._baseline.episodes, state.probes or (), fact.examination)
        order = self._attacks.order(candidate.id, 0, candidate.program, bar, (self._baseline.program,))
        return Decision(state=replace(state, written={**state.written, slot: candidate}), orders=(order,))

    def _take_attack(self, state: Evolution, fact: EvaluatorAttacked) -> Decision[Evolution]:
        slot = self._open_slot(state, fact.order, part=order_ids.ATTACK)
        if slot is None or slot not in state.written:
            return Decision(state=state)
        candidate = state.written[slot]
        return self._fill(state, replace(candidate, examination=with_attack(candidate.examination, fact.count)))

    def _fill(self, state: Evolution, candidate: EvaluatorCandidate) -> Decision[Evolution]:
        state = replace(state, pool=put(state.pool, candidate.slot, candidate))
        pool = tuple(entry for entry in state.pool if entry is not None)
        if len(pool) < self._budget.pool:
            return Decision(state=state)
        scored = EvaluatorPoolScored(generation=state.generation, pool=pool)
        voted = open_to_votes(pool)     # without tests all valid ones
        if not voted:
            return self._carry_over(state, scored)
        orders = tuple(
            Judge(
                id=str(order_ids.judge(state.generation, seat)),
                generation=state.generation,
                seat=seat,
                pool=voted,
                success_rate=self._baseline.success_rate,
                episodes=self._baseline.episodes,
                probes=state.probes or (),
                later=self._later,
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
        onward = self._choose(state, choice, {}, state.reasons)
        return replace(onward, facts=(scored, *onward.facts))

    # ------------------------------------------------------------------------------------ the judges

    def _take_vote(self, state: Evolution, fact: VoteCast) -> Decision[Evolution]:
        mine = state.voting and fact.generation == state.generation
        if not mine or fact.seat in state.votes or not 0 <= fact.seat < self._budget.judges:
            return Decision(state=state)
        ballot = CountedVote(choice=fact.choice, reason=fact.reason, seen=fact.seen)
        state = replace(state, votes={**state.votes, fact.seat: ballot})
        if len(state.votes) < self._budget.judges:
            return Decision(state=state)
        pool = tuple(entry for entry in state.pool if entry is not None)
        voted = {entry.slot for entry in open_to_votes(pool)}
        ahead = {entry.slot: entry for entry in leading(pool)}  # without tests the same
        votes = [ballot.choice for _, ballot in sorted(state.votes.items())]
        slot = majority(slot for slot in votes if slot in ahead)
        if slot is None and any(vote in voted for vote in votes):
            slot = min(ahead)   # the judges agree on none of those that lead in the tests
        if slot is None and self._replaces is not None and state.parent is not None:
            # The search has an evaluator, and goes on with it.
            return self._choose(state, replace(state.parent, carried_over=True), tally(votes), state.reasons)
        if slot is None:
            raise SearchError(
                f"no judge of evaluator generation {state.generation} gave a usable vote: use another "
                "--judge model, or --evaluator reference"
            )
        given = (ballot for _, ballot in sorted(state.votes.items()) if ballot.choice is not None)
        reasons = tuple(ballot.reason_for(slot) for ballot in given)
        return self._choose(state, ahead[slot], tally(votes), reasons)

    def _choose(
        self, state: Evolution, choice: EvaluatorCandidate, votes: Mapping[str, int], reasons: tuple[JudgeReason, ...]
    ) -> Decision[Evolution]:
        final = state.generation == self._first + self._budget.generations - 1
        fact = EvaluatorChosen(
            generation=state.generation, chosen=choice, votes=votes,
            final=final and self._attacks is None and self._replaces is None,
        )
        if final:
            return Decision(state=replace(state, chosen=choice), facts=(fact,))
        begun = self._begin_generation(state.generation + 1, choice, probes=state.probes or (), reasons=reasons)
        return replace(begun, state=replace(begun.state, kept=state.kept), facts=(fact,))

    def _open_slot(self, state: Evolution, order: str | None, *, part: order_ids.Part) -> int | None:
        """The open slot of this generation whose proposal or examination `order` names, or None."""
        named = order_ids.parse(order or "")
        expected = replace(order_ids.evaluator(state.generation, named.slot), part=part)
        if named != expected or named.slot >= self._budget.pool:
            return None
        return named.slot if state.pool[named.slot] is None else None
