"""The agent that requests evaluators: each ProposeEvaluator order gives one evaluator program or a failure."""

from ..core.events import ProposalFailed, ProposalMade, ProposeEvaluator
from ..core.ports import Model, Prompts
from ..core.program_text import MAX_EVALUATOR
from ..core.values import Brief, Contract, Program
from .feedback import evaluator_feedback, rollouts_table
from .writing import EVALUATOR_WRITER, evaluator_situation, program_block, rules, write


class EvaluatorEvolver:
    """Requests evaluators: new ones for the first pool, then revisions of the selected one (q_eval^macro)."""

    def __init__(self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract) -> None:
        self._model = model
        self._prompts = prompts
        self._contract = contract
        self._common = {
            **evaluator_situation(brief),
            "interface": brief.evaluator_interface.strip(),
            "rules": rules(prompts, "evaluator-rules", contract, MAX_EVALUATOR),
        }

    async def carry_out(self, order: ProposeEvaluator) -> ProposalMade | ProposalFailed:
        """Answer an order for an evaluator program. Raises ModelError if it is fatal."""
        parent = None if order.parent is None else order.parent.program
        return await write(
            order,
            self._prompt(order, parent),
            model=self._model,
            role=EVALUATOR_WRITER,
            contract=self._contract,
            parents=[] if parent is None else [parent],
            limit=MAX_EVALUATOR,
        )

    def _prompt(self, order: ProposeEvaluator, parent: Program | None) -> str:
        seen = {
            "success_rate": success_in_words(order.success_rate, len(order.episodes)),
            "rollouts": rollouts_table(order.episodes),
        }
        if order.parent is None or parent is None:
            return self._prompts.fill("initial-evaluator", **self._common, **seen)
        return self._prompts.fill(
            "evaluator-macro-mutation",
            **self._common,
            **seen,
            program=program_block(parent),
            feedback=evaluator_feedback(order.parent, order.episodes),
        )


def success_in_words(success_rate: float, episodes: int) -> str:
    """S_0 as a sentence."""
    return f"The task's own success predicate held at the end of {success_rate:.0%} of these {episodes} rollouts."
