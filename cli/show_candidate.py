"""One thing of a run looked at: a policy, an evaluator or a judge's vote, with all that is known of it. Pure."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.errors import unknown
from ..core.events import (
    CandidateScored,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorPoolScored,
    Fact,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    VoteCast,
)
from ..core.metrics import aggregate
from ..core.text import cost, counted
from ..core.values import JSON, Episode, EvaluatorCandidate, Program, Score
from ..memory.queries import CandidateRow, list_candidates, order_of_slots, owner_of, sources_of
from ..memory.spending import CallRow, list_calls
from ..tui.lines import one_line
from .result_text import number, share

PARTS = ("metrics", "diff", "code", "prompt", "reply")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What is known of one thing. `parent` is what it was made from, with its own metrics."""

    id: str
    head: tuple[str, ...]
    program: Program | None = None
    metrics: Mapping[str, JSON] = field(default_factory=dict)
    episodes: tuple[tuple[Episode | None, Score | None], ...] = ()
    parent: "Item | None" = None
    calls: tuple[CallRow, ...] = ()


def look_up(facts: Sequence[Fact], name: str) -> Item:
    """The policy, evaluator or vote called `name`. Raises UsageError with the nearest names."""
    policies = {row.id: row for row in list_candidates(facts)}
    evaluators = {each.id: each for each in _evaluators(facts)}
    votes = {fact.order: fact for fact in facts if isinstance(fact, VoteCast) and fact.order is not None}
    order = order_of_slots(facts).get(name, name)
    calls = [row for row in list_calls(facts) if row.order == order]
    if name in policies:
        return _policy(facts, policies, name, calls)
    if name in evaluators:
        return _evaluator(facts, evaluators[name], calls)
    if name in votes:
        return _vote(votes[name], calls)
    tries = {fact.order: fact for fact in facts if isinstance(fact, ProposalMade | ProposalFailed) and fact.order}
    if name in tries:
        answer = tries[name]
        fault = answer.fault if isinstance(answer, ProposalFailed) else None
        head = f"no program: {fault.kind}, {one_line(fault.message)}" if fault else "a program that was not taken"
        return Item(id=name, head=(head,), calls=tuple(calls))
    raise unknown("candidate", name, {*policies, *evaluators, *votes, *tries})


def tell_item(item: Item, *, parts: Iterable[str]) -> Iterator[str]:
    """The parts that were asked for; without any, everything a reader wants first."""
    chosen = [*parts]
    tellers: Mapping[str, Callable[[Item], Iterator[str]]] = {
        "metrics": _metrics, "diff": _diff, "code": _code, "prompt": lambda item: _talk(item, prompts=True),
        "reply": lambda item: _talk(item, prompts=False),
    }
    if chosen:
        for part in PARTS:
            if part in chosen:
                yield from tellers[part](item)
        return
    yield f"{item.id}: {item.head[0]}"
    yield from (f"  {line}" for line in item.head[1:])
    yield from _spent(item)
    for lines in (_episodes(item), _metrics(item) if item.metrics else iter(())):
        yield from _block(lines)
    if item.parent is not None and item.parent.program is not None:
        yield from _block(_diff(item))
    elif item.program is not None:
        yield from _block(_code(item))
    known = [f"--{part}" for part in PARTS if (item.program is not None if part in ("code", "diff", "metrics")
                                               else item.calls)]
    if known:
        yield ""
        yield f"more: {' '.join(known)}"


