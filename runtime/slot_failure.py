"""What stands for an order whose agent failed on the text of a model: no reply may end a run."""

from ..core.critic_events import Criticise, Criticised
from ..core.events import Fact, Judge, Order, ProposalFailed, Propose, ProposeEvaluator, VoteCast
from ..core.programs.program_text import MAX_FAULT
from ..core.text import one_line
from ..core.turn_events import Compute, LookCloser, ToolAnswered
from ..core.turns import Passage
from ..core.values import Fault, FaultKind


def failed_slot(order: Order, error: Exception) -> Fact | None:
    """The fact that spends the slot of an order to a model: a failed proposal or an abstention.

    None for the orders whose agents read no reply.
    """
    message = one_line(f"an internal error: {type(error).__name__}: {error}", MAX_FAULT)
    if isinstance(order, Propose | ProposeEvaluator):
        # The kind says that no reply is kept, as after a failed call, so that a replay fails the slot again.
        return ProposalFailed(order=order.id, fault=Fault(kind=FaultKind.MODEL_FAILED, message=message))
    if isinstance(order, Judge):
        reason = f"abstained: {message}"
        return VoteCast(order=order.id, generation=order.generation, seat=order.seat, choice=None, reason=reason)
    if isinstance(order, LookCloser | Compute):
        return ToolAnswered(order=order.id, answer=Passage(message))
    if isinstance(order, Criticise):
        return Criticised(
            order=order.id, candidate=order.candidate, episode=order.episode.index, sheet=None, problem=message
        )
    return None
