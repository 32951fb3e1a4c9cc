"""The kinds of model calls that a run makes, and how many of each, from its settings alone. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.methods import branches_of
from ..core.operators import OPERATORS
from ..core.values import Operator
from ..search.initial import ATTEMPTS
from ..settings import ATTACKER, CRITIC, Settings
from .budgets import models_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of calls: how many a run makes at least and at most, without repairs and withdrawn calls.

    `batches` are the generations in which they are made. `reply` is what a reply holds.
    """

    role: str
    what: str
    calls: tuple[int, int]
    batches: int
    operator: Operator | None = None
    reply: str = "policy"       # policy, evaluator, patch, evaluator-patch, vote or critique
    pictures: int = 0           # that go with each of them
    speculative: int = 0        # calls that may be made in vain
    turns: int = 0              # calls of tools before each of them, at most


def least_calls(settings: Settings) -> dict[str, int]:
    """The least calls of each role."""
    least: dict[str, int] = {}
    for kind in kinds_of(settings):
        least[kind.role] = least.get(kind.role, 0) + kind.calls[0]
    return least


def kinds_of(settings: Settings) -> Iterator[Kind]:
    """The kinds of calls of a run, in the order of its stages."""
    if settings.initial is None:
        yield Kind(
            role="proposer", what="first policy", calls=(1, ATTEMPTS), batches=1, operator=Operator.INITIAL
        )
    yield from _of_evaluators(settings)
    patches = settings.reply == "patch"
    for branch in branches_of(settings.as_json()):
        slots = branch.slots * settings.generations
        for place, operator in enumerate(branch.operators):
            if not OPERATORS[operator].needs_model:
                continue
            share = slots // len(branch.operators) + (place < slots % len(branch.operators))
            if share:
                climb = operator is Operator.HILL_CLIMB
                turns = settings.proposer_turns if operator is not Operator.INITIAL else 0
                parents = OPERATORS[operator].parents
                yield Kind(
                    role="proposer", what=OPERATORS[operator].proposal, calls=(share, share * (1 + turns)),
                    operator=operator, turns=turns,
                    batches=settings.generations, reply="patch" if climb and patches else "policy",
                    speculative=share if climb and settings.speculation else 0,
                    pictures=parents if settings.critic_mode == "pixels" else 0,
                )
    if settings.critic is not None:
        yield Kind(
            role=CRITIC, what="critique", calls=(1, _most_looks(settings)), batches=settings.generations,
            reply="critique", pictures=1,
        )


def _most_looks(settings: Settings) -> int:
    """The programs that later prompts can show: p_0, accepted climbs, and the winners of the other branches.

    A population can show all of its programs.
    """
    branches = branches_of(settings.as_json())
    islands = any(len(branch.operators) > 1 for branch in branches)
    each = sum(
        branch.slots if islands or Operator.HILL_CLIMB in branch.operators else min(1, branch.slots)
        for branch in branches
    )
    return 1 + settings.generations * each


def _of_evaluators(settings: Settings) -> Iterator[Kind]:
    pool, generations = settings.evaluator_pool, settings.evaluator_generations
    if settings.evaluator == "zero-shot":
        yield Kind(
            role="evaluator-writer", what="first evaluator", calls=(1, ATTEMPTS), batches=1, reply="evaluator"
        )
    if settings.evaluator != "evolve":
        return
    yield Kind(role="evaluator-writer", what="first evaluator", calls=(pool, pool), batches=1, reply="evaluator")
    moves = (settings.generations - 1) // settings.evaluator_every if settings.evaluator_every else 0
    again = moves * max(1, generations - 1)    # generations of evaluators in all moves
    revisions, attacks = pool * (generations - 1 + again), settings.evaluator_attacks * (1 + moves)
    if revisions or attacks:
        yield Kind(
            role="evaluator-writer", what="evaluator revision", calls=(revisions, revisions + attacks),
            batches=max(1, generations - 1 + again),
            reply="evaluator-patch" if settings.reply == "patch" else "evaluator",
        )
    if ATTACKER in models_of(settings):
        yield Kind(
            role=ATTACKER, what="attack on the evaluator", calls=(1, 1 + moves + attacks), batches=1 + moves
        )
    votes = settings.evaluator_judges * (generations + again)
    yield Kind(role="judge", what="vote", calls=(votes, votes), batches=generations + again, reply="vote")
