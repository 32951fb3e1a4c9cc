"""The agents that request evaluators, and policies that attack them: each order gives one program or a failure."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from ..core.events import ProposalFailed, ProposalMade, ProposeAttack, ProposeEvaluator
from ..core.ports import Form, Model, Prompts
from ..core.programs.program_text import MAX_EVALUATOR
from ..core.text import fenced_text, one_line
from ..core.values import Brief, Contract, EvaluatorCandidate, Exploit, FeedbackDetail, Program
from .feedback import evaluator_feedback, rollouts_table
from .fences import split
from .fitting import COURSES, PARTS_OF_EVALUATORS, PromptLimits, evaluator_order_without, fitting, shortened
from .foci import EMPHASES, remedies
from .judge_reasons import reasons_list
from .probe_words import MAX_COURSE, courses, order_line, probe_scores_table, probes_table, violations_list
from .stories import story_within
from .writing import (
    AS_PUBLISHED,
    ATTACKER,
    EVALUATOR_WRITER,
    SHOWN,
    Answers,
    Question,
    Writer,
    evaluator_situation,
    program_block,
    question,
    rules,
    section,
    situation,
    with_form,
)

SUMMARY = "what changed and why; for a first evaluator, its idea"
MAX_MEASURES = 400  # characters
EXPLOITS_SHOWN = 2  # with their programs

_MEASURES = re.compile(r"[\s>*_#-]{0,8}measures[\s*_]{0,8}:(.*)", re.IGNORECASE)


def measures_of(text: str) -> str:
    """What follows "Measures:" on the last line outside of code that says so, bounded; "" without one.

    The last line counts, since a reply may reason first.
    """
    said = [found[1] for line in split(text)[1] if (found := _MEASURES.match(line))]
    return one_line(said[-1].strip(" *_`"), MAX_MEASURES) if said else ""


class EvaluatorEvolver:
    """Requests evaluators: new ones for the first pool, then revisions of the selected one (q_eval^macro)."""

    def __init__(
        self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract, answers: Answers = AS_PUBLISHED,
        judge_reasons: bool = True, emphasis_seed: int | None = None, feedback: FeedbackDetail = "stories",
        limits: PromptLimits | None = None,
    ) -> None:
        """`judge_reasons`: whether writers read why the last judges voted as they did.

        With an `emphasis_seed` each writer of a generation gets another emphasis. With the feedback "stories" they
        read the course of some recorded rollouts.
        """
        self._writer = Writer(
            model=model, prompts=prompts, role=EVALUATOR_WRITER, contract=contract, answers=answers,
            limit=MAX_EVALUATOR,
        )
        self._judge_reasons = judge_reasons
        self._seed, self._feedback = emphasis_seed, feedback
        self._emphases = remedies(prompts, EMPHASES)
        self._limits = limits or PromptLimits()
        self._measures = prompts.fill("reply-measures", most=str(MAX_MEASURES))
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
        limit = self._limits.of(order.id)
        asked, left_out = fitting(
            lambda parts: self._question(order, parent, form, parts), PARTS_OF_EVALUATORS, limit
        )
        fact = await self._writer.write(order, asked, parents, form=form)
        if isinstance(fact, ProposalMade):
            fact = replace(fact, measures=measures_of(fact.call.reply.text))
        return replace(fact, prompt_limit=limit, left_out=left_out)

    def _question(
        self, order: ProposeEvaluator, parent: Program | None, form: Form, left_out: tuple[str, ...]
    ) -> Question:
        order = evaluator_order_without(order, left_out)
        shown = [] if COURSES in left_out else self._courses(order)
        constant = self._prompts.fill(
            "evaluator-situation",
            **self._common,
            success_rate=success_in_words(order.success_rate, len(order.episodes), order.later),
            rollouts="\n\n".join([rollouts_table(order.episodes), *shown]),
            probes=self._probes(order),
        )
        missing, emphasis = shortened(self._prompts, left_out), self._emphasis(order)
        rest, again = (missing + self._rest(order, parent, form, text) for text in (emphasis, ""))
        return question(constant, rest, again=again)  # all evaluators of a generation have one parent, or none

    def _emphasis(self, order: ProposeEvaluator) -> str:
        """What this writer takes special care of: drawn by the run's seed, the generation and the slot."""
        if self._seed is None:
            return ""
        kinds = list(self._emphases)
        random.Random(f"{self._seed} emphasis {order.generation}").shuffle(kinds)
        return self._prompts.fill("evaluator-emphasis", emphasis=kinds[order.slot % len(kinds)])

    def _courses(self, order: ProposeEvaluator) -> list[str]:
        """The course of a success and of a failure, with their numbers, where the recordings have one."""
        return [] if self._feedback == "metrics" else courses(order.episodes)

    def _rest(self, order: ProposeEvaluator, parent: Program | None, form: Form, emphasis: str) -> str:
        if order.parent is None or parent is None:
            more = "\n".join(filter(None, (self._measures, emphasis)))
            return with_form(self._prompts, "initial-evaluator", SUMMARY, form, more)
        return with_form(
            self._prompts,
            "evaluator-macro-mutation",
            SUMMARY,
            form,
            self._measures,
            program=program_block(parent),
            feedback=_feedback(order, order.parent),
            reasons="\n\n".join(filter(None, (
                exploits_text(self._prompts, order.exploits), self._reasons(order), emphasis,
            ))),
        )

    def _probes(self, order: ProposeEvaluator) -> str:
        if not order.probes:
            return ""
        return self._prompts.fill("probes", probes=probes_table(order.probes))

    def _reasons(self, order: ProposeEvaluator) -> str:
        if not order.reasons or not self._judge_reasons:
            return ""
        return section("Why the judges of the last round voted as they did", fenced_text(reasons_list(order.reasons)))


