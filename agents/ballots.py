"""What a judge sees of a pool: the values of all evaluators in one table, and the code that several share only once."""

from collections.abc import Mapping, Sequence

from ..core.events import Judge
from ..core.examined import TOLERANCE
from ..core.metrics import MAX_ENTRIES, NEVER, aggregate
from ..core.probes import violations
from ..core.programs.program_text import MAX_EVALUATOR, bare
from ..core.text import excerpt, fenced_text, one_line, plural, text_table
from ..core.values import JSON, EvaluatorCandidate, Program
from .probe_words import MAX_PROBES, NAME, courses, ending, orders_list
from .side_by_side import Own, Shared, side_by_side

NOT_SHOWN = '"The text of this program cannot be shown."'  # in the logs of versions that took such programs
MAX_SAID = 400
MAX_EPISODES = 24  # rows
MAX_PAIRS = 12  # pairs shown
MISSING = "-"
Pool = Mapping[str, EvaluatorCandidate]
"""The pool of one seat: the evaluators by label, in the order in which this seat sees them."""


def ballot(order: Judge, pool: Pool) -> str:
    """The pool for one judge: summaries, values, metrics, shared definitions, and what only one evaluator has."""
    parts = [
        "### What they measure, in the words of whoever wrote them",
        fenced_text("\n".join(f"{label}: {one_line(entry.says, MAX_SAID) or '-'}" for label, entry in pool.items())),
        "### Fitness of every recording", fenced_text(_values(order, pool)), *_orders(order), *_violations(order, pool),
        *_failure(order, pool), *_tests(pool),
        "### Metrics over the rollouts of the initial policy: mean (least to most)", fenced_text(_metrics(pool)),
    ]
    texts = {
        # printing a program may lengthen it
        label: excerpt(bare(entry.program or Program("")), 2 * MAX_EVALUATOR) or NOT_SHOWN
        for label, entry in pool.items()
    }
    shared, own = side_by_side(texts)
    blocks = (_own_block(label, own[label], shared) for label in pool)
    return "\n\n".join([*parts, *map(_shared_block, shared), *blocks])


def _values(order: Judge, pool: Pool) -> str:
    """f_e of every rollout of T_0 and every probe: recordings as rows, evaluators as columns."""
    rows: list[tuple[str, ...]] = [("recording", "steps", "ended", *pool)]
    for place in range(max((len(entry.examination.scores) for entry in pool.values()), default=0)):
        if place == MAX_EPISODES:
            rows.append(("… more episodes",))
            break
        about = ("episode", MISSING, MISSING)
        if place < len(order.episodes):
            episode = order.episodes[place]
            about = (f"episode {episode.index}", str(episode.steps), ending(episode))
        cells = [entry.examination.scores[place: place + 1] for entry in pool.values()]
        rows.append((*about, *(f"{cell[0].fitness:.4f}" if cell else MISSING for cell in cells)))
    means = [[score.fitness for score in entry.examination.scores] for entry in pool.values()]
    rows.append(("mean: F of p_0", "", "", *(f"{sum(each) / len(each):.4f}" if each else MISSING for each in means)))
    for place, probe in [each for each in enumerate(order.probes) if not each[1].invariant][:MAX_PROBES]:
        cells = [entry.examination.probe_scores[place: place + 1] for entry in pool.values()]
        values = (f"{cell[0].fitness:.4f}" if cell else MISSING for cell in cells)
        rows.append((f"probe: {one_line(probe.name, NAME)}", str(probe.episode.steps), ending(probe.episode), *values))
    pairs = max((entry.examination.order_pairs for entry in pool.values()), default=0)
    if pairs:
        counts = (str(entry.examination.order_violations) for entry in pool.values())
        rows.append((f"violated of {pairs} known orders", "", "", *counts))
    return text_table(rows)


def _orders(order: Judge) -> list[str]:
    """The known orders with a title."""
    lines = orders_list(order.episodes, order.probes)
    return ["The known orders (`>`: is worth more than):", fenced_text(lines)] if lines else []


def _failure(order: Judge, pool: Pool) -> list[str]:
    """The course of a failure in the middle of the task, by what the evaluators give on average."""
    values: dict[int, list[float]] = {}
    for entry in pool.values():
        for episode, score in zip(order.episodes, entry.examination.scores, strict=False):
            values.setdefault(episode.index, []).append(score.fitness)
    found = courses(order.episodes, {index: sum(each) / len(each) for index, each in values.items()})
    return ["### A failure in the middle of the task", *found] if found else []


