"""`memento resume` of a run that is done."""

import json

import pytest

from ..support.program import Call
from .conftest import Finished

pytestmark = pytest.mark.quick


def test_resuming_a_finished_run_gives_its_result_again(finished: Finished, memento: Call) -> None:
    again = memento("resume", "one", "--runs", finished.runs, "--json")
    assert again.returncode == 0, again.stderr
    first, second = json.loads(finished.done.stdout), json.loads(again.stdout)
    assert {**second, "wall_s": 0} == {**first, "run": str(finished.runs / "one"), "wall_s": 0}
