"""One item of a run as text: a policy, an evaluator, a judge's vote or an attempt. Pure: record -> lines."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..core.call_times import exact_time_words, expected_cpu_s, times_of_all
from ..core.faults import Fault, is_stopped
from ..core.metrics import NEVER
from ..core.order_ids import evaluator as evaluator_id
from ..core.programs.line_diff import diff_lines
from ..core.programs.marks import never_ran
from ..core.text import (
    cost,
    number,
    one_line,
    plural,
    printable,
    printable_line,
    success_and_return,
    tokens_of_call,
    version_words,
)
from ..core.values import JSON
from ..memory.lookup import EvaluatorRecord, Policy, Record, VoteRecord
from ..memory.pace import SLOW_S
from ..runtime.rollouts.fault_text import parts_of
from ..tui.fact_words import gate_words, tool_words
from ..tui.words import episode_outcome, fault_words, order_words, test_lines

PARTS = ("metrics", "diff", "code", "prompt", "reply")
LINE, PARAGRAPH = 100, 300      # characters of a text from a candidate
NOTE = 480  # characters of a note; it has no more
CRITIQUE = 1_200  # characters of a critique; it has no more
PLACES = 6  # functions and branches that never ran
UNKNOWN = "?"


def describe_record(record: Record, parent: Record | None, *, parts: Iterable[str]) -> Iterator[str]:
    """The given parts; without any, a summary. `parent` is the record for comparison."""
    chosen = [*parts]
    writers: Mapping[str, Callable[[], Iterator[str]]] = {
        "metrics": lambda: map(printable_line, _metrics(record, parent)), "diff": lambda: _diff(record, parent),
        "code": lambda: _code(record), "prompt": lambda: _talk(record, prompts=True),
        "reply": lambda: _talk(record, prompts=False),
    }
    if chosen:
        for part in PARTS:
            if part in chosen:
                yield from writers[part]()
        return
    yield from map(printable_line, _in_short(record, parent))
    if parent is not None:
        yield from _block(_diff(record, parent))
    elif record.program is not None:
        yield from _block(_code(record))
    known = [f"--{part}" for part in PARTS if (record.program is not None if part in ("code", "diff", "metrics")
                                               else record.calls)]
    if known:
        yield ""
        yield f"more: {' '.join(known)}"


def _in_short(record: Record, parent: Record | None) -> Iterator[str]:
    first, *others = _head(record)
    yield f"{record.id}: {first}"
    yield from (f"  {line}" for line in others)
    yield from _spent(record)
    yield from _block(_turns(record))
    yield from _block(_looks(record))
    yield from _block(_episodes(record))
    yield from _block(crash_of(record))
    if record.metrics:
        yield from _block(_metrics(record, parent))


def crash_of(record: Record) -> Iterator[str]:
    """The traceback of the first episode in which a program raised, and what it printed last."""
    faults = ((episode.index, episode.fault) for episode, _ in record.episodes if episode is not None)
    index, fault = next(((index, fault) for index, fault in faults if fault is not None and fault.traceback), (0, None))
    if fault is None:
        return
    traceback, printed = parts_of(fault)
    yield f"the first failure, in episode {index}:"
    yield from (f"  {line}" for line in printable(traceback).splitlines())
    if printed:
        yield "  printed last:"
        yield from (f"  {line}" for line in printable(printed).splitlines())


def _block(lines: Iterator[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        if place == 0:
            yield ""
        yield line


# ------------------------------------------------------------------------------------------------ heads


def _head(record: Record) -> list[str]:
    match record:
        case Policy():
            return _policy(record)
        case EvaluatorRecord():
            return _evaluator(record)
        case VoteRecord():
            return _vote(record)
    if record.fault is None:
        return ["a program that is not evaluated yet"]
    return [f"{'no program' if record.program is None else 'failed'}: {_fault(record.fault)}"]


def _policy(policy: Policy) -> list[str]:
    parents = f" of {' and '.join(policy.parents)}" if policy.parents else ""
    lines = ["the initial policy p_0" if policy.generation == 0 else f"{policy.operator}{parents}", *_said(policy)]
    rolled = plural(policy.rolled, "episode")
    if policy.gate is not None and not is_stopped(policy.fault):
        lines.append(gate_words(policy.gate))
    if policy.fault is not None and is_stopped(policy.fault):
        lines.append(fault_words(policy.fault, PARAGRAPH))
    elif policy.fault is not None:
        lines.append(f"failed: {_fault(policy.fault)}")
    elif policy.bound is not None:
        lines.append(f"pruned after {rolled}: F cannot exceed {number(policy.bound)}")
    else:
        also = success_and_return(policy.success_rate, policy.mean_return)
        by = version_words(policy.version)
        lines.append(f"F {number(policy.fitness, unknown=UNKNOWN)}{by}{also}, {rolled} run")
        if policy.seen is not None:
            on = plural(policy.seen.episodes, "fresh episode")
            lines.append(f"F {number(policy.seen.fitness)} on {on}, on which it met other programs")
    times = times_of_all(episode for episode, _ in policy.episodes if episode is not None)
    if times is not None:
        lines.append(exact_time_words(times))
        expected_s = expected_cpu_s(episode for episode, _ in policy.episodes if episode is not None)
        if expected_s is not None and expected_s >= SLOW_S:
            lines.append(f"slow: an episode takes the policy about {expected_s:.2g} s of CPU time")
    lines += _idle_code(policy)
    if policy.duplicate_of is not None:
        lines.append(f"the same program as {policy.duplicate_of}: it shares that program's episodes")
    if policy.accepted is not None:
        lines.append("accepted by the climb" if policy.accepted else "rejected by the climb")
    if policy.elite_of:
        lines.append(f"elite of generation {', '.join(map(str, policy.elite_of))}")
    return lines


def _idle_code(policy: Policy) -> list[str]:
    """The functions and branches that no episode reached."""
    if policy.program is None:
        return []
    masks = [episode.notes.ran for episode, _ in policy.episodes if episode is not None and episode.notes.ran]
    idle = never_ran(policy.program.text, masks)
    if not idle:
        return []
    named = [f"{place.function}{f' ({place.branch})' if place.branch else ''}" for place in idle[:PLACES]]
    more = f" and {len(idle) - PLACES} more" if len(idle) > PLACES else ""
    return [f"never ran in {plural(len(masks), 'episode')}: {', '.join(named)}{more}"]


def _evaluator(evaluator: EvaluatorRecord) -> list[str]:
    lines = ["an evaluator", *_said(evaluator)]
    if evaluator.measures:
        lines.append(f"measures: {one_line(evaluator.measures, NOTE)}")
    if evaluator.fault is not None:
        lines.append(f"invalid: {_fault(evaluator.fault)}")
    if evaluator.examination.order_pairs:
        lines.append(order_words(evaluator.examination))
    if evaluator.examination.tests is not None:
        lines += test_lines(evaluator.examination.tests)
    votes = [vote for vote in evaluator.votes if vote.choice == evaluator.slot]
    if evaluator.votes:
        of = plural(len(evaluator.votes), "vote")
        lines.append(f"{len(votes)} of {of} in generation {evaluator.generation}")
    lines += [f"chosen in generation {fact.generation}{'; frozen as E*' if fact.final else ''}"
              for fact in evaluator.chosen]
    lines += [f"judge {vote.seat}: “{one_line(vote.reason, 200)}”" for vote in votes if vote.reason]
    scores = zip(evaluator.probes, evaluator.examination.probe_scores, strict=False)
    return lines + [f"f {number(score.fitness)} on the probe: {one_line(name, 80)}" for name, score in scores]


def _vote(record: VoteRecord) -> list[str]:
    vote = record.vote
    choice = "gave no usable answer, an abstention" if vote.choice is None else \
        f"votes for {evaluator_id(vote.generation, vote.choice)}"
    return [f"judge {vote.seat} {choice}", *([f"“{one_line(vote.reason, 600)}”"] if vote.reason else [])]


def _said(record: Record) -> list[str]:
    said = [f"“{one_line(record.summary, PARAGRAPH)}”"] if record.summary else []
    return said + ([f"note: {one_line(record.note, NOTE)}"] if record.note else [])


def _fault(fault: Fault) -> str:
    return f"{fault.kind}, {one_line(fault.message, PARAGRAPH)}"


# ----------------------------------------------------------------------------------------------- parts


def _spent(record: Record) -> Iterator[str]:
    for row in record.calls:
        usage = row.call.usage
        tokens = tokens_of_call(
            usage.input_tokens, usage.output_tokens,
            cached=usage.cached_tokens, cache_written=usage.cache_written_tokens,
        )
        yield (
            f"  {row.role} {one_line(row.call.model, LINE)}: {tokens}, {cost(usage.cost_usd)},"
            f" {usage.latency_s:.1f} s; prompt of {len(row.call.prompt.text):,} characters"
        )


def _turns(record: Record) -> Iterator[str]:
    """The conversation in which it was made: what the model asked of tools, and what they found."""
    if record.turns:
        yield "turns"
    for fact in record.turns:
        part = "turn0" if fact.order == record.id else str(fact.order).removeprefix(f"{record.id}/")
        yield f"  {part:<8}{one_line(tool_words(fact), LINE)}"


def _looks(record: Record) -> Iterator[str]:
    """What a critic said about its episodes, and the pictures that it saw."""
    for fact in record.looks:
        seen = "" if fact.sheet is None else f", {plural(len(fact.sheet.frames), 'frame')} in sheets/{fact.sheet.file}"
        yield f"critic on episode {fact.episode}{seen}"
        yield f"  {one_line(fact.words or fact.problem or 'the pictures went to the writers', CRITIQUE)}"


def _episodes(record: Record) -> Iterator[str]:
    if record.episodes:
        yield "episodes"
    for place, (episode, score) in enumerate(record.episodes):
        failed = episode is not None and episode.fault is not None      # is not scored: its fitness is 0
        fitness = f"f {number(0.0 if failed else None if score is None else score.fitness, unknown=UNKNOWN)}"
        if episode is None:
            yield f"  {place:>3}  {fitness} on T_0"
            continue
        scene = f" in {one_line(episode.scene, LINE)}" if episode.scene else ""
        fault = episode.fault or (score.fault if score is not None else None)
        wrong = f": {fault.kind}, {one_line(fault.message, LINE)}" if fault is not None else ""
        word = episode_outcome(episode)
        rule = episode.broken_rule
        ended = f"{episode.steps:>5} steps, ended by {episode.ended_by}"
        ended += f" ({one_line(rule, LINE)})" if rule else ""
        yield f"  {episode.index:>3}  {fitness}  {word}  {ended}{scene}{wrong}"


def _metrics(record: Record, parent: Record | None) -> Iterator[str]:
    if not record.metrics:
        yield f"no metrics of {record.id}"
        return
    old = parent.metrics if parent is not None else {}
    width = max(len(one_line(name, LINE)) for name in record.metrics)
    against = f"  against {parent.id}" if parent is not None and old else ""
    yield f"metrics {'':<{max(0, width - 6)}}{'mean':>9}{against}"
    for name, value in record.metrics.items():
        yield f"  {one_line(name, LINE):<{width}}{_value(value)}{_against(value, old.get(name))}"


def _value(summary: JSON) -> str:
    known = _mean(summary)
    if known is not None:
        return f"{_digits(known):>9}"
    if summary == NEVER:
        return f"{'never':>9}"
    common = summary.get("most_common") if isinstance(summary, dict) else None
    return f"  {one_line(', '.join(map(str, common)) if isinstance(common, dict) else str(summary), 60)}"


def _against(summary: JSON, old: JSON) -> str:
    new, before = _mean(summary), _mean(old)
    if new is None or before is None:
        return ""
    change = f"  {'+' if new > before else ''}{_digits(new - before)}" if new != before else ""
    return f"{_digits(before):>9}{change}"


def _digits(value: float) -> str:
    """A number in at most nine characters: three decimals, or of a small one as many as show three digits."""
    small = value and abs(value) < 0.1
    return f"{value:.3g}" if small and abs(value) >= 1e-4 else f"{value:.1e}" if small else f"{value:.3f}"


def _mean(summary: JSON) -> float | None:
    value = (summary.get("mean", summary.get("rate")) if isinstance(summary, dict) else summary)
    return float(value) if isinstance(value, int | float) else None


def _diff(record: Record, parent: Record | None) -> Iterator[str]:
    if record.program is None or parent is None or parent.program is None:
        yield f"{record.id} has no parent to compare its code with"
        return
    diff = diff_lines(parent.program.text, record.program.text)
    if not diff.lines:
        yield diff.note or f"the code of {record.id} is that of {parent.id}"
        return
    yield from map(printable, (f"--- {parent.id}", f"+++ {record.id}", *diff.lines))


def _code(record: Record) -> Iterator[str]:
    yield printable(record.program.text.rstrip("\n")) if record.program is not None else f"{record.id} has no code"


def _talk(record: Record, *, prompts: bool) -> Iterator[str]:
    """Prompts or replies in full. A repeated call has one of each."""
    if not record.calls:
        yield f"{record.id} has no model call"
    for row in record.calls:
        yield printable((row.call.prompt if prompts else row.call.reply).text.rstrip("\n"))