def _block(lines: Iterator[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        if place == 0:
            yield ""
        yield line


# ----------------------------------------------------------------------------------------------- kinds


def _policy(facts: Sequence[Fact], rows: Mapping[str, CandidateRow], name: str, calls: Sequence[CallRow]) -> Item:
    row = rows[name]
    parents = f" of {' and '.join(row.parents)}" if row.parents else ""
    head = ["the initial policy p_0" if row.generation == 0 else f"{row.operator}{parents}"]
    if row.summary:
        head.append(f"“{one_line(row.summary, 300)}”")
    if row.fault is not None:
        head.append(f"failed: {row.fault.kind}, {one_line(row.fault.message, 300)}")
    elif row.bound is not None:
        head.append(f"cut after {counted(row.episodes, 'episode')}: F cannot exceed {row.bound:.3f}")
    else:
        rolled = counted(row.episodes, "episode")
        head.append(f"F {number(row.fitness)}, success {share(row.success_rate)}, {rolled} run")
    if row.duplicate_of is not None:
        head.append(f"the same program as {row.duplicate_of}: it has the episodes of that one")
    if row.accepted is not None:
        head.append("accepted by the climb" if row.accepted else "rejected by the climb")
    if row.elite_of:
        head.append(f"elite of generation {', '.join(map(str, row.elite_of))}")
    parent = next((rows[each] for each in row.parents if each in rows), None)
    return Item(
        id=row.id, head=tuple(head), program=row.program, metrics=_metrics_of(facts, row),
        episodes=_episodes_of(facts, row.id), calls=tuple(calls),
        parent=None if parent is None else Item(
            id=parent.id, head=(), program=parent.program, metrics=_metrics_of(facts, parent)
        ),
    )


def _evaluator(facts: Sequence[Fact], entry: EvaluatorCandidate, calls: Sequence[CallRow]) -> Item:
    chosen = [fact for fact in facts if isinstance(fact, EvaluatorChosen)]
    votes = [fact for fact in facts if isinstance(fact, VoteCast) and fact.generation == entry.generation]
    got = sum(vote.choice == entry.slot for vote in votes)
    head = ["an evaluator"]
    if entry.summary:
        head.append(f"“{one_line(entry.summary, 300)}”")
    fault = entry.examination.fault
    if fault is not None:
        head.append(f"invalid: {fault.kind}, {one_line(fault.message, 300)}")
    if votes:
        head.append(f"{got} of {counted(len(votes), 'vote')} in generation {entry.generation}")
    head += [f"chosen in generation {fact.generation}{'; frozen as E*' if fact.final else ''}"
             for fact in chosen if fact.chosen.id == entry.id]
    head += [f"judge {vote.seat}: “{one_line(vote.reason, 200)}”" for vote in votes
             if vote.choice == entry.slot and vote.reason]
    before = next((fact.chosen for fact in reversed(chosen) if fact.generation < entry.generation), None)
    scores = entry.examination.scores
    return Item(
        id=entry.id, head=tuple(head), program=entry.program, metrics=aggregate(scores), calls=tuple(calls),
        episodes=tuple((None, score) for score in scores),
        parent=None if before is None or before.id == entry.id else Item(
            id=before.id, head=(), program=before.program, metrics=aggregate(before.examination.scores)
        ),
    )


def _vote(vote: VoteCast, calls: Sequence[CallRow]) -> Item:
    slot = f"eval/g{vote.generation}/{vote.choice}"
    choice = "gave no usable answer, an abstention" if vote.choice is None else f"votes for {slot}"
    reason = (f"“{one_line(vote.reason, 600)}”",) if vote.reason else ()
    return Item(id=vote.order or "", head=(f"judge {vote.seat} {choice}", *reason), calls=tuple(calls))


def _evaluators(facts: Sequence[Fact]) -> Iterator[EvaluatorCandidate]:
    for fact in facts:
        if isinstance(fact, EvaluatorChosen):
            yield fact.chosen
    for fact in facts:
        if isinstance(fact, EvaluatorPoolScored):
            yield from fact.pool


def _metrics_of(facts: Sequence[Fact], row: CandidateRow) -> Mapping[str, JSON]:
    """Of p_0 the facts hold no metrics: they are E*'s on T_0."""
    if row.metrics or not row.elite_of or min(row.elite_of) > 0:
        return row.metrics
    return aggregate(_scores_of_initial(facts))


def _scores_of_initial(facts: Sequence[Fact]) -> tuple[Score, ...]:
    return next(
        (fact.chosen.examination.scores for fact in facts if isinstance(fact, EvaluatorChosen) and fact.final), ()
    )


def _episodes_of(facts: Sequence[Fact], name: str) -> tuple[tuple[Episode | None, Score | None], ...]:
    """A candidate's episodes with their scores: its own, those that it took over, or what was rolled out so far."""
    scored = next((fact.candidate for fact in facts if isinstance(fact, CandidateScored) and fact.candidate.id == name),
                  None)
    if scored is not None and len(scored.scores) == len(scored.episodes) > 0:
        return tuple(zip(scored.episodes, scored.scores, strict=True))
    owners = (*sources_of(facts).get(name, ()), name)
    rolled = {
        fact.episode.index: (owner_of(fact), fact.episode)
        for owner in owners
        for fact in facts
        if isinstance(fact, EpisodeEnded) and owner_of(fact) == owner
    }
    scores = {fact.order: fact.score for fact in facts if isinstance(fact, EpisodeScored)}
    initial = next((fact.order for fact in facts if isinstance(fact, InitialChosen)), None)
    if initial in owners:
        scores |= {f"{initial}/e{place}/score": score for place, score in enumerate(_scores_of_initial(facts))}
    return tuple(
        (episode, scores.get(f"{owner}/e{episode.index}/score"))
        for _, (owner, episode) in sorted(rolled.items(), key=lambda item: item[0])
    )


# ----------------------------------------------------------------------------------------------- parts


def _spent(item: Item) -> Iterator[str]:
    for row in item.calls:
        usage = row.call.usage
        yield (
            f"  {row.role} {one_line(row.call.model)}: {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out,"
            f" {cost(usage.cost_usd)}, {usage.latency_s:.1f} s; prompt of {len(row.call.prompt.text):,} letters"
        )


def _episodes(item: Item) -> Iterator[str]:
    if item.episodes:
        yield "episodes"
    for place, (episode, score) in enumerate(item.episodes):
        failed = episode is not None and episode.fault is not None      # is not scored: its fitness is 0
        fitness = f"f {number(0.0 if failed else None if score is None else score.fitness)}"
        if episode is None:
            yield f"  {place:>3}  {fitness} on T_0"
            continue
        scene = f" in {one_line(episode.scene)}" if episode.scene else ""
        fault = episode.fault or (score.fault if score is not None else None)
        wrong = f": {fault.kind}, {one_line(fault.message)}" if fault is not None else ""
        word = "success" if episode.success else "failure"
        ended = f"{episode.steps:>5} steps, ended by {episode.ended_by}"
        yield f"  {episode.index:>3}  {fitness}  {word}  {ended}{scene}{wrong}"


def _metrics(item: Item) -> Iterator[str]:
    if not item.metrics:
        yield f"no metrics of {item.id}"
        return
    old = item.parent.metrics if item.parent is not None else {}
    width = max(len(one_line(name)) for name in item.metrics)
    against = f"  against {item.parent.id}" if item.parent is not None and old else ""
    yield f"metrics {'':<{max(0, width - 6)}}{'mean':>9}{against}"
    for name, value in item.metrics.items():
        yield f"  {one_line(name):<{width}}{_value(value)}{_against(value, old.get(name))}"


def _value(summary: JSON) -> str:
    known = _mean(summary)
    if known is not None:
        return f"{known:>9.3f}"
    common = summary.get("most_common") if isinstance(summary, dict) else None
    return f"  {one_line(', '.join(map(str, common)) if isinstance(common, dict) else str(summary), 60)}"


def _against(summary: JSON, old: JSON) -> str:
    new, before = _mean(summary), _mean(old)
    if new is None or before is None:
        return ""
    return f"{before:>9.3f}  {new - before:+.3f}" if abs(new - before) >= 0.0005 else f"{before:>9.3f}"


def _mean(summary: JSON) -> float | None:
    value = (summary.get("mean", summary.get("rate")) if isinstance(summary, dict) else summary)
    return float(value) if isinstance(value, int | float) else None


def _diff(item: Item) -> Iterator[str]:
    if item.program is None or item.parent is None or item.parent.program is None:
        yield f"{item.id} has no parent to compare its code with"
        return
    old, new = (one.text.splitlines() for one in (item.parent.program, item.program))
    lines = [*difflib.unified_diff(old, new, fromfile=item.parent.id, tofile=item.id, lineterm="")]
    yield from map(_printable, lines or [f"the code of {item.id} is that of {item.parent.id}"])


def _code(item: Item) -> Iterator[str]:
    yield _printable(item.program.text.rstrip("\n")) if item.program is not None else f"{item.id} has no code"


def _talk(item: Item, *, prompts: bool) -> Iterator[str]:
    """Prompts or replies, whole. A repeated call has one of each."""
    if not item.calls:
        yield f"no model was asked for {item.id}"
    for row in item.calls:
        yield _printable((row.call.prompt if prompts else row.call.reply).text.rstrip("\n"))


def _printable(text: str) -> str:
    """The text comes from a model and may hold control characters, which a terminal would obey."""
    return "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
