"""Runs guides: extracts the commands that a Markdown document marks as runnable, and the output that it shows.

    <!-- runs -->                   the commands of the next `sh` block are run, in order
    <!-- shows -->                  the next block is the whole output of the command before it
    <!-- shows the beginning -->    the next block is the first lines of that output
    <!-- shows lines of it -->      each line of the next block is a line of the output, in any order
"""

import re
import shlex
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

SH_BLOCK = re.compile(r"(<!-- runs -->\n)?```sh\n(.*?)```", flags=re.DOTALL)
STEP = re.compile(r"<!-- (runs|shows[a-z ]*) -->\n```\w+\n(.*?)```", flags=re.DOTALL)
COMMAND = re.compile(r"^((?:[A-Z_]+=\S+ )*)(?:\./)?memento (.*)$")
KINDS = ("shows", "shows the beginning", "shows lines of it")

VARYING = (
    (re.compile(r"^isolation .*?(?=^\S)", flags=re.MULTILINE | re.DOTALL), "isolation\n"),    # layers of the machine
    (re.compile(r"^pace .*?(?=^\n)", flags=re.MULTILINE | re.DOTALL), "pace\n"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC"), "DATE"),
    (re.compile(r"\d+(?:\.\d+)? s\b"), "N s"),
    (re.compile(r"^ +(?:models answered|rollouts took) .*\n", flags=re.MULTILINE), ""),     # shares of the time
    (re.compile(r"\d+ at once"), "N at once"),              # one worker per processor
    (re.compile(r"\d+ run, \d+ saved"), "N run, N saved"),  # with racing these depend on the order of arrival
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One `memento` command of a document."""

    marked: bool
    environment: dict[str, str]
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A block of output: its kind of match, its text, and the position of the text in the document."""

    kind: str
    text: str
    start: int


def commands_of(text: str) -> list[Command]:
    """Every memento command in a document's sh blocks, in order."""
    return [command for marked, block in SH_BLOCK.findall(text) for command in _commands(block, marked=bool(marked))]


def steps_of(text: str) -> list[Command | Shown]:
    """The marked commands of a document and the output that it shows for them, in order."""
    steps: list[Command | Shown] = []
    for found in STEP.finditer(text):
        if found[1] == "runs":
            steps += _commands(found[2], marked=True)
        else:
            assert found[1] in KINDS, f"unknown mark {found[1]!r}; use one of {KINDS}"
            steps.append(Shown(kind=found[1], text=found[2], start=found.start(2)))
    return steps


def programs_of(text: str) -> list[tuple[str, str]]:
    """(file name, text) of the programs for the reader to save."""
    return re.findall(r"Save it as `(\w+\.py)`.*?```python\n(.*?)```", text, flags=re.DOTALL)


def shown_output(shown: Shown, output: str) -> str:
    """The expected text of the block for this output: the shown text if only varying parts differ."""
    before, now = shown.text.splitlines(), [line.rstrip() for line in output.splitlines()]
    if shown.kind == "shows the beginning":
        now = now[:len(before)]
    elif shown.kind == "shows lines of it":
        now = [_nearest(line, now) for line in before]
    text = "".join(f"{line}\n" for line in now)
    return shown.text if _masked(text) == _masked(shown.text) else text


def rewrite(path: Path, texts: list[tuple[Shown, str]]) -> None:
    """Replace shown texts by new ones."""
    document = path.read_text(encoding="utf-8")
    for shown, text in sorted(texts, key=lambda each: each[0].start, reverse=True):
        document = document[:shown.start] + text + document[shown.start + len(shown.text):]
    path.write_text(document, encoding="utf-8")


def _commands(block: str, *, marked: bool) -> list[Command]:
    found = []
    for line in block.splitlines():
        command = COMMAND.match(re.split(r"\s+#|\s+\|\s|\s+>", line)[0])
        assert command is not None or not marked, f"{line!r} is not a command that the test can run"
        if command is not None:
            environment = dict(each.split("=", 1) for each in command[1].split())
            found.append(Command(marked=marked, environment=environment, arguments=tuple(shlex.split(command[2]))))
    return found


def _masked(text: str) -> str:
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.splitlines())


def _nearest(line: str, lines: list[str]) -> str:
    """The line itself if it occurs, up to varying parts; else the most similar one."""
    same = (each for each in lines if _masked(each) == _masked(line))
    return next(same, None) or max(lines, key=lambda each: SequenceMatcher(a=line, b=each, autojunk=False).ratio())
