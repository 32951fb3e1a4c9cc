"""Keeps prompts within a bound: what is left out of a prompt that would be too long, and in which order.

The bound of a proposer is the smaller one of a fixed one and of what its model can read. The first refusal of a prompt
as too long says what that is; it is in the log, so that a resumed run asks as before, and every fact of a proposal says
within which length its prompt was kept, so that a replay makes the same prompts.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from ..core.events import Fact, ProposalFailed, ProposalMade, Propose, ProposeEvaluator, TurnTaken
from ..core.order_ids import ahead_id, is_ahead, parse, slot_of
from ..core.ports import Prompts
from .writing import Question

OTHER = "the code of a good program beside the parent"
SECOND, EPISODES = "the course of a second episode", "the course of single episodes"
HISTORY = "the history of edits"
MEMORY = "the rejected edits and what a critic said"
COURSES, REASONS, PROBES = "the course of some rollouts", "the reasons of the judges", "the probes"
PARTS_OF_POLICIES = (OTHER, SECOND, EPISODES, HISTORY, MEMORY)     # in the order in which they go
PARTS_OF_EVALUATORS = (COURSES, REASONS, PROBES)


def recorded_limits(facts: Iterable[Fact]) -> dict[str, int]:
    """The length within which the prompt of each order of a run was kept, for its replay."""
    return {
        fact.order: fact.prompt_limit for fact in facts
        if isinstance(fact, ProposalMade | ProposalFailed | TurnTaken) and fact.prompt_limit and fact.order is not None
    }


class PromptLimits:
    """The characters that the prompts of each role may have; no limit until a service refused one. Listens to facts.

    In a replay, `recorded` says what was known when each prompt was made; `known` limits of roles are from before.
    """

    def __init__(self, recorded: Mapping[str, int] | None = None, known: Mapping[str, int] | None = None) -> None:
        self._recorded = recorded
        self._limits: dict[str, int] = dict(known or {})

    def on_fact(self, fact: Fact) -> None:
        """Apply a committed fact."""
        if isinstance(fact, ProposalFailed) and fact.prompt_room and fact.order is not None:
            role = parse(fact.order).role
            self._limits[role] = min(fact.prompt_room, self._limits.get(role, fact.prompt_room))

    def of(self, order: str) -> int:
        """The most characters of this order's prompt; 0 for no limit."""
        if self._recorded is None:
            return self._limits.get(parse(order).role, 0)
        other = slot_of(order) if is_ahead(order) else ahead_id(order)
        return self._recorded.get(order, self._recorded.get(other, 0))


def without(order: Propose, left_out: tuple[str, ...]) -> Propose:
    """The order without what the prompt has no room for; the episodes stay, since metrics and a focus need them."""
    parents = order.parents
    if HISTORY in left_out:
        order = replace(order, tried=(), others=())
        parents = tuple(replace(parent, lineage=()) for parent in parents)
    if MEMORY in left_out:
        order = replace(order, rejections=(), critiques=())
    return replace(order, parents=parents)


def evaluator_order_without(order: ProposeEvaluator, left_out: tuple[str, ...]) -> ProposeEvaluator:
    """The same for the writer of an evaluator; the rollouts stay, since their table needs them."""
    order = replace(order, reasons=()) if REASONS in left_out else order
    return replace(order, probes=()) if PROBES in left_out else order


def fitting(
    make: Callable[[tuple[str, ...]], Question], parts: tuple[str, ...], bound: int
) -> tuple[Question, tuple[str, ...]]:
    """The prompt that `make` makes without as few of the parts as it takes for at most `bound` characters (0: any
    number), and the parts that it is without.

    A part goes only if the prompt is shorter without it. If all that is not enough, the service decides.
    """
    left_out: tuple[str, ...] = ()
    made = make(left_out)
    for part in parts:
        if not bound or len(made.text) <= bound:
            break
        shorter = make((*left_out, part))
        if len(shorter.text) < len(made.text):
            made, left_out = shorter, (*left_out, part)
    return made, left_out


def shortened(prompts: Prompts, left_out: tuple[str, ...]) -> str:
    """The part of a prompt that says what is missing in it; "" where nothing is."""
    return prompts.fill("shortened", parts="; ".join(left_out)) + "\n" if left_out else ""
