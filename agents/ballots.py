"""What a judge sees of a pool: the values of all evaluators in one table, and the code that several share only once."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff

from ..core.events import Judge
from ..core.examined import TOLERANCE
from ..core.metrics import MAX_ENTRIES, NEVER, aggregate
from ..core.probes import CUT, known_order, violations
from ..core.programs.program_text import MAX_EVALUATOR, bare
from ..core.text import excerpt, fenced_text, one_line, plural, text_table
from ..core.values import JSON, Episode, EvaluatorCandidate, Examination, Probe, Program

# Programs next to each other without their common parts: each definition that several share is shown once.
#
# Units are the statements of a module and of its classes. A unit is shared if its text is the same in several programs
# and its name is defined only once in each of them, so that no order of definitions is lost.


LEAST_SAVED = 120   # characters that a shared section must save: it has a heading
LEAST_DIFFERED = 400    # characters of a definition that is worth showing as a difference
MOST_DIFFERENT = 0.5    # of its length: a longer difference is harder to read than the definition


@dataclass(frozen=True, slots=True)
class NamedStatement:
    """One statement: the head of its class ("" in the module), the name that it defines, its text."""

    scope: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """Definitions that exactly these programs have in common."""

    labels: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What only one program has: whole definitions, and definitions that differ a little from another's.

    `differences` holds (name of the definition, label of the other program, unified difference).
    """

    text: str
    differences: tuple[tuple[str, str, str], ...] = ()


def side_by_side(programs: Mapping[str, str]) -> tuple[tuple[Shared, ...], dict[str, Own]]:
    """The shared definitions, the most widely shared first, and each program's own ones, by label.

    `programs` are texts by label, in the order in which they are shown. One that does not parse is shown whole.
    """
    units = {label: parsed for label, text in programs.items() if (parsed := _units(text)) is not None}
    fixed = {key for each in units.values() for key in _defined_twice(each)}
    holders: dict[NamedStatement, list[str]] = {}
    for label, each in units.items():
        for unit in dict.fromkeys(each):
            if unit.name and (unit.scope, unit.name) not in fixed:
                holders.setdefault(unit, []).append(label)
    groups: dict[tuple[str, ...], list[NamedStatement]] = {}
    for unit, labels in holders.items():
        if len(labels) > 1:
            groups.setdefault(tuple(labels), []).append(unit)
    worth = {
        labels: group for labels, group in groups.items()
        if sum(len(unit.text) for unit in group) * (len(labels) - 1) > LEAST_SAVED
    }
    hidden = {(label, unit) for labels, group in worth.items() for label in labels for unit in group}
    shared = tuple(
        Shared(labels=labels, text=_text_of_units(group))
        for labels, group in sorted(worth.items(), key=lambda item: -len(item[0]))
    )
    own = {label: Own(text=text) for label, text in programs.items() if label not in units}
    shown: dict[tuple[str, str], tuple[str, NamedStatement]] = {}
    for label, each in units.items():
        left = [unit for unit in each if (label, unit) not in hidden]
        own[label] = _own_code(label, left, shown, fixed)
    return shared, own


def _own_code(
    label: str, units: Sequence[NamedStatement], shown: dict[tuple[str, str], tuple[str, NamedStatement]],
    fixed: set[tuple[str, str]]
) -> Own:
    """A program's own units; one that resembles a unit in `shown` becomes a difference, the others join `shown`."""
    whole, differences = [], []
    for unit in units:
        key = unit.scope, unit.name
        change = _difference(shown[key][1], unit) if key in shown and key not in fixed else ""
        if change:
            differences.append((unit.name, shown[key][0], change))
            continue
        whole.append(unit)
        if unit.name:
            shown.setdefault(key, (label, unit))
    return Own(text=_text_of_units(whole), differences=tuple(differences))


def _difference(old: NamedStatement, new: NamedStatement) -> str:
    """The changed lines of a definition; "" where they are no shorter to read than the definition."""
    if len(new.text) < LEAST_DIFFERED:
        return ""
    lines = [*unified_diff(old.text.splitlines(), new.text.splitlines(), lineterm="", n=1)][2:]
    text = "\n".join(lines)
    return text if len(text) <= MOST_DIFFERENT * len(new.text) else ""


