"""An environment's docstring as text for prompts: what is left out, its tables, its sections within a bound. Pure."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

MOST_CHARS: Final = 9_000           # of the documentation in a brief
MOST_KEPT: Final = 60_000           # of the documentation in a description
LEAST_SHOWN: Final = 200            # characters of a shortened section that are worth their heading
SHARE: Final = 0.6                  # of the room that is left: the most that one of several sections takes
_MARK: Final = 90                   # characters of the sentence on a shortened section

# Cleaning: the docstring's sections that describe the task, with all their numbers.

_LEFT_OUT: Final = (
    "argument", "version", "vector", "reference", "citation", "credit", "rendering", "render", "registered", "usage",
    "configuration", "example", "acknowledg", "info", "changelog",
)
_HISTORY: Final = re.compile(r"(change ?log|version history|credits?)\b.*", re.IGNORECASE)
_ITEM: Final = re.compile(r"(\s*)([-*+]|\d+[.)])\s+(.*)")
_OTHER_ID: Final = re.compile(r"`?(?:[\w-]+/)?([\w.-]+-v\d+)`?(?=[\s:]|$)")
_RULE: Final = re.compile(r"\|[ \t:|-]*--[ \t:|-]*")
_HEADING: Final = re.compile(r"\s{0,3}(#+)\s+(.*)")
_HOW_TO_MAKE: Final = re.compile(r"\bgym|^\s*(\$ )?(python|pip) ", re.MULTILINE)
_CODE: Final = "\0"                 # the beginning of a line that stays as it is


def clean(text: str, own_id: str = "") -> str:
    """The docstring's sections that describe the task, at most `MOST_KEPT` characters.

    Figures, code that only makes an environment, links, HTML, arguments, history and what concerns other ids than
    `own_id` are left out. Indented blocks and other code stay as they are; cells of tables lose their padding.
    """
    text = _ARGUMENTS.sub("", re.sub(r"(?s)<!--.*?-->", "", textwrap.dedent(text)))
    lines = _without_other_ids(text.expandtabs().splitlines(), own_id)
    sections = _sections([*_plain(_without_code(_without_history(lines)))])
    joined = "\n\n".join(body.strip("\n") for body in sections)
    joined = re.sub(r"\n{3,}", "\n\n", joined).strip("\n")
    return beginning_of(joined, MOST_KEPT).replace(_CODE, "")


def without_other_modes(text: str, values: Mapping[str, object]) -> str:
    """The text without paragraphs for values of arguments that are not in force, such as "If `obs_type` is `pixels`".

    `values` are those in force. The list that such a paragraph leads goes with it.
    """
    kept: list[str] = []
    for paragraph in re.split(r"\n\s*\n", text):
        found = _OF_A_MODE.match(paragraph)
        in_force = values.get(found[1]) if found else None
        if not found or not isinstance(in_force, str) or in_force == found[2]:
            kept.append(paragraph)
    return "\n\n".join(kept)


_OF_A_MODE: Final = re.compile(
    r"\s*(?:[-*]\s+)?(?:if|when|for)\s+`*(\w+)`*\s*(?:is|=+)\s*(?:set to\s+)?[`'\"]+([\w-]+)[`'\"]+", re.IGNORECASE)
_ARGUMENTS: Final = re.compile(     # as Google's and Sphinx's styles have them: they are shown with their values
    r"^([ \t]*)(?:Args|Arguments|Parameters|Returns|Raises):[ \t]*\n(?:\1[ \t]+\S.*\n?|[ \t]*\n)*|"
    r"^[ \t]*:(?:param|type|returns?|rtype|raises)\b.*(?:\n[ \t]+\S.*)*", re.MULTILINE)


def _without_other_ids(lines: Sequence[str], own_id: str) -> list[str]:
    """The lines without items of lists about other environments than `own_id`."""
    name = own_id.rpartition("/")[2]
    kept: list[str] = []
    within: int | None = None       # the indentation of an item that is left out
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if within is not None and (not line.strip() or indent > within):
            continue
        item = _ITEM.fullmatch(line)
        other = _OTHER_ID.match(item[3]) if item and own_id else None
        within = indent if other and other[1] != name else None
        if within is None:
            kept.append(line)
    return kept


def _without_history(lines: Sequence[str]) -> list[str]:
    """The lines without paragraphs on changes and credits that have no heading; their lists go with them."""
    kept: list[str] = []
    within = False
    for line in lines:
        if _HISTORY.fullmatch(line):
            within = True
        elif within and line.strip() and not line[0].isspace() and not _ITEM.fullmatch(line):
            within = False
        if not within:
            kept.append(line)
    return kept


def _without_code(lines: Sequence[str]) -> list[str]:
    """The lines without figures and code that makes an environment, nor the sentence that leads to it."""
    kept: list[str] = []
    next_line = 0
    for place, line in enumerate(lines):
        if place < next_line:
            continue
        opening = re.fullmatch(r"\s*(```+)\s*(\{?)[\w-]*.*", line)
        if opening is None:
            kept.append(line)
            continue
        end = _end_of_code(lines, place, opening[1])
        if end is None:         # a fence without a second one
            continue
        block, next_line = lines[place : end + 1], end + 1
        code = "\n".join(block[1:-1])
        if opening[2] or _HOW_TO_MAKE.search(code):
            _drop_lead(kept)
        else:
            kept += [_CODE + each for each in block]
    return kept


def _end_of_code(lines: Sequence[str], begin: int, fence: str) -> int | None:
    """The line that closes the fence in line `begin`; None if a section or the text ends before."""
    for place in range(begin + 1, len(lines)):
        if lines[place].strip().startswith(fence):
            return place
        if re.match(r"\s{0,3}##+\s", lines[place]):
            return None
    return None


def _drop_lead(lines: list[str]) -> None:
    """Remove the last sentence if it ends with a colon, and so leads to nothing."""
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or not lines[-1].rstrip().endswith(":"):
        return
    while lines and lines[-1].strip():
        end = max(lines[-1].rfind(". "), lines[-1].rfind(".) "))
        if end >= 0:
            lines[-1] = lines[-1][: end + 1]
            return
        ended = _ITEM.fullmatch(lines.pop()) is not None
        if ended or (lines and (lines[-1].rstrip().endswith((".", ":")) or _HEADING.fullmatch(lines[-1]))):
            return


def _plain(lines: Sequence[str]) -> Iterator[str]:
    """The lines without markup; indented blocks after a blank line stay as they are."""
    before, art, listed = "", False, False
    for place, line in enumerate(lines):
        starts = not before.strip() and not listed and not _table(lines, place)
        art = bool(line.strip()) and line.startswith("    ") and not _ITEM.fullmatch(line) and (art or starts)
        if line.startswith(_CODE) or art:
            yield _CODE + line.removeprefix(_CODE)
        else:
            listed = bool(_ITEM.fullmatch(line)) or (listed and (not line.strip() or line[0].isspace()))
            yield _row(line) if _table(lines, place) else _line(line)
        before = line
    yield ""


def _table(lines: Sequence[str], place: int) -> bool:
    """Whether a line belongs to a table: lines that begin with a bar, the second of which is a rule."""
    first = place
    while first >= 0 and lines[first].lstrip().startswith("|"):
        first -= 1
    return first < place and first + 2 < len(lines) and _RULE.fullmatch(lines[first + 2].strip()) is not None


def _line(line: str) -> str:
    """A line of prose without images, links, HTML and emphasis."""
    line = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)
    line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
    line = re.sub(r"</?[A-Za-z][^<>]*>", "", line)
    line = re.sub(r":(?:meth|mod|class|func|attr):`", "`", line)
    return line.replace("***", "").replace("*=*", "=").replace("\\(", "").replace("\\)", "").rstrip()


def _row(line: str) -> str:
    """A line of a table without padding."""
    line = _line(line).strip()
    if _RULE.fullmatch(line):
        return re.sub(r"-{3,}", "---", re.sub(r"\s+", "", line))
    return re.sub(r"\s*(?<!\\)\|\s*", " | ", line).strip()


def _sections(lines: Sequence[str]) -> list[str]:
    """The text of every section with its heading; the first may have none. Subsections belong to their section.

    What is left out by its title, and headings with nothing below them, are not among them.
    """
    parts: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for line in lines:
        heading = _HEADING.fullmatch(line)
        if heading:
            parts.append((len(heading[1]), heading[2].strip(), []))
        else:
            parts[-1][2].append(line)
    kept: list[tuple[int, str, list[str]]] = []
    for level, title, body in reversed(parts):      # a heading stays if something of a deeper level follows it
        _drop_lead(body)
        if any(map(str.strip, body)) or (kept and kept[-1][0] > level > 0):
            kept.append((level, title, body))
    kept = _parts_on_the_task(kept[::-1])
    top = min((level for level, *_ in kept if level), default=0)
    sections: list[list[str]] = []
    for level, title, body in kept:
        if level <= top:
            sections.append([f"### {title}"] if title else [])
        else:
            sections[-1].append(f"\n**{title}**")
        sections[-1] += body
    return ["\n".join(section) for section in sections]


def _parts_on_the_task(parts: Sequence[tuple[int, str, list[str]]]) -> list[tuple[int, str, list[str]]]:
    """The parts that describe the task, by their titles; with a title its subsections are left out."""
    kept = []
    within = 99
    for level, title, body in parts:
        within = 99 if level <= within else within
        if within == 99 and any(word in title.lower() for word in _LEFT_OUT):
            within = level
        if within == 99:
            kept.append((level, title, body))
    return kept


# Tables.

_TABLE: Final = re.compile(r"(?m)^\|.*\n\|[ \t:|-]*--[ \t:|-]*\n(?:\|.*(?:\n|\Z))*")


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a text: its header, its rows with as many cells, and its place in the text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    start: int = 0
    end: int = 0


def tables(text: str) -> list[Table]:
    """The tables of a cleaned text."""
    found = []
    for match in _TABLE.finditer(text):
        header, _, *rows = (_cells(line) for line in match[0].splitlines())
        same = [(*row, *[""] * len(header))[: len(header)] for row in rows]
        found.append(Table(header, tuple(same), match.start(), match.end()))
    return found


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")))


def table_text(table: Table, *, most_rows: int | None = None) -> str:
    """The table as text: a column that is the same in all rows becomes a sentence, equal rows in a line become one."""
    constant: list[str] = []
    columns = [0]
    for place in range(1, len(table.header)):
        values = {row[place] for row in table.rows}
        if values <= {"", "-"}:
            continue
        if len(values) > 1 or len(table.rows) < 2 or place == 1:
            columns.append(place)
        elif value := next(iter(values)):
            constant.append(f"{table.header[place]}: {value}")
    rows = _with_equal_rows_as_one([tuple(row[place] for place in columns) for row in table.rows])
    cut = [] if most_rows is None or len(rows) <= most_rows else [f"({len(rows) - most_rows} more rows are left out.)"]
    lines = [_as_line([table.header[place] for place in columns]), _as_line(["---"] * len(columns))]
    lines += [_as_line(row) for row in rows[:most_rows]]
    return "\n".join([*lines, *cut, *([f"(In every row: {'; '.join(constant)}.)"] if constant else [])])


def _as_line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _with_equal_rows_as_one(rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Rows with consecutive numbers that are equal apart from them as one row, such as "3-5"."""
    merged: list[tuple[str, ...]] = []
    for row in rows:
        numbers = re.fullmatch(r"(\d+)(?:-(\d+))?", merged[-1][0]) if merged else None
        follows = numbers is not None and row[0] == str(int(numbers[2] or numbers[1]) + 1)
        if numbers and follows and len(row) > 1 and merged[-1][1:] == row[1:]:
            merged[-1] = (f"{numbers[1]}-{row[0]}", *row[1:])
        else:
            merged.append(row)
    return merged


