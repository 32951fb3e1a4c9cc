"""The preset `paper` is the paper's setting, and each table and figure of the paper has a command that works."""

import re
import shlex
from pathlib import Path

import pytest
from memento.evidence.published_setting import FREE, PAPER, SHARED_FILES, TASKS, settings_that_differ
from memento.settings import build_settings
from typer.testing import CliRunner

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproducing-the-paper.md"
COMMANDS = re.findall(r"^\| [^|]+ \| `memento ([^`]+)` \|", PAGE.read_text(), re.MULTILINE)


def of_preset(domain: str, **given: object) -> dict[str, object]:
    return build_settings({"domain": domain, "preset": "paper", **given}, environment={}).as_json()


@pytest.mark.parametrize("domain", TASKS)
def test_the_preset_is_the_papers_setting_field_by_field(domain: str) -> None:
    found = of_preset(domain)
    compared = {*PAPER} - FREE - {*SHARED_FILES}
    assert {key: found[key] for key in compared} == {key: PAPER[key] for key in compared}
    assert found["prompts"] is None         # the shipped ones, which the settings above fill
    builds = {"backend", "scenes"}     # a Unity build, which the user names
    assert {key: found["options"][key] for key in TASKS[domain] if key not in builds} == {
        key: value for key, value in TASKS[domain].items() if key not in builds
    }


def test_a_run_says_what_differs() -> None:
    assert settings_that_differ(of_preset("hanoi")) == ()
    assert settings_that_differ(of_preset("hanoi", feedback="stories", repairs=1)) == (
        "feedback = stories", "repairs = 1",
    )


def test_how_long_a_model_is_waited_for_is_no_setting_of_the_paper() -> None:
    asked = {"judge": {"temperature": 0.3}, "all": {"read_s": 60.0, "attempts": 2}}
    assert settings_that_differ({**of_preset("hanoi"), "sampling": asked}) == ("sampling = {'judge.temperature': 0.3}",)


def test_the_page_has_a_command_for_each_table_and_figure() -> None:
    named = {command.split()[1] for command in COMMANDS}
    assert named >= {
        "main", "generalisation", "sac-her", "zero-shot", "evaluator", "operators", "search-scenes", "paper", "hanoi",
    }


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_works_as_written(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as its estimate, with generated kitchens where no Unity build is at hand."""
    from memento.cli.commands import commands

    monkeypatch.chdir(tmp_path)
    words = shlex.split(command.replace("kitchen.backend=unity", "kitchen.backend=generated"))
    done = CliRunner().invoke(commands, [*words, "--model", "openai:gpt-5.2", "--estimate"])
    assert done.exit_code == 0, done.output
    assert "nothing was spent" in done.output
    assert ("not beside the paper's values" in done.output) == ("kitchen" in command)
    assert ("rollouts" in done.output) == ("--domain kitchen" not in command and "search-scenes" not in command)

