"""`memento methods` lists every method."""

import pytest
from memento.cli import exit_code
from memento.core.methods import METHODS


def test_all_methods_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["methods"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [*METHODS]