def elements(text: str, kind: str, sizes: Mapping[str, int]) -> dict[str, Table]:
    """By field, the table of a cleaned text that has a row for each of its first numbers, if there is one.

    `kind` is the heading of the names, such as "Observation". A field of several is the one that the text before
    the table names last. Rows of other things than numbers are left out.
    """
    found: dict[str, Table] = {}
    before = 0
    for table in tables(text):
        named = [name for name in re.findall(r"`(\w+)`", text[before : table.start]) if name in sizes]
        before = table.end
        field = named[-1] if named and len(sizes) > 1 else next(iter(sizes)) if len(sizes) == 1 else ""
        rows = tuple(row for row in table.rows if row[0].isdigit())
        right = len(table.header) > 1 and re.fullmatch(rf"{kind}s?", table.header[1], re.IGNORECASE)
        if right and field and field not in found and 0 < len(rows) <= sizes[field] and _counts_up(rows):
            found[field] = replace(table, rows=rows)
    return found


_LISTED: Final = re.compile(r"\[([^\[\]\n]*(?:\n[^\[\]\n]*)?)\]")


def listed_names(text: str, kind: str, size: int) -> Table | None:
    """The names that a section of this kind lists in brackets, as in "[x, y, angle]", if they are as many as `size`."""
    for section in re.split(r"\n(?=### )", text):
        if kind.lower() not in section.partition("\n")[0].lower():
            continue
        for match in _LISTED.finditer(section):
            names = [" ".join(each.split()) for each in match[1].split(",")]
            if len(names) == size > 1 and all(re.fullmatch(r"[A-Za-z_][\w .'/()-]*", each) for each in names):
                rows = tuple((str(place), name) for place, name in enumerate(names))
                return Table((kind, kind), rows)
    return None


