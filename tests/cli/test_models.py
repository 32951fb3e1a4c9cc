"""`memento models` lists the forms of a model's name."""

import pytest
from memento.cli import exit_code
from memento.models.providers import FORMS

pytestmark = pytest.mark.quick


def test_all_forms_are_listed_and_keys_are_never_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-of-mine")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert exit_code(["models"]) == 0
    printed = capsys.readouterr().out
    assert [line.split()[0] for line in printed.splitlines()] == [*FORMS.values()]
    assert "OPENAI_API_KEY, which is set" in printed
    assert "ANTHROPIC_API_KEY, which is not set" in printed
    assert "secret" not in printed