def _units(text: str) -> list[NamedStatement] | None:
    try:
        tree = ast.parse(text)
        return [unit for node in tree.body for unit in _of_statement(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _of_statement(node: ast.stmt) -> Iterator[NamedStatement]:
    if not isinstance(node, ast.ClassDef):
        yield NamedStatement("", _name(node), ast.unparse(node))
        return
    head = ast.unparse(ast.ClassDef(**{**{f: getattr(node, f) for f in node._fields}, "body": [ast.Pass()]}))
    head = head.rpartition("\n")[0]
    for member in node.body:
        yield NamedStatement(head, _name(member), ast.unparse(member))


def _name(node: ast.stmt) -> str:
    """What a statement defines; "" for a statement whose place matters."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return node.name
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Tuple(elts=names)]):
            return ", ".join(name.id for name in names if isinstance(name, ast.Name))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return "import " + ", ".join(alias.asname or alias.name for alias in names)
    return ""


def _defined_twice(units: Sequence[NamedStatement]) -> set[tuple[str, str]]:
    keys = [(unit.scope, unit.name) for unit in units]
    return {key for key in keys if keys.count(key) > 1}


def _text_of_units(units: Sequence[NamedStatement]) -> str:
    """Units as Python text; members of a class stand under its head."""
    parts: list[str] = []
    scope = ""
    for unit in units:
        if unit.scope != scope:
            scope = unit.scope
            if scope:
                parts.append(f"\n{scope}")
        block = "\n".join(f"    {line}" if line else line for line in unit.text.splitlines()) if scope else unit.text
        gap = "\n" if "\n" in unit.text else ""
        parts.append(f"{gap}{block}")
    return "\n".join(parts).strip("\n")


# Probes in words: the recordings with their known order, and the pairs that an evaluator ranks wrongly. All data.


MAX_PROBES = 32  # rows
MAX_VIOLATIONS = 6  # pairs shown
MAX_ORDERS = 16  # lines of known orders
MAX_COURSE = 1_800  # characters of the course of a recording
NAME = 60

CERTAIN = (
    "A recording that its table lists as worth less than another must score less, and so must every failure than "
    "every success (of the rollouts that were cut, only the beginnings of a success count as failures)."
)


def probes_table(probes: Sequence[Probe]) -> str:
    """The probes for writers of evaluators: steps, ending, and what is certain of their order."""
    rows: list[tuple[str, ...]] = [("probe", "steps", "ended", "worth less than")]
    for probe in [each for each in probes if not each.invariant][:MAX_PROBES]:
        below = ", ".join(one_line(name, NAME) for name in probe.below) or "-"
        rows.append((one_line(probe.name, NAME), str(probe.episode.steps), ending(probe.episode), below))
    return f"{fenced_text(text_table(rows))}\n\n{CERTAIN}"


def courses(episodes: Sequence[Episode], values: Mapping[int, float] | None = None) -> list[str]:
    """The course of a success and of a failure in the domain's words, each with a title; [] without any.

    With `values`, f_e by episode, it is that of a failure alone: the one in the middle, which got part of the way.
    """
    told = [each for each in episodes if each.notes.story]
    failures = [each for each in told if not each.success]
    if values is not None:
        failures.sort(key=lambda each: (values.get(each.index, 0.0), each.index))
        chosen = failures[len(failures) // 2 :][:1]
    else:
        chosen = [*[each for each in told if each.success][:1], *failures[:1]]
    return [
        f"The course of episode {each.index} ({ending(each)} after {each.steps} steps):\n\n"
        f"{fenced_text(excerpt(each.notes.story, MAX_COURSE))}"
        for each in chosen
    ]


def orders_list(episodes: Sequence[Episode], probes: Sequence[Probe]) -> str:
    """The known orders, one line for each recording with those that are worth less; "" for none."""
    below: dict[str, list[str]] = {}
    for better, worse in known_order(episodes, probes):
        below.setdefault(better, []).append(one_line(worse, NAME))
    lines = [f"{one_line(better, NAME)} > {', '.join(worse)}" for better, worse in below.items()]
    more = [f"and {len(lines) - MAX_ORDERS} more"] if len(lines) > MAX_ORDERS else []
    return "\n".join([*lines[:MAX_ORDERS], *more])


def ending(episode: Episode) -> str:
    """How a recording ended."""
    late = ", with success" if episode.success and episode.ended_by != "success" else ""
    return "cut short" if episode.ended_by == CUT else one_line(episode.ended_by, 40) + late


def order_line(examination: Examination) -> str:
    """How many known orders an evaluator violates."""
    return f"{examination.order_violations} of {plural(examination.order_pairs, 'known order')}"


def violations_list(examination: Examination, episodes: Sequence[Episode], probes: Sequence[Probe]) -> str:
    """The pairs that are ranked the wrong way round or alike, one per line, the largest errors first; "" for none."""
    found = violations(episodes, examination.scores, probes, examination.probe_scores)
    ranked = sorted(found, key=lambda pair: pair.better_fitness - pair.worse_fitness)
    lines = [
        f"{one_line(pair.better, NAME)} ({pair.better_fitness:.4f}) should score more than "
        f"{one_line(pair.worse, NAME)} ({pair.worse_fitness:.4f})"
        for pair in ranked[:MAX_VIOLATIONS]
    ]
    if len(ranked) > MAX_VIOLATIONS:
        lines.append(f"… and {len(ranked) - MAX_VIOLATIONS} more")
    return "\n".join(lines)


def probe_scores_table(examination: Examination, probes: Sequence[Probe]) -> str:
    """What one evaluator gave on the probes."""
    rows: list[tuple[str, ...]] = [("probe", "f_e")]
    scored = zip(probes, examination.probe_scores, strict=False)
    for probe, score in [each for each in scored if not each[0].invariant][:MAX_PROBES]:
        rows.append((one_line(probe.name, NAME), f"{score.fitness:.4f}"))
    return text_table(rows)


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