def _counts_up(rows: Sequence[tuple[str, ...]]) -> bool:
    return [row[0] for row in rows] == [str(place) for place in range(len(rows))]


# Fitting: the text within a bound, section by section.

_PRIORITIES: Final = (              # by words of a title; the first that fits counts
    (0, ("reward", "return", "episode end", "terminat", "truncat", "success", "goal", "done", "objective", "cost")),
    (2, ("start", "reset", "initial")),
    (3, ("action", "control")),
    (4, ("observ", "state")),
    (1, ("descr", "mission", "task")),
)
_OTHER: Final = 5
_MOVED: Final = "(The table is in the interface.)"


def text_within(text: str, *, most: int = MOST_CHARS, shown: Iterable[Table] = ()) -> str:
    """A cleaned text in at most `most` characters, its tables folded.

    The tables in `shown` stand elsewhere in the brief. Where the room is too small, reward, end and success get it
    first, then the description, the start, actions and observations; a sentence says what was shortened.
    """
    parts = re.split(r"\n(?=### )", _without_tables(text, shown))
    sections = [_folded_tables(part).strip("\n") for part in parts]
    if len("\n\n".join(sections)) <= most:
        return "\n\n".join(sections)
    order = sorted(range(len(sections)), key=lambda place: (_priority(sections[place], place), place))
    room = most
    for rank, place in enumerate(order):
        allowed = room if rank == len(order) - 1 else max(int(SHARE * room), room - sum(
            len(sections[later]) + 2 for later in order[rank + 1 :]
        ))
        sections[place] = beginning_of(sections[place], max(0, allowed - 2))
        room -= len(sections[place]) + 2
    return "\n\n".join(filter(None, sections))[:most]


