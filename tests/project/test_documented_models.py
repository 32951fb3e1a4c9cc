"""MEMENTO accepts every command and every file in the guides to language models."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from memento.app.budgets import require_usable
from memento.cli import exit_code, export_run, new_run
from memento.cli import resume as resume_command
from memento.models import checking
from memento.models.spec import parse_specs
from memento.settings import Settings, build_settings, parse_budgets, with_budgets

DOCS = Path(__file__).resolve().parents[2] / "docs"
GUIDE = "\n".join((DOCS / name).read_text() for name in ("models-and-budgets.md", "language-models.md"))
BLOCKS = re.findall(r"```sh\n(.*?)```", GUIDE, flags=re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]


def settings_of(given: new_run.RunArguments) -> Settings:
    return build_settings(given.flags, assignments=given.assignments, config=given.config, environment={})


@pytest.mark.parametrize("line", COMMANDS)
def test_the_command_is_taken(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    taken: list[str] = []

    def run(given: new_run.RunArguments, **keywords: Any) -> None:
        if keywords["replay"] is None:
            require_usable(settings_of(given))
        else:
            assert not any(value for value in given.flags.values())
        taken.append("run")

    def resume(name: str, **keywords: Any) -> None:
        settings = build_settings({"domain": "hanoi", "model": "openai:gpt-5.2"}, environment={})
        require_usable(with_budgets(settings, parse_budgets(keywords["budgets"], keywords["assignments"])))
        taken.append("resume")

    def tape(run: str, out: str | None, **keywords: Any) -> None:
        assert str(out).endswith(".tape.xz")
        taken.append("tape")

    async def check(text: str) -> list[Any]:
        taken.append(f"check of {len(parse_specs(text))}")
        return []

    monkeypatch.setattr(checking, "check", check)
    monkeypatch.setattr(new_run, "start", run)
    monkeypatch.setattr(export_run, "export_tape_of", tape)
    monkeypatch.setattr(resume_command, "continue_run", resume)
    program, *arguments = shlex.split(line, comments=False)
    assert program == "memento"
    assert exit_code(arguments) == 0, capsys.readouterr().err
    assert taken or arguments == ["models"]


def test_the_file_is_taken(tmp_path: Path) -> None:
    [text] = re.findall(r"```toml\n(.*?)```", GUIDE, flags=re.DOTALL)
    (tmp_path / "s.toml").write_text(text)
    settings = build_settings({"domain": "hanoi"}, config=tmp_path / "s.toml", environment={})
    require_usable(settings)
    assert settings.budget["judge"].calls == 200
    assert settings.sampling["all"].attempts == 4


def test_the_guide_names_every_setting_of_sampling_and_budgets() -> None:
    from memento.settings import Asking, RoleBudget

    for name in (*Asking.model_fields, *RoleBudget.model_fields):
        assert f"`{name}`" in GUIDE or f".{name}`" in GUIDE, name
