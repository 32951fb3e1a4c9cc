"""Printed commands can be pasted: they begin as this program was called."""

import re
from pathlib import Path

import pytest
from memento.cli.output import CALLED, as_called, print_json, print_note, print_text, say
from memento.settings import build_settings

GOLDEN = Path(__file__).parent / "golden"


def test_commands_begin_as_the_program_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "continue: memento resume runs/one; memento is a program, and python -m memento run is another call"
    for called, expected in ((None, text), ("./memento", text.replace("memento resume", "./memento resume"))):
        if called is not None:
            monkeypatch.setenv(CALLED, called)
        print_text(text)
        print_note(text)
        say("memento show one")
        print_json({"text": text})
        printed = capsys.readouterr()
        out, err = printed.out.splitlines(), printed.err.splitlines()
        assert out == [expected, f'{{"text": "{text}"}}'], "JSON is for programs"
        assert err == [expected, f"memento: {called or 'memento'} show one"]


def test_what_the_launcher_sets_is_no_setting() -> None:
    environment = {CALLED: "./memento", "MEMENTO_N_ROLL": "2"}
    flags = {"domain": "hanoi-kinematic", "preset": "smoke", "model": "offline"}
    assert build_settings(flags, assignments=[], config=None, environment=environment).n_roll == 2


def test_every_command_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CALLED, "./memento")
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", (GOLDEN / "help" / "memento.txt").read_text(), flags=re.MULTILINE)
    assert len(listed) > 20
    assert {name: as_called(f"memento {name}") for name in listed} == {name: f"./memento {name}" for name in listed}
