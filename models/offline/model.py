"""OfflineModel: answers a proposer's, an evaluator writer's or a judge's question without a language model."""

import json
import random

from ...core.errors import ModelError
from ...core.events import Judge, Propose, ProposeEvaluator
from ...core.order_ids import owner_of, slot_of
from ...core.ports import Ask, Reply, Shelf
from ...core.programs.calibration import Bounds
from ...core.seeds import derive_seed
from ...core.text import one_line
from ...core.turns import TRY, Conversation
from ...core.values import Operator, Usage
from .calibrating import next_values
from .edits import Workshop
from .evaluators import MAX_LINE, measures_of, write_evaluator
from .judging import judge
from .proposer import propose
from .repairing import next_turn


class OfflineModel:
    """A deterministic structural mutator behind the Model port. It is not a language model.

    It never reads the prompt: it edits the parent program of the order with pieces of a shelf, in a conversation by
    what practice episodes showed, or, in a calibration, changes one constant at a time. All
    randomness comes from the run's seed, the order's slot and the attempt, so the same order gives the same
    reply in any process and in any order of arrival, also if it is requested speculatively. Its results are
    not evidence for the results of language models.
    """

    name = "offline"

    def __init__(self, shelf: Shelf | None, *, run_seed: int, bounds: Bounds | None = None) -> None:
        """Without a shelf it only calibrates, within these bounds."""
        self._workshop = None if shelf is None else Workshop(shelf)
        self._run_seed = run_seed
        self._bounds = bounds or {}

    async def complete(self, ask: Ask) -> Reply:
        """Answer one order in the form of a language model's reply.

        Raises ModelError for an order of another type, or whose parent does not parse.
        """
        order = ask.order
        rng = random.Random(derive_seed(self._run_seed, "offline", slot_of(order.id), ask.attempt))
        try:
            if isinstance(order, Propose) and order.operator is Operator.CALIBRATE:
                text = json.dumps(next_values((*order.earlier, *order.parents), self._bounds))
            elif self._workshop is None:
                raise ModelError("the offline model has no parts for this task: it only calibrates")
            elif isinstance(order, Propose) and order.conversation is not None:
                text = self._turn(order, order.conversation, self._workshop, rng)
            elif isinstance(order, Propose):
                text = program_reply(*propose(order, self._workshop, rng, attempt=ask.attempt))
            elif isinstance(order, ProposeEvaluator):
                program, summary = write_evaluator(order, self._workshop.shelf.evaluators, rng)
                text = f"Measures: {measures_of(program)}\n{program_reply(program, summary)}"
            elif isinstance(order, Judge):
                choice, reason = judge(order, rng)
                text = json.dumps({"choice": choice, "reason": reason})
            else:
                raise ModelError(f"the offline model has no answer to an order of type {type(order).__name__}")
        except SyntaxError as error:
            raise ModelError(f"the offline model cannot edit the parent of {order.id}: {error}") from error
        return Reply(text=text, model=self.name, usage=Usage(cost_usd=0.0))

    def _turn(self, order: Propose, conversation: Conversation, workshop: Workshop, rng: random.Random) -> str:
        """A call of `try_program`, or a submission."""
        slot = owner_of(order.id)
        first = derive_seed(self._run_seed, "practice", slot) % max(1, conversation.practice)
        program, summary, number = next_turn(order, workshop, rng, first=first)
        reply = program_reply(program, summary)
        if number is None:
            return reply
        drafts = [draft.program.text.rstrip() for draft in conversation.drafts]
        if program.rstrip() in drafts:
            reply = f"Draft: {drafts.index(program.rstrip()) + 1}"
        return f"Tool: {TRY}\nEpisode: {number}\n{reply}"


def program_reply(program: str, summary: str) -> str:
    """A reply that holds a program: one summary line, without fences, and one fenced block."""
    line = one_line(summary.replace("```", "'''"), MAX_LINE)
    return f"Summary: {line}\n\n```python\n# whole program\n{program.rstrip()}\n```\n"
