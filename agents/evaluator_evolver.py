"""The agent that requests evaluators: each ProposeEvaluator order gives one evaluator program or a failure."""

from ..core.events import ProposalFailed, ProposalMade, ProposeEvaluator
from ..core.ports import Model, Prompts
from ..core.programs.patch_form import Form
from ..core.programs.program_text import MAX_EVALUATOR
from ..core.text import fenced
from ..core.values import Brief, Contract, EvaluatorCandidate, Program
from .ballots import order_line, probe_scores_table, probes_table, violations_list
from .feedback import evaluator_feedback, rollouts_table
from .verdict import reasons_list
from .writing import (
    AS_PUBLISHED,
    EVALUATOR_WRITER,
    Answers,
    Question,
    Writer,
    evaluator_situation,
    program_block,
    question,
    rules,
    section,
    with_form,
)

SUMMARY = "what this evaluator measures, or what changed and why"


class EvaluatorEvolver:
    """Requests evaluators: new ones for the first pool, then revisions of the selected one (q_eval^macro)."""

    def __init__(
        self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract, answers: Answers = AS_PUBLISHED,
        judge_reasons: bool = True,
    ) -> None:
        """`judge_reasons`: whether writers read why the last judges voted as they did."""
        self._writer = Writer(
            model=model, prompts=prompts, role=EVALUATOR_WRITER, contract=contract, answers=answers,
            limit=MAX_EVALUATOR,
        )
        self._judge_reasons = judge_reasons
        self._prompts = prompts
        self._common = {
            **evaluator_situation(brief),
            "interface": brief.evaluator_interface.strip(),
            "rules": rules(prompts, "evaluator-rules", contract, MAX_EVALUATOR),
        }

    async def carry_out(self, order: ProposeEvaluator) -> ProposalMade | ProposalFailed:
        """Answer an order for an evaluator program. Raises ModelError if it is fatal."""
        parent = None if order.parent is None else order.parent.program
        parents = [] if parent is None else [parent]
        form: Form = "whole" if parent is None else self._writer.answers.edits
        return await self._writer.write(order, self._question(order, parent, form), parents, form=form)

    def _question(self, order: ProposeEvaluator, parent: Program | None, form: Form) -> Question:
        constant = self._prompts.fill(
            "evaluator-situation",
            **self._common,
            success_rate=success_in_words(order.success_rate, len(order.episodes)),
            rollouts=rollouts_table(order.episodes),
            probes=self._probes(order),
        )
        rest = self._rest(order, parent, form)
        return question(constant, rest, again=rest)  # all evaluators of a generation have one parent, or none

    def _rest(self, order: ProposeEvaluator, parent: Program | None, form: Form) -> str:
        if order.parent is None or parent is None:
            return with_form(self._prompts, "initial-evaluator", SUMMARY, form)
        return with_form(
            self._prompts,
            "evaluator-macro-mutation",
            SUMMARY,
            form,
            program=program_block(parent),
            feedback=_feedback(order, order.parent),
            reasons=self._reasons(order),
        )

    def _probes(self, order: ProposeEvaluator) -> str:
        if not order.probes:
            return ""
        return self._prompts.fill("probes", probes=probes_table(order.probes))

    def _reasons(self, order: ProposeEvaluator) -> str:
        if not order.reasons or not self._judge_reasons:
            return ""
        return section("Why the judges of the last round voted as they did", fenced(reasons_list(order.reasons)))


def _feedback(order: ProposeEvaluator, parent: EvaluatorCandidate) -> str:
    """What the parent gave on T_0 and on the probes, with the known orders that it violates."""
    parts = [evaluator_feedback(parent, order.episodes)]
    found = parent.examination
    if order.probes and found.probe_scores:
        parts += ["f_e of each probe:", fenced(probe_scores_table(found, order.probes))]
        parts.append(f"It violates {order_line(found)}.")
        wrong = violations_list(found, order.episodes, order.probes)
        parts += [fenced(wrong)] if wrong else []
    return "\n\n".join(parts)


def success_in_words(success_rate: float | None, episodes: int) -> str:
    """S_0 as a sentence."""
    if success_rate is None:
        return f"The task has no success predicate; it has {episodes} rollouts here."
    return f"The task's own success predicate held at the end of {success_rate:.0%} of these {episodes} rollouts."
