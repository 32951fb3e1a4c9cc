"""The guides run: every marked command succeeds and prints the output that the guide shows.

After an intended change of the output run `MEMENTO_GOLDEN=write pytest tests/project/test_guides.py`, and read the
difference.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from ..support.guide import Command, Shown, commands_of, programs_of, rewrite, shown_output, steps_of

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [
    path for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md")))
    if any(command.marked for command in commands_of(path.read_text(encoding="utf-8")))
]
SHOWING = [
    path for path in GUIDES
    if any(isinstance(step, Shown) for step in steps_of(path.read_text(encoding="utf-8")))
]
COLUMNS = "80"


@pytest.mark.slow
@pytest.mark.parametrize("path", GUIDES, ids=lambda path: path.name)
def test_the_marked_commands_run_and_print_what_is_shown(
    path: Path, memento: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    text = path.read_text(encoding="utf-8")
    for name, program in programs_of(text):
        (tmp_path / name).write_text(program)
    output, wrong = "", []
    for step in steps_of(text):
        if isinstance(step, Command):
            done = memento(*step.arguments, COLUMNS=COLUMNS, **step.environment)
            assert done.returncode == 0, (step.arguments, done.stderr)
            output = done.stdout + done.stderr
            assert output, step.arguments
        elif (expected := shown_output(step, output)) != step.text:
            wrong.append((step, expected))
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        rewrite(path, wrong)
    else:
        assert [shown.text for shown, _ in wrong] == [expected for _, expected in wrong]


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: path.name)
def test_numbers_that_a_guide_explains_are_in_the_output_that_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    shown = "".join(step.text for step in steps_of(text) if isinstance(step, Shown))
    assert {*re.findall(r"\b\d\.\d{3}\b", prose)} <= {*re.findall(r"\b\d\.\d{3}\b", shown)}


def test_no_two_guides_name_their_run_alike() -> None:
    """A reader who follows two guides in one folder would be refused in the second one."""
    named: dict[str, list[str]] = {}
    for path in (*ROOT.glob("*.md"), *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        words = [command.arguments for command in commands_of(text) if "--name" in command.arguments]
        found = [each[each.index("--name") + 1] for each in words]
        found += re.findall(r"memento\.run\([^)]*name=\"([^\"]+)\"", text)
        for name in {*found}:
            named.setdefault(name, []).append(path.name)
    assert {"first", "reading", "from-python", "compared"} <= {*named}
    assert {name: paths for name, paths in named.items() if len(paths) > 1} == {}


def test_the_table_of_a_runs_parts_names_the_parts_that_are_shown() -> None:
    text = (ROOT / "docs" / "reading-a-run.md").read_text(encoding="utf-8")
    [table] = re.findall(r"\| part \|.*?\n\n", text, flags=re.DOTALL)
    story = next(step.text for step in steps_of(text) if isinstance(step, Shown))
    shown = re.findall(r"^(\S+)  ", story, flags=re.MULTILINE)
    assert re.findall(r"^\| `([^`]+)`", table, flags=re.MULTILINE) == shown


def test_output_that_varies_with_the_machine_is_not_compared() -> None:
    shown = Shown(kind="shows", text="isolation   rlimits\ntime        3.2 s of work\nF 0.205\n", start=0)
    same = "isolation   rlimits, landlock,\n            seccomp\ntime        4.1 s of work\nF 0.205\n"
    assert shown_output(shown, same) == shown.text
    assert shown_output(shown, same.replace("0.205", "0.206")).endswith("F 0.206\n")


def test_parts_of_the_output_are_found_and_renewed(tmp_path: Path) -> None:
    output = "one\n  two  F 0.5\nthree\nfour\n"
    document = (
        "a\n<!-- shows the beginning -->\n```text\none\ntwo\n```\n"
        "b\n<!-- shows lines of it -->\n```text\nfoul\n```\n"
    )
    first, second = steps_of(document)
    assert isinstance(first, Shown)
    assert isinstance(second, Shown)
    texts = [(each, shown_output(each, output)) for each in (first, second)]
    assert [text for _, text in texts] == ["one\n  two  F 0.5\n", "four\n"]
    (tmp_path / "a.md").write_text(document)
    rewrite(tmp_path / "a.md", texts)
    renewed = document.replace("one\ntwo\n", "one\n  two  F 0.5\n").replace("foul", "four")
    assert (tmp_path / "a.md").read_text() == renewed
