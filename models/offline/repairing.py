"""A proposal as a conversation without a language model: practice episodes say what to repair, and whether it helped.

A program is rolled out in one practice episode after the other. Where it is not perfect, its own report says which
signs of trouble it showed; an edit of a part that bears on them is tried in the same episode, and kept if it is better
there. What is kept and what was tried follows from the conversation alone, so it can be resumed at any turn.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.events import Propose
from ...core.programs.program_text import digest
from ...core.turns import Conversation, Draft
from ...core.values import CandidateState, Operator, Program
from .edits import Forbidden, Workshop, needs, needs_of_report, summary_of, weights
from .proposer import Focus, propose, small_edit
from .source import Edit, ParsedProgram

ENOUGH = 12         # practice episodes without a flaw after which a program is submitted
GAIN = 0.05         # a rise of f_e that counts whatever the report says: who comes farther meets more trouble
SLACK = 0.02        # f_e may fall by this much, and the need of repair rise
PATIENCE = 8        # edits tried in vain in one episode before the next one is looked at
MORE = 0.5          # of the repairs have a second edit, and half of these a third
DRAWS = 60          # draws of an edit that was not tried yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where a conversation stands: the program in hand, and what practice showed of it.

    `results` are those of the program by practice episode, `failures` the summaries of the edits of it that were tried
    in vain in each; `tried` are the digests of all programs so far, `seen` the practice episodes.
    """

    text: str = ""
    results: Mapping[int, Draft] = field(default_factory=dict)
    failures: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    tried: frozenset[str] = frozenset()
    seen: frozenset[int] = frozenset()

    def flawed(self) -> Draft | None:
        """The first result with a flaw for which patience is left."""
        for number, draft in self.results.items():
            if not is_perfect(draft) and len(self.failures.get(number, ())) < PATIENCE:
                return draft
        return None


def is_perfect(draft: Draft) -> bool:
    """Whether nothing is left to gain in its episode."""
    return draft.episode.fault is None and draft.fitness >= 1.0


def bench_of(drafts: Sequence[Draft], workshop: Workshop) -> Bench:
    """Where a conversation with these drafts stands."""
    bench = Bench(text=drafts[0].program.text) if drafts else Bench()
    for draft in drafts:
        bench = after(bench, draft, workshop)
    return bench


def after(bench: Bench, draft: Draft, workshop: Workshop) -> Bench:
    """The bench with one more draft: a further result of its program, or an edit that is kept or not."""
    number = draft.episode.index
    bench = replace(bench, tried=bench.tried | {digest(draft.program)}, seen=bench.seen | {number})
    if draft.program.text == bench.text:
        return replace(bench, results={**bench.results, number: draft})
    rival = bench.results.get(number)
    if rival is None or is_better(draft, rival, workshop):
        return replace(bench, text=draft.program.text, results={number: draft}, failures={})
    summary = workshop.read(draft.program.text).history()[-1:]
    return replace(bench, failures={**bench.failures, number: (*bench.failures.get(number, ()), *summary)})


def is_better(draft: Draft, rival: Draft, workshop: Workshop) -> bool:
    """Whether an edit is kept after the episode of its rival: f_e rose clearly, or neither f_e nor trouble is worse."""
    if draft.episode.fault is not None:
        return False
    if rival.episode.fault is not None or is_perfect(draft):
        return True
    relief, gain = trouble(rival, workshop) - trouble(draft, workshop), draft.fitness - rival.fitness
    return gain >= GAIN or (gain >= -SLACK and relief >= -SLACK)


def trouble(draft: Draft, workshop: Workshop) -> float:
    """How much needs repair by the draft's own report."""
    return sum(needs_of_report(draft.episode.notes.report, workshop.shelf.signs).values())


def next_number(bench: Bench, conversation: Conversation, first: int) -> int | None:
    """The practice episode to roll the program out in next, new ones first; None if it has been in all."""
    numbers = [(first + place) % conversation.practice for place in range(conversation.practice)]
    left = [number for number in numbers if number not in bench.results]
    return next((number for number in left if number not in bench.seen), next(iter(left), None))


