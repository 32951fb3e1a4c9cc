"""The two parents of a crossover in a prompt: what each is, their results in one table, their programs side by side."""

import ast
import json
from collections.abc import Mapping
from difflib import SequenceMatcher, unified_diff

from ..core.events import Propose
from ..core.figures import KnownFitness, figure_of
from ..core.metrics import MAX_ENTRIES, OMITTED
from ..core.operators import OPERATORS
from ..core.order_ids import parse
from ..core.text import fenced_text, one_line, plural
from ..core.values import JSON, CandidateState, Operator, Program
from .feedback import MAX_EPISODES
from .figure_text import early_share
from .side_by_side import side_by_side

MAX_NAME = 64
MAX_CELL = 80
ABSENT = "-"


def title_of(parent: CandidateState, order: Propose) -> str:
    """What a parent is: the elite, the winner of the climb, the best macro-mutation, or a program of a generation."""
    if parse(parent.id).island not in (0, parse(order.id).island):
        return "the elite of another search for the same task, which began with the same first policy"
    proposal = OPERATORS[parent.operator].proposal
    if order.from_front and parent is order.parents[1]:
        return f"a {proposal} of generation {parent.generation}, the best program so far in at least one episode"
    if parent.id == order.elite:
        if parent.operator is Operator.INITIAL:
            return "the elite, which is the first policy"
        return f"the elite of generation {order.generation - 1}, a {proposal} of generation {parent.generation}"
    if parent.generation == order.generation and parent.operator is Operator.HILL_CLIMB:
        edits = sum(_is_climb_of(order.generation, ancestor.id) for ancestor in parent.lineage)
        after = f", after {plural(edits, 'accepted edit')}" if edits else ""  # none where the history is left out
        return f"the winner of this generation's climb{after}"
    if parent.generation == order.generation:
        return f"the best {proposal} of this generation"
    if parent.operator is Operator.INITIAL:
        return "the first policy"
    return f"a {proposal} of generation {parent.generation}"


def pair_table(first: CandidateState, second: CandidateState, *, whole: bool = True) -> str:
    """F, f_e of each episode and every metric of two programs next to each other; equal rows are folded into one.

    As a `whole` it has a row of all that is known of both, and of how often they ended early.
    """
    rows = [("", "parent A", "parent B"), ("F", f"{first.fitness:.4f}", f"{second.fitness:.4f}")]
    rows += _known_rows(figure_of(first), figure_of(second)) if whole else []
    shown = max(len(first.scores), len(second.scores))
    rows += _folded_episodes(first, second, min(shown, MAX_EPISODES))
    if shown > MAX_EPISODES:
        rows.append((f"({shown - MAX_EPISODES} more episodes are left out)", "", ""))
    names = [name for name in dict.fromkeys([*first.metrics, *second.metrics]) if name != OMITTED]
    cells = [
        (one_line(name, MAX_NAME), _cell(first.metrics.get(name)), _cell(second.metrics.get(name)))
        for name in names[:MAX_ENTRIES]
    ]
    rows += [row for row in cells if row[1] != row[2]]
    same = [f"{name} {value}" for name, value, other in cells if value == other]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([*lines, *([f"The same in both: {'; '.join(same)}"] if same else [])])


def _known_rows(first: KnownFitness, second: KnownFitness) -> list[tuple[str, str, str]]:
    rows = []
    if first.fresh or second.fresh:
        cells = [f"{one.fitness:.4f} ({one.episodes} episodes, {one.fresh} fresh)" for one in (first, second)]
        rows.append(("F, fresh episodes too", cells[0], cells[1]))
    if first.early or second.early:
        rows.append(("ended early (of all starts)", early_share(first), early_share(second)))
    return rows


def _folded_episodes(first: CandidateState, second: CandidateState, count: int) -> list[tuple[str, str, str]]:
    """One row for each episode; those in a line with the same two f_e share one."""
    rows: list[tuple[int, int, str, str]] = []
    for place in range(count):
        one, other = _parents_fitness(first, place), _parents_fitness(second, place)
        if rows and rows[-1][2:] == (one, other):
            rows[-1] = (rows[-1][0], place, one, other)
        else:
            rows.append((place, place, one, other))
    return [
        (f"f_e, episode {start}" if start == end else f"f_e, episodes {start} to {end}", one, other)
        for start, end, one, other in rows
    ]


def _is_climb_of(generation: int, name: str) -> bool:
    named = parse(name)
    return named.generation == generation and named.branch == OPERATORS[Operator.HILL_CLIMB].word


def _parents_fitness(candidate: CandidateState, place: int) -> str:
    return f"{candidate.scores[place].fitness:.4f}" if place < len(candidate.scores) else ABSENT


