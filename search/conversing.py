"""Proposals as conversations: a keeper around the keeper of a run. Pure, like every keeper.

The inner keeper orders a proposal and gets one answer to it. This keeper makes a conversation of it: each reply of the
model is the fact of one order, each answer of a tool the fact of another, and the last reply is handed in. So a
conversation is rebuilt from the log like every other decision.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

from ..core.events import (
    Compute,
    EvaluatorChosen,
    Fact,
    LookCloser,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    ToolAnswered,
    TryProgram,
    TurnTaken,
)
from ..core.keeper import Decision, Keeper
from ..core.order_ids import owner_of, tool_id, turn_id
from ..core.text import plural
from ..core.turns import COMPUTE, DRAFT, OTHER, PARENT, TRY, Conversation, Draft, ToolRequest, Turn
from ..core.values import Episode, Program
from .setting_groups import EDITS, PartSettings, SettingGroup, Switch, Turns

PRACTICE = 4  # episodes in which one proposal may try drafts
Practice = Annotated[int, Field(ge=0, le=100)]
CONVERSATION = SettingGroup(
    name="conversation", parts=EDITS,
    switches=(Switch(
        name="proposer_turns", on=lambda values: bool(values["proposer_turns"]),
        otherwise="without proposer_turns: remove it, or set proposer_turns",
    ),),
)


class ConversationSettings(PartSettings):
    """Whether proposals are conversations, and what these may take."""

    proposer_turns: Turns = CONVERSATION.field(0, "calls of tools before a proposer submits; 0 is the paper's")
    practice_episodes: Practice = CONVERSATION.field(PRACTICE, "episodes in which one proposal may try drafts")
    practice_starts: Practice = CONVERSATION.field(0, "different practice episodes; 0: as many as n_roll")
    practice_on: Literal["task", "twin"] = CONVERSATION.field(
        "task", "where drafts are tried: on the task, or on the domain's cheap twin"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationTerms:
    """What a conversation may take: calls of tools, and practice episodes out of those with these seeds."""

    turns: int
    practice_episodes: int
    seeds: tuple[int, ...]
    split: str = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """One open conversation. `waiting` is the id of its open order; `asked` what the last reply asked of a tool."""

    order: Propose  # of the inner keeper
    conversation: Conversation
    waiting: str
    said: str = ""
    asked: ToolRequest = ToolRequest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Talks:
    """The state of the inner keeper, the open conversations by their slots, and E*."""

    inner: Any
    open: Mapping[str, Talk] = field(default_factory=dict)
    evaluator: Program | None = None


class Conversing:
    """Decides as the inner keeper does; its proposals that edit programs become conversations.

    `evaluator` is E* where the inner keeper begins with it; otherwise a fact of the inner keeper says what it is.
    """

    def __init__(self, inner: Keeper[Any], terms: ConversationTerms, evaluator: Program | None = None) -> None:
        self._inner = inner
        self._terms = terms
        self._evaluator = evaluator

    def start(self) -> Decision[Talks]:
        """The start of the inner keeper."""
        decision = self._inner.start()
        return self._adopt(Talks(inner=decision.state, evaluator=self._evaluator), decision)

    def finished(self, state: Talks) -> bool:
        """Whether the inner keeper is finished."""
        return self._inner.finished(state.inner)

    def decide(self, state: Talks, fact: Fact) -> Decision[Talks]:
        """Continue the conversation that the fact belongs to; any other fact is the inner keeper's."""
        talk = state.open.get(owner_of(fact.order)) if fact.order is not None else None
        if talk is None or talk.waiting != fact.order:
            return self._adopt(state, self._inner.decide(state.inner, fact))
        match fact:
            case TurnTaken():
                return self._take(state, replace(talk, said=fact.said.text, asked=fact.request))
            case ToolAnswered():
                return self._ask(state, _with_practice(talk, fact), fact.answer.text)
            case ProposalMade() | ProposalFailed():
                rest = {slot: each for slot, each in state.open.items() if slot != talk.order.id}
                handed_in = replace(fact, order=talk.order.id, practised=len(talk.conversation.drafts))
                return self._adopt(replace(state, open=rest), self._inner.decide(state.inner, handed_in))
        return Decision(state=state)

    # ------------------------------------------------------------------------------- the inner keeper

    def _adopt(self, state: Talks, decision: Decision[Any]) -> Decision[Talks]:
        """The decision of the inner keeper, with conversations instead of proposals."""
        evaluator = state.evaluator
        for fact in decision.facts:
            if isinstance(fact, EvaluatorChosen) and fact.final:
                evaluator = fact.chosen.program
        state = replace(state, inner=decision.state, evaluator=evaluator)
        orders: list[Order] = []
        for order in decision.orders:
            if isinstance(order, Propose) and order.parents and evaluator is not None:
                begun = self._begin(state, order)
                state, orders = begun.state, [*orders, *begun.orders]
            else:
                orders.append(order)
        return Decision(state=state, orders=tuple(orders), facts=decision.facts)

    def _begin(self, state: Talks, order: Propose) -> Decision[Talks]:
        terms = self._terms
        conversation = Conversation(
            turns_left=terms.turns, practice_left=terms.practice_episodes if terms.seeds else 0,
            practice=len(terms.seeds),
        )
        talk = Talk(order=order, conversation=conversation, waiting=order.id)
        return Decision(state=_with(state, talk), orders=(replace(order, conversation=conversation),))

    # ------------------------------------------------------------------------------------- the turns

    def _take(self, state: Talks, talk: Talk) -> Decision[Talks]:
        """Order what the reply asks of a tool, or answer at once why it cannot be done."""
        name = tool_id(talk.order.id, len(talk.conversation.turns))
        order = self._tool_order(state, talk, name)
        if isinstance(order, str):
            return self._ask(state, talk, order)
        return Decision(state=_with(state, replace(talk, waiting=name)), orders=(order,))

    def _tool_order(self, state: Talks, talk: Talk, name: str) -> Order | str:
        request, conversation = talk.asked, talk.conversation
        if request.problem:
            return request.problem
        if request.tool == TRY:
            if not conversation.practice_left:
                return "no practice episode is left for this proposal"
            if not 0 <= request.number < conversation.practice:
                return f"there is no practice episode {request.number}: {_numbers(conversation.practice)}"
            program = _tried_program(talk)
            if program is None:
                return _no_draft(request.draft, len(conversation.drafts))
            assert state.evaluator is not None
            return TryProgram(
                id=name, program=program, split=self._terms.split, index=request.number,
                seed=self._terms.seeds[request.number], evaluator=state.evaluator,
                draft=len(conversation.drafts) + 1,
            )
        episode = _recording(talk)
        if isinstance(episode, str):
            return episode
        if request.tool == COMPUTE:
            return Compute(id=name, request=request, episode=episode)
        return LookCloser(id=name, request=request, episode=episode)

    def _ask(self, state: Talks, talk: Talk, answer: str) -> Decision[Talks]:
        """Ask the model again, with one turn more in the conversation."""
        old = talk.conversation
        turns = (*old.turns, Turn(said=talk.said, answer=answer))
        conversation = replace(old, turns=turns, turns_left=max(0, old.turns_left - 1))
        name = turn_id(talk.order.id, len(turns))
        order = replace(talk.order, id=name, conversation=conversation)
        next_talk = Talk(order=talk.order, conversation=conversation, waiting=name)
        return Decision(state=_with(state, next_talk), orders=(order,))