def next_turn(order: Propose, workshop: Workshop, rng: random.Random, *, first: int) -> tuple[str, str, int | None]:
    """The program of the next turn, the summary of its last edit, and its practice episode; None: it is submitted.

    `first` is the practice episode to begin with. Raises SyntaxError if a parent does not parse.
    """
    conversation = order.conversation
    assert conversation is not None
    bench = bench_of(conversation.drafts, workshop)
    open_ = conversation.turns_left > 0 and conversation.practice_left > 0 and conversation.practice > 0
    if not bench.text:
        text, summary = start_of(order, workshop, rng)
        return text, summary, first % conversation.practice if open_ else None
    flawed = bench.flawed()
    if open_ and flawed is not None:
        text, summary = repaired(bench, flawed, order.parents[0], workshop, rng)
        return text, summary, flawed.episode.index
    number = next_number(bench, conversation, first)
    if open_ and number is not None and len(bench.results) < ENOUGH:
        return bench.text, last_of(bench.text, workshop), number
    return submission(order, bench, conversation.drafts, workshop, rng)


def start_of(order: Propose, workshop: Workshop, rng: random.Random) -> tuple[str, str]:
    """The program that a conversation begins with: a climb's is the parent, another's an edit of it."""
    if order.operator is Operator.HILL_CLIMB:
        text = order.parents[0].program.text
        return text, last_of(text, workshop)
    return propose(order, workshop, rng, attempt=0)


def submission(
    order: Propose, bench: Bench, drafts: Sequence[Draft], workshop: Workshop, rng: random.Random
) -> tuple[str, str, None]:
    """What a conversation ends with: the program in hand; where that is the parent, the best other draft, else an edit.

    A parent that is perfect in practice and in the search is submitted as it is: there is nothing to repair.
    """
    text, parent = bench.text, order.parents[0]
    if text == parent.program.text and not (
        all(map(is_perfect, bench.results.values())) and all(score.fitness >= 1.0 for score in parent.scores)
    ):
        others = [draft for draft in drafts if draft.program.text != text and draft.episode.fault is None]
        best = max(others, key=lambda draft: draft.fitness, default=None)
        if best is None:
            return *propose(order, workshop, rng, attempt=0), None
        text = best.program.text
    return text, last_of(text, workshop), None


def last_of(text: str, workshop: Workshop) -> str:
    """The summary of a program's last edit."""
    history = workshop.read(text).history()
    return history[-1] if history else "Initial program"


# ------------------------------------------------------------------------------------------------ one repair


def repaired(
    bench: Bench, flawed: Draft, parent: CandidateState, workshop: Workshop, rng: random.Random
) -> tuple[str, str]:
    """The program in hand with edits against the trouble of this draft that were not tried yet, and what is edited."""
    source = workshop.read(bench.text)
    need = needs_of_report(flawed.episode.notes.report, workshop.shelf.signs)
    vain = [summary for each in bench.failures.values() for summary in each]
    meant = [(edit, weight) for edit, weight in edits_against(need, source, workshop) if edit.summary not in vain]
    focus: Focus = lambda parts: weights(parts, need or needs(parent.metrics, workshop.milestones), vain)  # noqa: E731
    for draw in range(DRAWS):
        if meant and draw < DRAWS // 2:
            edits = drawn_edits(meant, rng)
        else:
            edits = small_edit(source, focus, workshop, Forbidden(vain, workshop.parts), rng)
        summary = summary_of(edits)
        text = source.edited(edits, summary)
        if digest(Program(text)) not in bench.tried:
            break
    return text, summary


def edits_against(
    need: Mapping[str, float], source: ParsedProgram, workshop: Workshop
) -> list[tuple[Edit, float]]:
    """The edits that are meant against what needs repair, each with the greatest need that it is meant against."""
    found = []
    for part, edits in (*workshop.swaps(source), *workshop.values(source)):
        for text, signs in zip(part.alternatives, part.against, strict=bool(part.against)):
            weight = max((need.get(sign, 0.0) for sign in signs), default=0.0)
            found += [(edit, weight) for edit in edits if edit.text == text and weight > 0]
    return found


def drawn_edits(options: Sequence[tuple[Edit, float]], rng: random.Random) -> tuple[Edit, ...]:
    """One to three edits of different parts, drawn by the square of their weights."""
    count = 1 + (rng.random() < MORE) * (1 + (rng.random() < MORE))
    chosen: dict[str, Edit] = {}
    for _ in range(count):
        edit = rng.choices([edit for edit, _ in options], [weight**2 for _, weight in options])[0]
        chosen.setdefault(edit.name, edit)
    return tuple(chosen.values())