class AttackWriter:
    """Requests policies that an evaluator likes although they do not do the task: the model's part of an attack."""

    def __init__(
        self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract, limits: str,
        answers: Answers = AS_PUBLISHED,
    ) -> None:
        """`contract` and `limits`, in words, are those of policies."""
        self._writer = Writer(
            model=model, prompts=prompts, role=ATTACKER, contract=contract, answers=answers
        )
        self._prompts = prompts
        self._constant = {
            **situation(brief), "interface": brief.policy_interface.strip(), "recordings": brief.evaluator_interface,
            "rules": rules(prompts, "program-rules", contract, limits=limits, noted=SHOWN),
        }

    async def carry_out(self, order: ProposeAttack) -> ProposalMade | ProposalFailed:
        """Answer an order for a policy. Raises ModelError if it is fatal."""
        assert order.evaluator.program is not None
        text = with_form(
            self._prompts, "evaluator-attack", "how it pleases the evaluator", "whole", **self._constant,
            bar=f"{order.bar:.2f}", evaluator=program_block(order.evaluator.program),
            known="\n".join(f"- {one_line(each.probe.name, 60)}: f_e {each.fitness:.3f}" for each in order.known),
        )
        return await self._writer.write(order, Question(text=text, prefixes=(len(text),)), [])


def exploits_text(prompts: Prompts, exploits: Sequence[Exploit]) -> str:
    """The latest programs that the parent likes although they never succeeded, for its revision; "" for none."""
    if not exploits:
        return ""
    shown = [
        f"### {one_line(each.probe.name, 60)}: f_e {each.fitness:.3f}\n\n{program_block(each.program)}"
        + (f"\n\n{fenced_text(story_within(story, MAX_COURSE))}" if (story := each.probe.episode.notes.story) else "")
        for each in exploits[-EXPLOITS_SHOWN:]
    ]
    return prompts.fill("evaluator-exploits", exploits="\n\n".join(shown))


def _feedback(order: ProposeEvaluator, parent: EvaluatorCandidate) -> str:
    """What the parent gave on T_0 and on the probes, with the known orders that it violates."""
    parts = [evaluator_feedback(parent, order.episodes)]
    found = parent.examination
    if order.probes and found.probe_scores:
        parts += ["f_e of each probe:", fenced_text(probe_scores_table(found, order.probes))]
        parts.append(f"It violates {order_line(found)}.")
        wrong = violations_list(found, order.episodes, order.probes)
        parts += [fenced_text(wrong)] if wrong else []
    return "\n\n".join(parts)


def success_in_words(success_rate: float | None, episodes: int, later: int = 0) -> str:
    """S_0 as a sentence, and which of the episodes, the last ones, are of `later` programs than the first policy."""
    words = (
        f"The task has no success predicate; it has {episodes} rollouts here." if success_rate is None else
        f"The task's own success predicate held at the end of {success_rate:.0%} of these {episodes} rollouts."
        + " So they test nothing of the order of failures: think of these." * (success_rate >= 1.0)
    )
    if not later:
        return words
    return (
        f"{words} From episode {episodes - later} on they are of later programs of the search that the evaluator in "
        "use steers: its best program, some that nearly won, and failures. The chosen one takes its place only if "
        "it ranks no pair of recordings of certain order wrongly that the one in use ranks rightly."
    )