def _tests(pool: Pool) -> list[str]:
    """What the tests found: ladders, changes without meaning, discrimination; evaluators as columns."""
    found = [entry.examination.tests for entry in pool.values()]
    tests = [each for each in found if each is not None]
    if not tests or len(tests) < len(found):
        return []
    rows: list[tuple[str, ...]] = [("test", *pool)]
    for place, ladder in enumerate(tests[0].ladders):
        order = "" if ladder.certain else ", expected order"
        cells = (f"{each.ladders[place].inversions} ({each.ladders[place].tau:+.2f})" for each in tests)
        rows.append((f"{one_line(ladder.name, NAME)}, {ladder.pairs} pairs{order}", *cells))
    changes = len(tests[0].invariances)
    if changes:
        moved = (str(each.broken_invariances) for each in tests)
        rows.append((f"broken of {plural(changes, 'invariance')}: f_e moves by over {TOLERANCE:g}", *moved))
    attacks = [each.attacks for each in tests if each.attacks is not None]
    if len(attacks) == len(tests):
        rows.append(("exploits: programs without success that it likes", *(f"{a.found} of {a.tried}" for a in attacks)))
        rows.append(("highest f_e of a program without success", *(_number(a.best) for a in attacks)))
    rows.append((f"spread of f_e over {plural(tests[0].failures, 'failure')}", *(f"{t.spread:.4f}" for t in tests)))
    rows.append((f"recorded successes at f_e = 1, of {tests[0].successes}", *(str(each.saturated) for each in tests)))
    head = "### Tests: pairs that are ranked wrongly (Kendall's tau), and discrimination"
    return [head, fenced_text(text_table(rows))]


def _violations(order: Judge, pool: Pool) -> list[str]:
    """The pairs that are ranked wrongly, with the evaluators that do so; those of most evaluators first."""
    labels: dict[tuple[str, str], list[str]] = {}
    for label, entry in pool.items():
        found = entry.examination
        for pair in violations(order.episodes, found.scores, order.probes, found.probe_scores):
            labels.setdefault((pair.better, pair.worse), []).append(label)
    ranked = sorted(labels.items(), key=lambda item: -len(item[1]))
    lines = [
        f"{', '.join(wrong)}: {one_line(better, NAME)}, not above {one_line(worse, NAME)}"
        for (better, worse), wrong in ranked[:MAX_PAIRS]
    ]
    lines += [f"… and {len(ranked) - MAX_PAIRS} more pairs"] if len(ranked) > MAX_PAIRS else []
    return ["Known orders that are violated:", fenced_text("\n".join(lines))] if lines else []


def _metrics(pool: Pool) -> str:
    """Metrics by name, evaluators as columns; those with equal values everywhere share a line."""
    found = {label: aggregate(entry.examination.scores) for label, entry in pool.items()}
    names = list(dict.fromkeys(name for metrics in found.values() for name in metrics))
    rows: list[tuple[str, ...]] = [("metric", *pool)]
    same = []
    for name in names[: 2 * MAX_ENTRIES]:
        cells = [_cell(metrics[name]) if name in metrics else MISSING for metrics in found.values()]
        if len(cells) > 1 and len(set(cells)) == 1:
            same.append(one_line(name, NAME))
        else:
            rows.append((one_line(name, NAME), *cells))
    lines = [text_table(rows)] if len(rows) > 1 else []
    lines += [f"the same values for all: {', '.join(same)}"] if same else []
    lines += [f"… and {len(names) - 2 * MAX_ENTRIES} more"] if len(names) > 2 * MAX_ENTRIES else []
    return "\n".join(lines) or "none"


def _cell(entry: JSON) -> str:
    """One aggregated metric in a few characters."""
    if entry == NEVER:
        return "never"
    if not isinstance(entry, Mapping):
        return one_line(str(entry), 40)
    if "mean" in entry:
        mean, least, most = (_number(entry.get(key)) for key in ("mean", "min", "max"))
        return mean if least == most else f"{mean} ({least} to {most})"
    if "rate" in entry:
        return f"{_number(entry['rate'])} true"
    common = entry.get("most_common")
    if isinstance(common, Mapping):
        return one_line(", ".join(f"{text} × {count}" for text, count in common.items()), 40)
    return one_line(str(entry), 40)


def _number(value: JSON) -> str:
    return f"{value:.3g}" if isinstance(value, int | float) else MISSING


def _shared_block(section: Shared) -> str:
    return f"### Shared by {_list_of(section.labels)}\n\n{fenced_text(section.text, 'python')}"


def _own_block(label: str, own: Own, shared: Sequence[Shared]) -> str:
    """What only this evaluator has."""
    sections = [_list_of(section.labels) for section in shared if label in section.labels]
    rest = f"The rest of its program is shared: see {'; '.join(sections)}." if sections else ""
    parts = [f"### Evaluator {label}", rest]
    parts += [fenced_text(own.text, "python")] if own.text else []
    for name, other, change in own.differences:
        parts += [f"Its `{one_line(name, NAME)}` is that of {other} with these changes:", fenced_text(change, "diff")]
    if not own.text and not own.differences:
        parts.append("It defines nothing that the others do not.")
    return "\n\n".join(part for part in parts if part)


def _list_of(labels: Sequence[str]) -> str:
    return " and ".join([", ".join(labels[:-1]), labels[-1]] if len(labels) > 1 else labels)
