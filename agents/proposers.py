"""The agents that propose policies: each turns one Propose order into one program or a failure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NotRequired, TypedDict, Unpack

from ..core.events import ProposalMade, Propose
from ..core.figures import figure_of
from ..core.methods import METHODS
from ..core.operators import Operation
from ..core.ports import Form, Model, Prompts, Rig
from ..core.programs.program_text import digest
from ..core.text import excerpt, fenced_text
from ..core.values import Brief, CandidateState, Contract, FeedbackDetail, Focus, MemoryDetail
from .conversation import Talker
from .critic import critique_text, sheet_text
from .critic_sheets import SheetFolder
from .feedback import coverage_text, faults_text, policy_feedback
from .fitting import EPISODES, MEMORY, OTHER, PARTS_OF_POLICIES, SECOND, PromptLimits, fitting, shortened, without
from .foci import CROSSOVERS, MECHANISMS, crossing_of, edits_of, focus_of, remedies
from .hints import Hints, hints_text
from .memory_text import history, others_beside, others_list, rejections_list, tried_earlier, tried_list
from .notes import MAX_WORDS, Notes, note_of, notes_text
from .pairs import pair_table, second_block, second_history, title_of
from .stories import course_of, said_of_worst
from .turn_prompts import TurnPrompts
from .writing import (
    AS_PUBLISHED,
    PROPOSER,
    SHOWN,
    Answers,
    Proposed,
    Question,
    Writer,
    program_block,
    question,
    rules,
    situation,
    with_form,
)

# What proposers get beyond the paper's prompts.


@dataclass(frozen=True, slots=True, kw_only=True)
class Aids:
    """The aids of all proposers of a run: the hints of the person who runs it, and the notes of earlier proposers.

    Without `notes`, no proposer leaves a note or sees one. With `sheets` the sheets of a critic go with prompts.
    `budget` says what is left of the run's budgets, for conversations; "" without budgets. `limits` are those of the
    lengths of prompts.
    """

    hints: Hints = field(default_factory=Hints)
    notes: Notes | None = None
    sheets: SheetFolder | None = None
    budget: Callable[[], str] = lambda: ""
    limits: PromptLimits = field(default_factory=PromptLimits)


MAX_FITNESS = 900  # characters of what f_e measures
MOST_PROMPT = 80_000  # characters of a prompt whose programs have up to
MOST_OF_PROGRAM = 15_000  # characters; what they have more comes on top
MOST_OF_OTHER = 8_000  # characters of the code of a good program beside the parent: a longer one is left out,
NEAR = 0.75  # of whose F it must have
OTHER_NAMES = ("the parent", "this program")
FIRST_OTHER = "The first of them, to take from, or to build on in place of the parent if it is the better start:"
LEAST_SECOND = 3_000  # characters of parent B that a crossover shows; what the parents said gives way before
NO_REJECTIONS = "None so far in this chain."
NOT_SHOWN = "Not shown in this run."
NO_ROOM = "Left out."
OUTDATED = "An edit whose line says that a part has changed since may be tried once more: the program is another one."
CROSSED_ALONE = "the search goes on from it if its F is at least as high"
CROSSED = f"{CROSSED_ALONE} as theirs"
SUMMARY = "what changed and where, old and new values, the effect expected"


class Common(TypedDict):
    """What every proposer is made of.

    `limits` says in sentences what a policy may use; `feedback` is what the prompts show of the parents' episodes.
    """

    model: Model
    prompts: Prompts
    brief: Brief
    contract: Contract
    limits: str
    answers: NotRequired[Answers]  # by default AS_PUBLISHED
    feedback: NotRequired[FeedbackDetail]  # by default "stories"
    aids: NotRequired[Aids | None]
    practice_cpu: NotRequired[str]  # what CPU time a practice episode may use
    edited: NotRequired[bool]  # whether later proposals edit a first program; by default True
    memory_detail: NotRequired[MemoryDetail]  # what a climb's prompt shows of rejected edits; by default "summary"
    rig: NotRequired[Rig]  # of a calibration
    acceptance: NotRequired[str]  # when a climb goes on from an edit, as the end of a sentence; by default MEMENTO's
    operation: NotRequired[Operation]  # that the agent is for
    selection: NotRequired[str]  # when the method keeps a program, as the end of a sentence; by default MEMENTO's


class _Proposer:
    """The common part of the proposers."""

    def __init__(self, **common: Unpack[Common]) -> None:
        prompts, contract = common["prompts"], common["contract"]
        self._aids = common.get("aids") or Aids()
        writer = Writer(
            model=common["model"], prompts=prompts, role=PROPOSER, contract=contract,
            answers=common.get("answers", AS_PUBLISHED),
        )
        turns = TurnPrompts(prompts=prompts, cpu=common.get("practice_cpu", ""), budget=self._aids.budget)
        self._talker = Talker(writer=writer, prompts=turns)
        self._feedback = common.get("feedback", "stories")
        self._form: Form = common.get("answers", AS_PUBLISHED).revisions
        self._selection = common.get("selection", METHODS["memento"].selection)
        self._acceptance = common.get("acceptance", METHODS["memento"].acceptance)
        self._prompts = prompts
        self._kind, self._has_top = common["brief"].kind, common["brief"].has_top
        self._note = prompts.fill("reply-note", words=str(MAX_WORDS)) if self._aids.notes is not None else ""
        self._situation = prompts.fill(
            "policy-situation",
            **situation(common["brief"]),
            interface=common["brief"].policy_interface.strip(),
            rules=rules(
                prompts, "program-rules", contract, limits=common["limits"],
                noted=SHOWN if self._feedback == "stories" else "is recorded, not shown to later edits,",
            ),
        )

    def _rest(self, name: str, form: Form = "whole", /, **variables: str) -> str:
        return with_form(self._prompts, name, SUMMARY, form, self._note, **variables)

    def _blocks_of(self, candidate: CandidateState, order: Propose, left_out: tuple[str, ...]) -> dict[str, str]:
        courses = 0 if EPISODES in left_out else 1 if SECOND in left_out else 2
        return {
            "program": program_block(candidate.program),
            "feedback": _join(policy_feedback(candidate, self._feedback, courses), self._critique_of(candidate, order)),
            "history": _history(candidate, order),
        }

    def _critique_of(self, candidate: CandidateState, order: Propose) -> str:
        """What a critic said about an episode of the candidate, and which attached picture shows it; "" for neither."""
        found = next((each for each in order.critiques if each.candidate == candidate.id), None)
        pictures = order.critiques if self._aids.sheets is not None else ()
        texts = (critique_text(self._prompts, found), sheet_text(self._prompts, found, pictures))
        return "\n".join(filter(None, texts)).rstrip("\n")

    def _macro_focus(self, focus: Focus, parent: CandidateState, kinds: Sequence[str]) -> str:
        found = focus_of(focus, parent, kinds, self._kind, has_top=self._has_top)
        return self._prompts.fill("macro-focus", **found)

    def _notes(self, order: Propose) -> str:
        """The notes of earlier proposers, with their heading; "" for none."""
        notes = self._aids.notes
        return notes_text(self._prompts, notes.of(order)) if notes is not None else ""

    def _tried_before(self, order: Propose, *, code: bool = False) -> str:
        """What was tried before and not kept, and the notes, each with its heading; "" for nothing.

        With `code` that of the best program beside the parents, to build on, where it is nearly as good as the first.
        """
        lines = tried_list(order.tried, order.parents, order.others)
        tried = f"## Tried before, and not kept\n\n{fenced_text(lines)}\n" if lines else ""
        found = others_beside(order.others, order.parents)
        head = "## Good programs of another structure, which are no parents"
        others = f"{head}\n\n{fenced_text(others_list(found))}\n" if found else ""
        if code and found and figure_of(found[0]).fitness >= NEAR * figure_of(order.parents[0]).fitness:
            block = second_block(order.parents[0].program, found[0].program, MOST_OF_OTHER, OTHER_NAMES)
            others += f"\n{FIRST_OTHER}\n\n{block}\n" if len(block) <= MOST_OF_OTHER else ""
        return "\n".join(filter(None, (tried, others, self._notes(order)))).rstrip("\n")

    def _measure(self, order: Propose) -> str:
        """What f_e measures, with its heading, where it is known and prompts do not show metrics alone; its version."""
        if not order.fitness or self._feedback == "metrics":
            return self._version(order)
        measure = fenced_text(excerpt(order.fitness, MAX_FITNESS))
        return self._prompts.fill("fitness-measure", measure=measure) + "\n" + self._version(order)

    def _version(self, order: Propose) -> str:
        """That the evaluator moved, where it did."""
        version = max((parent.version for parent in order.parents), default=1)
        return self._prompts.fill("fitness-version", version=str(version)) + "\n" if version > 1 else ""

    async def carry_out(self, order: Propose) -> Proposed:
        """Answer one order. Raises ModelError if it is fatal."""
        hints, limit = self._aids.hints.of(order.id), self._aids.limits.of(order.id)
        bound = _bound(order, limit)
        asked, left_out = fitting(
            lambda parts: self._question(order, hints, parts, bound), PARTS_OF_POLICIES, bound
        )
        if self._aids.sheets is not None:
            critiques = without(order, left_out).critiques
            asked = replace(asked, images=self._aids.sheets.read([each.sheet for each in critiques if each.sheet]))
        parents = [parent.program for parent in order.parents]
        fact = await self._talker.write(order, asked, parents, form=self._form)
        if isinstance(fact, ProposalMade) and self._note:
            fact = replace(fact, note=note_of(fact.call.reply.text))
        return replace(fact, hints=len(hints), prompt_limit=limit, left_out=left_out)

    def _question(
        self, order: Propose, hints: tuple[str, ...], left_out: tuple[str, ...], bound: int
    ) -> Question:
        """The prompt without these parts."""
        common = self._measure(order) + hints_text(self._prompts, hints)  # the same in most prompts of the search
        common += shortened(self._prompts, left_out)
        room = bound - len(question(self._situation, common).text)
        rest, again = self._prompt_end(without(order, left_out), left_out, room)
        return question(self._situation, common + rest, common + again)

    def _prompt_end(self, order: Propose, left_out: tuple[str, ...], room: int) -> tuple[str, str]:
        """The end of the prompt without the parts that are left out, and the end of one that is probably sent soon as
        well ("" for none). `room` is the number of characters that it should have at most.
        """
        raise NotImplementedError


def _bound(order: Propose, limit: int) -> int:
    """The most characters of a prompt; `limit` is what the service showed that it can read, 0 for not known."""
    excess = sum(max(0, len(parent.program.text) - MOST_OF_PROGRAM) for parent in order.parents)
    return min(MOST_PROMPT + excess, limit or MOST_PROMPT + excess)


class Initiator(_Proposer):
    """Requests a first policy p_0. The order's rejections, if any, explain why earlier attempts failed.

    With `edited` the prompt says that later proposals edit the program; otherwise that it is used as it is, as in
    zero-shot and in random search.
    """

    def __init__(self, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self._form = "whole"
        use = self._prompts.fill("starting-point" if common.get("edited", True) else "used-as-is").strip()
        self._use = f"{use}\n\n{self._prompts.fill('advice-' + common['brief'].kind).strip()}"

    def _prompt_end(self, order: Propose, left_out: tuple[str, ...], room: int) -> tuple[str, str]:
        failures = rejections_list(order.rejections, full=True)
        earlier = self._prompts.fill("earlier-attempts", failures=fenced_text(failures)) if failures else ""
        return self._rest("initial-policy", use=self._use, earlier=earlier), ""


class HillClimber(_Proposer):
    """Requests a micro-mutation of the current program, given the rejection memory H (q_hc).

    The prompt shows the edit summaries of H only ("summary"), as in the paper. With "full" it also shows what each
    edit did to F; with "none", the ablation, it shows no rejections.
    """

    def __init__(self, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self._form = common.get("answers", AS_PUBLISHED).edits
        self._memory_detail = common.get("memory_detail", "summary")
        self._mechanisms = remedies(self._prompts, MECHANISMS)

    def _prompt_end(self, order: Propose, left_out: tuple[str, ...], room: int) -> tuple[str, str]:
        (current,) = order.parents
        if self._memory_detail == "none":
            order, memory = replace(order, rejections=()), NOT_SHOWN
        else:
            memory = NO_ROOM if MEMORY in left_out else self._memory(order)
        memory = "\n\n".join(filter(None, (memory.rstrip("\n"), self._notes(order))))
        focus = self._focus(order, current)
        blocks = self._blocks_of(current, order, left_out)
        fill = partial(self._rest, "hill-climb", self._form, **blocks, acceptance=self._acceptance)
        # All edits of a step have one parent and one memory, and differ in what comes last.
        return fill(memory=f"{memory}\n\n{focus}" if focus else memory), fill(memory=memory if focus else "")

    def _focus(self, order: Propose, current: CandidateState) -> str:
        """What this edit and the others of a step of a wide climb are asked for; "" for the only one."""
        if order.focus is None:
            return ""
        edits = edits_of(order.focus, current, self._mechanisms, self._kind, has_top=self._has_top)
        of, place = str(order.focus.of), str(order.focus.place + 1)
        return self._prompts.fill("climb-focus", of=of, place=place, edits=fenced_text(edits)).rstrip()

    def _memory(self, order: Propose) -> str:
        full = self._memory_detail == "full"
        memory = rejections_list(order.rejections, full=full)
        name = "rejection-memory-full" if full else "rejection-memory"
        shown = self._prompts.fill(name, rejections=fenced_text(memory)) if memory else NO_REJECTIONS
        earlier = tried_earlier(order.tried, order.parents[0], order.rejections) if full else ""
        if any(rejection.changed for rejection in order.rejections):
            shown = f"{shown.rstrip()}\n\n{OUTDATED}"
        if not earlier:
            return shown
        return f"{shown.rstrip()}\n\n{self._prompts.fill('tried-earlier', tried=fenced_text(earlier))}"


class Mutator(_Proposer):
    """Requests a bold revision of one parent (q_macro), with a focus if the order has one."""

    def __init__(self, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self._remedies = remedies(self._prompts)

    def _prompt_end(self, order: Propose, left_out: tuple[str, ...], room: int) -> tuple[str, str]:
        (parent,) = order.parents
        focus = ""
        if order.focus is not None:
            focus = self._macro_focus(order.focus, parent, self._remedies)
        fill = partial(
            self._rest, "macro-mutation", self._form, **self._blocks_of(parent, order, left_out),
            tried=self._tried_before(order, code=OTHER not in left_out), selection=self._selection,
        )
        # All macro-mutations of a generation have one parent, and differ in the focus, which comes last.
        return fill(focus=focus), fill(focus="")


class Reviser(_Proposer):
    """Requests a revision of one parent by an operator that a method from outside brings: what its row asks for."""

    def __init__(self, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self._operation = common["operation"]

    def _prompt_end(self, order: Propose, left_out: tuple[str, ...], room: int) -> tuple[str, str]:
        (parent,) = order.parents
        fill = partial(
            self._rest, "revision", self._form, **self._blocks_of(parent, order, left_out), selection=self._selection,
            title=self._operation.proposal, instruction=self._operation.instruction,
        )
        return fill(tried=self._tried_before(order, code=OTHER not in left_out)), fill(tried="")


class Crosser(_Proposer):
    """Requests a recombination of two parents, the hill-climb branch's first (q_cross), with a focus if it has one."""

    def __init__(self, **common: Unpack[Common]) -> None:
        super().__init__(**common)
        self._remedies = remedies(self._prompts)
        self._ways = remedies(self._prompts, CROSSOVERS)

    async def carry_out(self, order: Propose) -> Proposed:
        """Answer an order for a crossover. Raises ModelError if it is fatal."""
        first = order.parents[0]
        if _same(order):    # the prompt shows the first one alone
            order = replace(order, critiques=tuple(each for each in order.critiques if each.candidate == first.id))
        return await super().carry_out(order)

    def _prompt_end(self, order: Propose, left_out: tuple[str, ...], room: int) -> tuple[str, str]:
        first, second = order.parents
        same, focus = _same(order), ""
        if order.focus is not None and same:
            focus = self._macro_focus(order.focus, first, self._remedies)
        elif order.focus is not None:
            crossing = crossing_of(order.focus, first, second, self._ways, self._kind)
            focus = self._prompts.fill("crossover-focus", **crossing)
        # The crossovers of a generation have the same parents, and differ in the focus, which comes last.
        fill: Callable[..., str]
        if same:
            fill = partial(
                self._rest, "crossover-with-itself", self._form, title=title_of(first, order),
                **self._blocks_of(first, order, left_out), tried=self._tried_before(order),
                selection=self._of_crossover(CROSSED_ALONE),
            )
        else:
            fill = self._of_two(order, focus, left_out, room)
        return fill(focus=focus), fill(focus="") if focus else ""

    def _of_crossover(self, usual: str) -> str:
        """When the method keeps a crossover; by default the generation ends with the best one, `usual`."""
        return usual if self._selection == METHODS["memento"].selection else self._selection

    def _said(self, parent: CandidateState, other: CandidateState, name: str, left_out: tuple[str, ...]) -> str:
        """What a parent said of its worst episode, and the course of one in which the other does better."""
        if self._feedback == "metrics" or EPISODES in left_out:
            return ""
        return _join(said_of_worst(parent), "" if SECOND in left_out else course_of(parent, other, name))

    def _of_two(
        self, order: Propose, focus: str, left_out: tuple[str, ...], room: int
    ) -> Callable[..., str]:
        """Fills the prompt with a focus; parent B gets the room that the rest leaves."""
        first, second = order.parents
        histories = history(first, order.tried), history(second, order.tried)
        fill = partial(
            self._rest, "crossover", self._form, selection=self._of_crossover(CROSSED),
            table=fenced_text(pair_table(first, second, whole=self._feedback != "metrics")),
            first_title=title_of(first, order),
            second_title=title_of(second, order),
            first=program_block(first.program),
            first_history=_with_heads(histories[0], level=3),
            first_faults=self._outcome(first, order, left_out),
            second_history=_with_heads(second_history(*histories), level=3),
            second_faults=self._outcome(second, order, left_out),
            first_said=self._said(first, second, "parent B", left_out),
            second_said=self._said(second, first, "parent A", left_out),
            tried=self._tried_before(order),
        )
        left = max(LEAST_SECOND, room - len(fill(second="-", focus=focus)))
        return partial(fill, second=second_block(first.program, second.program, left))

    def _outcome(self, parent: CandidateState, order: Propose, left_out: tuple[str, ...]) -> str:
        """The faults of a parent, what of it never ran, and what a critic said, each with its heading."""
        coverage = "" if self._feedback == "metrics" or EPISODES in left_out else coverage_text(parent)
        return _join(_faults(parent), coverage, self._critique_of(parent, order))


def _same(order: Propose) -> bool:
    first, second = order.parents
    return digest(first.program) == digest(second.program)


def _join(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


def _history(candidate: CandidateState, order: Propose) -> str:
    return _with_heads(history(candidate, order.tried), level=2)


def _with_heads(lines: str, *, level: int) -> str:
    return f"{'#' * level} The edits that led to it, oldest first\n\n{fenced_text(lines)}" if lines else ""


def _faults(candidate: CandidateState) -> str:
    faults = faults_text([episode.fault for episode in candidate.episodes if episode.fault is not None])
    return f"Faults (each ended its episode at once, with f_e = 0):\n\n{fenced_text(faults)}" if faults else ""
