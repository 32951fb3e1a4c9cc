"""A challenge: the best of a generation meets the elite on fresh episodes until a paired test decides. Pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ...core import order_ids
from ...core.events import EliteConfirmed
from ...core.keeper import Decision
from ...core.values import CandidateState
from ..trials import chain, is_same
from .choice import crown, with_contenders
from .meeting import Adopts, Meeting, S, begin_round
from .paired import FEWEST, looks_of, verdict
from .stream import Records, fitnesses, roll_on, stream_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge(Meeting):
    """The best of a generation meets the elite: their open trials, and the number of the look under way.

    `next` meets the elite where the candidate loses, on what the candidate left of its pairs.
    """

    candidate: CandidateState
    elite: CandidateState
    looks: tuple[int, ...]
    look: int = 0
    next: CandidateState | None = None
    who: str = order_ids.CANDIDATE

    @property
    def length(self) -> int:
        """The pairs at this look."""
        return self.looks[self.look]

    def names(self, generation: int) -> dict[str, CandidateState]:
        """The two programs by the ids of new records; the same program is rolled out once."""
        met = {self.who: self.candidate}
        if self.elite.program != self.candidate.program:
            met[order_ids.ELITE] = self.elite
        island = self.trials.plan.island
        return {str(order_ids.confirmation(generation, who, island=island)): one for who, one in met.items()}

    def end_round(self, keeper: Adopts[Any], state: Any) -> Decision[Any]:
        """Look: the winner is the elite of the generation, or further pairs are needed."""
        decided = verdict_of(self, state.records, state.generation)
        if decided is None:
            return _look(keeper, state, replace(self, look=self.look + 1))
        here = Decision(state=replace(state, meeting=None), facts=(decided,))
        elite = self.candidate if decided.confirmed else self.elite
        if elite is self.elite and (runner_up := self._runner_up()) is not None:
            return chain(here, _look(keeper, here.state, runner_up))
        return chain(here, crown(keeper, here.state, elite))

    def _runner_up(self) -> "Challenge | None":
        """The challenge of the next program; None without one, or where too few pairs for a test are left.

        Both challenges take at most the episodes of one: after `length` pairs, single ones up to that length, then
        pairs.
        """
        most, met = self.looks[-1], self.length
        left = min(2 * (most - met), max(met, most - (met + 1) // 2))
        if self.next is None or left < FEWEST:
            return None
        return replace(self, candidate=self.next, next=None, who=order_ids.RUNNER_UP, looks=looks_of(left), look=0)


def elect(keeper: Adopts[S], state: S, elite: CandidateState, others: Iterable[CandidateState] = ()) -> Decision[S]:
    """End the generation with its best program, which may have to win against the elite on fresh episodes first.

    `others` are further programs of the generation that the final choice may compare.
    """
    plan = state.trials.plan.fresh
    if plan.choice:
        others = tuple(others)
        state = with_contenders(state, (elite, *others))
    if elite.id == state.elite.id or is_same(elite, state.elite):    # there is nothing to compare
        return crown(keeper, state, state.elite)
    if not plan.confirm:
        return crown(keeper, state, elite)
    return _look(keeper, state, Challenge(
        candidate=elite, elite=state.elite, trials=state.trials, looks=looks_of(plan.confirm),
        next=_next_of(elite, state.elite, others),
    ))


def _next_of(
    best: CandidateState, elite: CandidateState, others: Iterable[CandidateState]
) -> CandidateState | None:
    """The fittest other program of a generation that is fitter than the elite on the search's episodes."""
    texts = best.program.text, elite.program.text
    fitter = [
        one for one in others
        if one.fault is None and one.bound is None and one.program.text not in texts and one.fitness > elite.fitness
    ]
    return max(fitter, key=lambda one: one.fitness, default=None)


def _look(keeper: Adopts[S], state: S, challenge: Challenge) -> Decision[S]:
    """Roll out what this look lacks."""
    plan, names = state.trials.plan, challenge.names(state.generation)
    trials, orders = roll_on(plan, stream_of(plan.fresh), state.records, names, challenge.length)
    return begin_round(keeper, state, replace(challenge, trials=trials), orders)


def verdict_of(challenge: Challenge, records: Records, generation: int) -> EliteConfirmed | None:
    """The result at the look under way; None if the challenge goes on.

    Where no pair differs, fresh episodes say nothing against the candidate, and the search's decide, among which may be
    a start that the elite fails.
    """
    new, old = (fitnesses(records, one, challenge.length) for one in (challenge.candidate, challenge.elite))
    means = math.fsum(new) / len(new), math.fsum(old) / len(old)
    won, chance = verdict([a - b for a, b in zip(new, old, strict=True)], challenge.looks)
    if new == old:
        won = challenge.candidate.fitness > challenge.elite.fitness
    if records[challenge.candidate.program.text].fault is not None:
        won = False  # it never started
    if won is None:
        return None
    return EliteConfirmed(
        generation=generation, candidate=challenge.candidate.id, elite=challenge.elite.id, episodes=challenge.length,
        candidate_fitness=means[0], elite_fitness=means[1], confirmed=won, chance=chance,
    )
