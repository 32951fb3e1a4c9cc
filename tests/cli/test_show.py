"""`memento show` of a finished run."""

import json

import pytest
from memento.domains import load as load_domain

from ..support.program import DEADLINE_S, Call, Start
from .conftest import Finished

pytestmark = pytest.mark.quick

POLICY_CLASS = f"class {load_domain('hanoi-kinematic').contract.class_name}"


def test_show_describes_the_run(finished: Finished, memento: Call) -> None:
    runs = finished.runs
    elite = json.loads(finished.done.stdout)["elite"]
    story = memento("show", "one", "--runs", runs)
    assert story.returncode == 0, story.stderr
    assert "hanoi-kinematic by memento" in story.stdout
    assert "\n  g1        0." in story.stdout
    one = memento("show", "one", elite, "--runs", runs, "--code")
    assert one.returncode == 0
    assert POLICY_CLASS in one.stdout
    assert memento("show", "--runs", runs).stdout.startswith("one  hanoi-kinematic by memento, offline; done")
    assert "against init/0" in memento("show", "one", "g1/macro/0", "--runs", runs).stdout
    assert "frozen as E*" in memento("show", "one", "eval/g0/0", "--runs", runs).stdout + memento(
        "show", "one", "eval/g0/1", "--runs", runs).stdout
    assert "votes for eval/g0/" in memento("show", "one", "eval/g0/judge/0", "--runs", runs).stdout
    wrong = memento("show", "one", "g1/makro/0", "--runs", runs)
    assert wrong.returncode == 2
    assert "g1/macro/0" in wrong.stderr


def test_a_closed_pipe_is_not_an_error(finished: Finished, memento_live: Start) -> None:
    live = memento_live("show", "one", "g1/macro/0", "--runs", finished.runs)
    assert live.stdout is not None
    live.stdout.close()
    live.stdout = None
    _, errors = live.communicate(timeout=DEADLINE_S)
    assert live.returncode in (0, 1)      # 1 where typer noticed it first
    assert errors == ""