def _cell(entry: JSON) -> str:
    """One aggregated metric (`core.metrics.aggregate`) in a few characters."""
    if not isinstance(entry, Mapping):
        return ABSENT if entry is None else one_line(json.dumps(entry), MAX_CELL)
    count = entry.get("count")
    if entry == {"count": 0}:
        return "never"
    some = f" (in {count} episodes)" if isinstance(count, int) else ""
    low, mean, high = (_short(entry.get(key)) for key in ("min", "mean", "max"))
    if "mean" in entry:
        return f"{mean}{some}" if low == high else f"{mean} ({low} to {high}){some}"
    if "rate" in entry:
        return f"true: {_short(entry['rate'])}{some}"
    common = entry.get("most_common")
    if isinstance(common, Mapping):
        words = ", ".join(f"{json.dumps(text, ensure_ascii=False)} × {times}" for text, times in common.items())
        return one_line(words + some, MAX_CELL)
    return one_line(json.dumps(entry), MAX_CELL)


def _short(value: JSON) -> str:
    return f"{value:.4g}" if isinstance(value, int | float) else ABSENT


# Parent B next to parent A, in as many characters as there is room for.

MOSTLY = 0.6  # of the lines of the longer program: if this share is in both, a difference says more than the program
CONTEXT = 3  # lines around a change
LAST_LINE = 40  # characters that say how many lines are left out at the end
OUTLINE = "  # {} more lines are left out"


Names = tuple[str, str]
PARENTS: Names = ("parent A", "parent B")


def second_block(first: Program, second: Program, room: int, names: Names = PARENTS) -> str:
    """The second program as a code block of at most `room` characters where that can be: whole, or by what tells it
    from the first. `names` are those of both.

    If most lines are in both, it is a difference. Else, if it does not fit, the definitions that the first has
    too are left out, and then the ends of the longest definitions, with the number of lines.
    """
    whole = fenced_text(second.text, "python")
    difference, (one, other) = _difference(first, second, names), names
    if difference and (_is_alike(first, second) or (len(whole) > room and len(difference) < len(whole) // 2)):
        return difference
    if len(whole) <= room:
        return whole
    own = side_by_side({"A": first.text, "B": second.text})[1]["B"]
    words = f"{_capital(other)} is long. What is not shown of it is as in {one}, or is counted:"
    changes = [
        f"Its `{one_line(name, MAX_NAME)}` is {one}'s with these changes:\n\n{fenced_text(change, 'diff')}"
        for name, _, change in own.differences
    ]
    left = max(0, room - len("\n\n".join([words, fenced_text("", "python"), *changes])))
    return "\n\n".join([words, fenced_text(_outline_of(own.text, left), "python"), *changes])


def _is_alike(first: Program, second: Program) -> bool:
    """Whether most lines stand in both programs, in the same order."""
    one, other = first.text.splitlines(), second.text.splitlines()
    if not one or not other:
        return False
    matches = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    return sum(block.size for block in matches) >= MOSTLY * max(len(one), len(other))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _difference(first: Program, second: Program, names: Names) -> str:
    """The changed lines from the first to the second with the function around them; "" for equal programs."""
    lines = [*unified_diff(first.text.splitlines(), second.text.splitlines(), lineterm="", n=CONTEXT)][2:]
    if not lines:
        return ""
    titled = [_with_title(line, first) if line.startswith("@@") else line for line in lines]
    one, other = names
    return (f"{_capital(other)} is {one} with these lines changed (`-` is {one}'s, `+` is {other}'s; after `@@` the "
            f"definition of {one} around them):\n\n" + fenced_text("\n".join(titled), "diff"))


def _with_title(header: str, first: Program) -> str:
    """The head of a hunk with the definition that it is in."""
    start = int(header.split()[1].lstrip("-").partition(",")[0])
    heads = [
        line.strip() for line in first.text.splitlines()[: start + CONTEXT]
        if line.lstrip().startswith(("def ", "class ", "async def "))
    ]
    return f"@@ {one_line(heads[-1], 100)}" if heads else "@@"


def _outline_of(text: str, room: int) -> str:
    """A program in `room` characters: the longest definitions lose their ends first, by whole lines."""
    try:
        nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        nodes = []
    lines = text.splitlines()
    for node in sorted(nodes, key=lambda node: (node.end_lineno or 0) - node.lineno, reverse=True):
        size = sum(len(line) + 1 for line in lines)
        if size <= room:
            break
        first, last = node.body[0].lineno - 1, node.end_lineno or node.lineno
        kept = first
        left = size - room
        end = last
        while end - 1 > kept and left > 0:
            end -= 1
            left -= len(lines[end]) + 1
        if end < last:
            indent = " " * node.body[0].col_offset
            lines[end:last] = [f"{indent}{OUTLINE.strip().format(last - end)}", *[""] * (last - end - 1)]
    shown = [line for place, line in enumerate(lines) if line or not place or lines[place - 1]]
    cut = "\n".join(shown)
    if len(cut) <= room:
        return cut
    kept_lines = cut[: max(0, room - LAST_LINE)].rpartition("\n")[0]
    return f"{kept_lines}\n# {len(shown) - kept_lines.count(chr(10)) - 1} more lines are left out"


def second_history(first: str, second: str) -> str:
    """The history of parent B without the beginning that it shares with that of parent A."""
    one, other = first.splitlines(), second.splitlines()
    shared = 0
    while shared < min(len(one), len(other)) and one[shared] == other[shared]:
        shared += 1
    if shared < 2:
        return second
    rest = other[shared:]
    return "\n".join([f"(the first {plural(shared, 'line')} are those of parent A)", *rest])
