"""Errors of the command line in this project's form, and the version."""

import pytest
from memento import __version__
from memento.cli import exit_code

pytestmark = pytest.mark.quick

ERRORS = {
    "rnu": "unknown command 'rnu': did you mean 'run'?",
    "kitchen recrd": "unknown command 'recrd': did you mean 'record'?",
    "run --workrs 1": "unknown option '--workrs': did you mean '--workers'?",
    "run --what": "unknown option '--what': memento run --help lists the options",
    "run --seed": "option '--seed' requires an argument",
    "run --seed one": "invalid value for '--seed': it should be a valid integer",
    "compare main --episodes 0": "invalid value for '--episodes': it should be greater than or equal to 1",
    "evaluate p.py": "missing option '--domain'",
    "show a b c": "got unexpected extra argument(s) (c)",
    "--": "missing command",
}


@pytest.mark.parametrize("line", ERRORS)
def test_an_error_is_one_sentence_without_a_full_stop(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(line.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"memento: {ERRORS[line]}\n"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["--version"]) == 0
    assert capsys.readouterr().out == f"memento {__version__}\n"
