"""`memento methods` and `memento settings` list everything that there is."""

import pytest
from memento.cli import exit_code
from memento.core.methods import METHODS
from memento.settings.model import Settings

pytestmark = pytest.mark.quick


def test_all_methods_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["methods"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*METHODS]


def test_all_settings_are_listed_once_in_their_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["settings"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.split()[0] for line in lines if line.startswith("  ")) == sorted(Settings.model_fields)
    assert all(line.endswith(")") for line in lines if line.startswith("  "))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("n_roll", ("default  paper 10, quick 3, smoke 1", "values   an integer from 1 to 1000000", "in every run")),
        ("confirm_episodes", ("default  paper 0, quick 9, smoke 0", "with the methods memento, ")),
        ("gate_episodes", ("default  6", "none without a gate", "group    gate")),
        ("evaluator_judges", ("with the evaluator evolve",)),
        ("method", ('default  "memento"', "a text")),
        ("critic", ("default  none",)),
        ("domain", ("none: it has to be given",)),
    ],
)
def test_a_setting_is_described(name: str, said: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["settings", name]) == 0
    text = capsys.readouterr().out
    assert all(words in text for words in said), text


def test_an_unknown_setting_is_refused_with_the_nearest_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["settings", "n_rol"]) == 2
    assert "did you mean 'n_roll'?" in capsys.readouterr().err