def _priority(section: str, place: int) -> int:
    title = section.partition("\n")[0].lower()
    if not title.startswith("### "):
        return 1 if place == 0 else _OTHER
    return next((rank for rank, words in _PRIORITIES if any(word in title for word in words)), _OTHER)


def _without_tables(text: str, shown: Iterable[Table]) -> str:
    for table in sorted(shown, key=lambda each: -each.start):
        text = f"{text[: table.start]}{_MOVED}\n{text[table.end :]}"
    return re.sub(rf"(?:{re.escape(_MOVED)}\s*)+", f"{_MOVED}\n\n", text)


def _folded_tables(text: str) -> str:
    for table in reversed(tables(text)):
        if table.rows:
            text = f"{text[: table.start]}{table_text(table)}\n{text[table.end :]}"
    return text


def beginning_of(text: str, most: int) -> str:
    """The beginning of a section in at most `most` characters, whole lines, and a sentence on what is left out."""
    if len(text) <= most:
        return text
    title = text.partition("\n")[0].removeprefix("### ") if text.startswith("### ") else "text"
    kept = text[: max(0, most - _MARK)].rpartition("\n")[0] if most >= LEAST_SHOWN else ""
    if not kept.strip() and most >= LEAST_SHOWN:
        kept = text[: most - _MARK]
    left = text[len(kept) :].strip("\n").count("\n") + 1
    mark = f"(The section \"{title[:30]}\" is {'shortened' if kept else 'left out'} here by {left} lines.)"
    return "\n".join(filter(None, (kept.rstrip(), mark)))[: max(0, most)]
