"""The code blocks of a reply in Markdown: what each says of its language, and what its text is. Pure, and never raises.

`split` goes by CommonMark's rule. `likely_blocks` finds what a person would: fences in lists and quotes, one inside of
a docstring that ends nothing, one at the end of a line of code, a program without any fence.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Final

# Possessive, so linear in the line.
_FENCE: Final = re.compile(r"( {0,3})(`{3,}+|~{3,}+)[ \t]*+([^`\s]*+)(?:\s[^`]*+)?")
_ANY_FENCE: Final = re.compile(     # with what stands before it in a list or a quote
    r"([ \t\ufeff\u200b]*+(?:>[ \t]?)*+[ \t]*+(?:(?:[-*+]|\d{1,3}[.)])[ \t]++)?)(`{3,}+|~{3,}+|'{3})[ \t]*+([^`\s]*+)"
    r"([^`]*+)"
)
_PYTHON: Final = re.compile(
    r"(?:language-|lang-|source-)?(?:i?python|py)(?:[ -]?[23](?:\.\d+)*)?(?:[:=,;#|/({].*)?|.*\.pyw?(?::.*)?"
)
_CODE_FIRST: Final = re.compile(r"(?:import|from|class|def) ")      # on the line of the fence
_THOUGHT: Final = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_TAG: Final = re.compile(r"\s*(?:</?[A-Za-z][\w-]*(?:\s[^<>]*)?>\s*)+")
_BEGIN: Final = re.compile(r"\s*(?:import |from |class |def |@\w|#|\"\"\"|'''|[A-Z][A-Z0-9_]* *[:=])")
_TRIPLE: Final = re.compile(r'"""|\'\'\'')
MOST_BEGINS: Final = 12     # lines at which a program without a fence is looked for
MOST_ENDS: Final = 12       # fences at which a block may end
MOST_BLOCKS: Final = 40
MOST_CHARS: Final = 400_000     # of a reply that is looked through: a program has far fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its language word in lower case ("" where there is none) and its text."""

    language: str
    text: str
    closed: bool

    @property
    def is_python(self) -> bool:
        """Whether it says so: `python`, a version, the name of a file, and the like."""
        return _PYTHON.fullmatch(self.language) is not None


def split(text: str) -> tuple[list[Block], list[str]]:
    """The fenced blocks of a Markdown text (CommonMark's rule for fences) and the lines outside of them."""
    blocks: list[Block] = []
    prose: list[str] = []
    inside: list[str] | None = None
    indent, fence, language = 0, "", ""
    for line in lines_of(text):
        if inside is None:
            opening = _FENCE.fullmatch(line)
            if opening:
                indent, fence, language = len(opening[1]), opening[2], _language(opening[3])
                inside = []
            else:
                prose.append(line)
        elif _closes(line, fence):
            blocks.append(Block(language=language, text=_joined_lines(inside), closed=True))
            inside = None
        elif indent:
            lead = len(line) - len(line.lstrip(" "))
            inside.append(line[min(indent, lead) :])
        else:
            inside.append(line)
    if inside is not None:
        blocks.append(Block(language=language, text=_joined_lines(inside), closed=False))
    return blocks, prose


def likely_blocks(text: str) -> list[Block]:
    """The closed blocks that a person would find, each of which parses as Python; a reply without a fence is one.

    What a model thought aloud before its answer is none. A block of Markdown stands for the blocks in it.
    """
    if len(text) > MOST_CHARS:
        return []
    lines = lines_of(_THOUGHT.sub("", text, count=1))
    found: list[Block] = []
    row = fences = 0
    while row < len(lines) and fences < MOST_BLOCKS:
        opening = _ANY_FENCE.fullmatch(lines[row])
        if opening is None or (opening[2] == "'''" and not _PYTHON.fullmatch(_language(opening[3]))):
            row += 1
            continue
        fences += 1
        block, row = _block_from(lines, row, opening)
        if block is not None:
            found.append(block)
    if fences:
        return found
    whole = _without_fence(lines)
    return [Block(language="python", text=whole, closed=True)] if whole else []


def lines_of(text: str) -> list[str]:
    """The lines of a reply, whatever ends them."""
    return text.replace("\r\n", "\n").split("\n")


def _block_from(lines: Sequence[str], row: int, opening: re.Match[str]) -> tuple[Block | None, int]:
    """The block that begins at a row, None if it holds no Python, and the row after it."""
    prefix, fence, word, rest = opening.groups()
    language, body = _language(word), []
    quotes, indent = prefix.count(">"), len(prefix.rpartition(">")[2])
    if _CODE_FIRST.match(rest.lstrip()):
        body.append(rest.lstrip())
    ends, last, open_text = 0, row + 1, False
    for place in range(row + 1, len(lines)):
        line = _unquoted(lines[place], quotes)
        bare = line.strip()
        is_end = len(bare) >= len(fence) and set(bare) == {fence[0]}
        if is_end or (bare.endswith(fence) and not bare.startswith(fence)):
            ends, last = ends + 1, last if ends else place + 1
            text = _python_text([*body, *([] if is_end else [line.rstrip()[: -len(fence)]])], indent)
            if text is not None:
                return Block(language=language, text=text, closed=True), place + 1
            inner = likely_blocks(_joined_lines(body)) if language in ("markdown", "md") else ()
            if len(inner) == 1:
                return inner[0], place + 1
            open_text = len(_TRIPLE.findall("\n".join(body))) % 2 == 1
            if ends >= MOST_ENDS or not (open_text or language in ("markdown", "md")):
                break
        body.append(line)
    return None, last


def _python_text(body: Sequence[str], indent: int) -> str | None:
    """The lines as a program: as they stand, without the indentation of the fence, or without all that they share."""
    cut = [line[min(indent, len(line) - len(line.lstrip(" \t"))) :] for line in body]
    plain = [line.replace("\u00a0", " ").replace("\u200b", "").replace("\ufeff", "") for line in body]
    added = [line[1:] for line in body] if body and all(line[:1] == "+" for line in body if line.strip()) else cut
    for lines in (cut, body, plain, dedent("\n".join(plain)).split("\n"), added):
        text = _program_text(lines)
        if _parses(text):
            return text
    return None


def _without_fence(lines: Sequence[str]) -> str:
    """The program that a reply without a fence ends with; "" for none. Lines of tags alone are no part of it."""
    kept = [line for line in lines if not _TAG.fullmatch(line)]
    begins = [row for row, line in enumerate(kept) if _BEGIN.match(line)]
    for row in begins[:MOST_BEGINS]:
        text = dedent(_program_text(kept[row:]))
        if _parses(text):
            return text
        if kept[row].lstrip().startswith(("class ", "def ")):
            break       # code of which the rest would be a part
    return ""


def _parses(text: str) -> bool:
    try:
        return bool(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _unquoted(line: str, quotes: int) -> str:
    for _ in range(quotes):
        bare = line.lstrip(" ")
        if not bare.startswith(">"):
            break
        line = bare[1:].removeprefix(" ")
    return line


def _language(word: str) -> str:
    return word.strip("{}.").lower()


def _closes(line: str, fence: str) -> bool:
    if fence not in line:  # so for nearly every line
        return False
    bare = line.strip(" \t")
    return len(bare) >= len(fence) and set(bare) == {fence[0]} and len(line) - len(line.lstrip(" ")) <= 3


def _joined_lines(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n" if lines else ""


def _program_text(lines: Sequence[str]) -> str:
    return "\n".join(lines).strip("\n") + "\n"