def _with(state: Talks, talk: Talk) -> Talks:
    return replace(state, open={**state.open, talk.order.id: talk})


def _with_practice(talk: Talk, fact: ToolAnswered) -> Talk:
    """The conversation with the CPU time of a tool, and the draft that was tried, if the fact reports one."""
    old = replace(talk.conversation, practice_cpu_s=talk.conversation.practice_cpu_s + fact.cpu_s)
    program = _tried_program(talk)
    if fact.episode is None or program is None:
        return replace(talk, conversation=old)
    fitness = 0.0 if fact.score is None else fact.score.fitness
    drafts = (*old.drafts, Draft(program=program, episode=fact.episode, fitness=fitness))
    return replace(talk, conversation=replace(old, drafts=drafts, practice_left=max(0, old.practice_left - 1)))


def _tried_program(talk: Talk) -> Program | None:
    """The program that a trial is of: the one that came with it, or an earlier draft; None if there is none."""
    drafts, number = talk.conversation.drafts, talk.asked.draft
    if talk.asked.program is not None or not 1 <= number <= len(drafts):
        return talk.asked.program
    return drafts[number - 1].program


def _no_draft(number: int, count: int) -> str:
    return f"there is no draft {number}: {plural(count, 'draft')} were tried, from 1"


def _recording(talk: Talk) -> Episode | str:
    """The episode whose recording the request names, or why there is none."""
    request, parents, drafts = talk.asked, talk.order.parents, talk.conversation.drafts
    match request.whose:
        case "draft" if not drafts:
            return "no draft was tried yet, so there is no recording of one"
        case "draft" if not 1 <= request.number <= len(drafts):
            return _no_draft(request.number, len(drafts))
        case "draft":
            found = drafts[request.number - 1].episode
        case "parent" | "other":
            place = 0 if request.whose == PARENT else 1
            if place >= len(parents):
                return f"there is only one parent: write {PARENT!r} instead of {OTHER!r}"
            episodes = {each.index: each for each in parents[place].episodes}
            if request.number not in episodes:
                return f"there is no episode {request.number} of it: {_numbers(len(episodes))}"
            found = episodes[request.number]
        case _:
            return f"name a recording as `{PARENT} 0`, `{OTHER} 0` or `{DRAFT} 1`"
    if found.trajectory is None:
        return "nothing was recorded in this episode"
    return found


def _numbers(count: int) -> str:
    return f"they have the numbers 0 to {count - 1}" if count else "there is none"


