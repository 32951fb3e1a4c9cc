"""The agents that propose policies: each turns one Propose order into one program or a failure."""

from dataclasses import replace

from ..core.events import ProposalFailed, ProposalMade, Propose
from ..core.ports import Model, Prompts
from ..core.program_text import digest
from ..core.values import Brief, Candidate, Contract, MemoryDetail
from .feedback import fenced, policy_feedback, rejections_list
from .writing import PROPOSER, program_block, question, rules, situation, write

NO_REJECTIONS = "None so far in this chain."
NOT_SHOWN = "Not told in this run."
SUMMARY = "what changed and where, old and new values, the effect expected"


class _Proposer:
    """The common part of the proposers: a model, the prompts, and the domain's texts and policy contract."""

    def __init__(self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract) -> None:
        self._model = model
        self._prompts = prompts
        self._contract = contract
        self._situation = prompts.fill(
            "policy-situation",
            **situation(brief),
            interface=brief.policy_interface.strip(),
            rules=rules(prompts, "program-rules", contract),
        )

    def _rest(self, name: str, **variables: str) -> str:
        reply = self._prompts.fill("reply-program", summary=SUMMARY)
        return self._prompts.fill(name, reply=reply, **variables)

    async def _write(self, order: Propose, rest: str, again: str = "") -> ProposalMade | ProposalFailed:
        return await write(
            order,
            question(self._situation, rest, again),
            model=self._model,
            role=PROPOSER,
            contract=self._contract,
            parents=[parent.program for parent in order.parents],
        )


class Initiator(_Proposer):
    """Requests a first policy p_0. The order's rejections, if any, explain why earlier attempts failed.

    With `edited` the prompt says that later proposals edit the program; otherwise that it is used as it is, as in
    zero-shot and in random search.
    """

    def __init__(
        self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract, edited: bool = True
    ) -> None:
        super().__init__(model=model, prompts=prompts, brief=brief, contract=contract)
        self._use = prompts.fill("starting-point" if edited else "used-as-is").strip()

    async def carry_out(self, order: Propose) -> ProposalMade | ProposalFailed:
        """Answer an order for a first policy. Raises ModelError if it is fatal."""
        failures = rejections_list(order.rejections, full=True)
        earlier = self._prompts.fill("earlier-attempts", failures=fenced(failures)) if failures else ""
        return await self._write(order, self._rest("initial-policy", use=self._use, earlier=earlier))


class HillClimber(_Proposer):
    """Requests a micro-mutation of the current program, given the rejection memory H (q_hc).

    The prompt shows the edit summaries of H only ("summary"), as in the paper. With "full" it shows fitness
    differences and reasons too; with "none", the ablation, it shows no rejections.
    """

    def __init__(
        self, *, model: Model, prompts: Prompts, brief: Brief, contract: Contract,
        memory_detail: MemoryDetail = "summary",
    ) -> None:
        super().__init__(model=model, prompts=prompts, brief=brief, contract=contract)
        self._memory_detail = memory_detail

    async def carry_out(self, order: Propose) -> ProposalMade | ProposalFailed:
        """Answer an order for a hill-climb proposal. Raises ModelError if it is fatal."""
        (current,) = order.parents
        if self._memory_detail == "none":
            order, memory = replace(order, rejections=()), NOT_SHOWN
        else:
            memory = self._memory(order)
        rest = self._rest("hill-climb", **_shown(current), memory=memory)
        return await self._write(order, rest, again=self._rest("hill-climb", **_shown(current), memory=""))

    def _memory(self, order: Propose) -> str:
        memory = rejections_list(order.rejections, full=self._memory_detail == "full")
        return self._prompts.fill("rejection-memory", rejections=fenced(memory)) if memory else NO_REJECTIONS


class Mutator(_Proposer):
    """Requests a bold revision of one parent (q_macro)."""

    async def carry_out(self, order: Propose) -> ProposalMade | ProposalFailed:
        """Answer an order for a macro-mutation. Raises ModelError if it is fatal."""
        (parent,) = order.parents
        rest = self._rest("macro-mutation", **_shown(parent))
        return await self._write(order, rest, again=rest)  # all macro-mutations of a generation have one parent


class Crosser(_Proposer):
    """Requests a recombination of two parents, the hill-climb branch's first (q_cross)."""

    async def carry_out(self, order: Propose) -> ProposalMade | ProposalFailed:
        """Answer an order for a crossover. Raises ModelError if it is fatal."""
        first, second = order.parents
        same = digest(first.program) == digest(second.program)
        findings = f"### What its evaluation showed\n\n{policy_feedback(second)}"
        rest = self._rest(
            "crossover",
            guidance=self._prompts.fill("crossover-with-itself" if same else "crossover-of-two"),
            first=program_block(first.program),
            first_feedback=policy_feedback(first),
            second="The same program as parent A." if same else program_block(second.program),
            second_feedback="" if same else findings,
        )
        return await self._write(order, rest)


def _shown(candidate: Candidate) -> dict[str, str]:
    return {"program": program_block(candidate.program), "feedback": policy_feedback(candidate)}
