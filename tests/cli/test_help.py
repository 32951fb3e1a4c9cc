"""The help of every command, word by word: a change of a registry or of a flag is seen here."""

import os
import re
import sys
from pathlib import Path

import pytest
from memento.cli import choices, exit_code, front
from memento.cli.commands import COMMANDS
from memento.core import extensions
from memento.settings.presets import DEFAULT_PRESET

GOLDEN = Path(__file__).parent / "golden" / "help"
CALLS = {
    "memento": [],
    **{name: [name] for function, _ in COMMANDS for name in [function.__name__.replace("_", "-")]},
    **{name: [name] for name in extensions.names(extensions.COMMANDS)},
    "kitchen": ["kitchen"],
    "kitchen-record": ["kitchen", "record"],
    "baseline": ["baseline"],
    "baseline-sac-her": ["baseline", "sac-her"],
}
LISTED = {
    ("run",): ["tasks", "methods", "presets", "evaluators"],
    ("evaluate",): ["tasks", "randomisations"],
    ("audit",): ["tasks", "randomisations"],
    ("render",): ["randomisations"],
    ("compare",): ["tasks", "methods", "presets", "evaluators", "experiments"],
    ("completion",): ["shells"],
}


@pytest.fixture(autouse=True)
def width_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


def help_of(arguments: list[str], flag: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert exit_code([*arguments, flag]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


@pytest.mark.parametrize("name", CALLS)
def test_help_is_as_kept(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """After an intended change run `MEMENTO_GOLDEN=write pytest tests/cli/test_help.py`, and read the difference."""
    text = help_of(CALLS[name], "--help", capsys)
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
        if name == "memento":
            front.HELP.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert help_of(CALLS[name], "-h", capsys) == text


def test_the_first_help_is_read_from_a_file_that_is_current(monkeypatch: pytest.MonkeyPatch) -> None:
    golden = (GOLDEN / "memento.txt").read_text(encoding="utf-8")
    assert front.page_for(["--help"]) == front.page_for(["-h"]) == golden
    assert front.page_for(["run", "--help"]) is None
    monkeypatch.setenv("COLUMNS", "60")
    assert front.page_for(["--help"]) is None, "Typer wraps it for a narrow terminal"


@pytest.mark.parametrize("on_terminal", [True, False])
def test_the_start_page_names_commands_that_exist(on_terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: on_terminal)
    assert front.page_for([]) == front.START
    assert {*re.findall(r"^  memento ([a-z]+)", front.START, flags=re.MULTILINE)} <= {*CALLS}
    assert all(len(line) <= 100 for line in front.START.splitlines())


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == {*CALLS}


@pytest.mark.parametrize("name", CALLS)
def test_types_are_words_and_all_choices_are_filled_in(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = help_of(CALLS[name], "--help", capsys).partition("Options:")[2]
    assert not {*"<{"} & {*text.replace("0<=x<=65535", "")}


@pytest.mark.parametrize("arguments", LISTED)
def test_help_lists_every_choice(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(help_of([*arguments], "--help", capsys).split()).replace("- ", "-")
    for registry in LISTED[arguments]:
        assert ", ".join(choices.BY_NAME[registry]()) in text


def test_the_default_preset_is_the_one_that_the_help_names(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(help_of(["run"], "--help", capsys).split())
    assert f"by default {DEFAULT_PRESET}." in text


@pytest.mark.parametrize("arguments", [[], ["kitchen"]])
def test_without_arguments_a_group_shows_its_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(arguments) == 0
    assert capsys.readouterr().out == help_of(arguments, "--help", capsys)
