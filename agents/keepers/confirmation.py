"""Confirmation: before a candidate becomes the elite, fresh episodes decide between it and the elite. Pure.

The fittest of many candidates was partly lucky on the search's episodes. Its advantage is real only as far as it
shows on episodes that selected nothing. Candidate and elite get the same seeds, which no other comparison uses.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ...core import order_ids
from ...core.events import EliteConfirmed, Fact, Order
from ...core.seeds import derive_seed
from ...core.values import Candidate
from .trials import RolloutPlan, Trial, Trials


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A comparison on fresh episodes: its open trials and its finished ones, by the ids of their orders."""

    candidate: Candidate
    elite: Candidate
    trials: Trials
    found: Mapping[str, Candidate]

    def take(self, fact: Fact) -> "tuple[Challenge, tuple[Order, ...]]":
        """The comparison after an answer to one of its orders, and further orders; other facts change nothing."""
        step = self.trials.take(fact)
        found = {each.id: each for each in step.settled}
        return replace(self, trials=step.trials, found={**self.found, **found}), step.orders


def challenged(
    plan: RolloutPlan, generation: int, candidate: Candidate, elite: Candidate
) -> tuple[Challenge, tuple[Order, ...]]:
    """Begin the comparison. If both are the same program, it is rolled out once."""
    fresh = RolloutPlan(
        split=plan.split,
        seeds=tuple(
            derive_seed(plan.confirm_seed, "confirm", generation, index) for index in range(plan.confirm_episodes)
        ),
        evaluator=plan.evaluator,
        has_success=plan.has_success,
    )
    trials, orders = Trials(plan=fresh, open={}), list[Order]()
    programs = {order_ids.CANDIDATE: candidate}
    if elite.program != candidate.program:
        programs[order_ids.ELITE] = elite
    for slot, (who, one) in enumerate(programs.items()):
        trial = Trial(
            id=str(order_ids.confirmation(generation, who)), program=one.program, operator=one.operator,
            generation=generation, slot=slot,
        )
        step = trials.begin(trial)
        trials = step.trials
        orders.extend(step.orders)
    return Challenge(candidate=candidate, elite=elite, trials=trials, found={}), tuple(orders)


def judged(challenge: Challenge, generation: int) -> EliteConfirmed | None:
    """The result once all episodes are scored: the candidate wins if its mean f_e is not below the elite's."""
    if challenge.trials.open:
        return None
    new = challenge.found[str(order_ids.confirmation(generation, order_ids.CANDIDATE))]
    old = challenge.found.get(str(order_ids.confirmation(generation, order_ids.ELITE)), new)
    return EliteConfirmed(
        generation=generation,
        candidate=challenge.candidate.id,
        elite=challenge.elite.id,
        episodes=len(challenge.trials.plan.seeds),
        candidate_fitness=new.fitness,
        elite_fitness=old.fitness,
        confirmed=new.fault is None and new.fitness >= old.fitness,
    )
