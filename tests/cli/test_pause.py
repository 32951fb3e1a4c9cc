"""`memento pause`, `resume` and `stop` of a live run."""

import json

import pytest

from ..support.program import DEADLINE_S, LONG, Call, Start, until


@pytest.mark.slow
def test_a_live_run_pauses_continues_and_stops(memento_live: Start, memento: Call) -> None:
    live = memento_live(*LONG, "--json")
    until(lambda: memento("pause", "long").returncode == 0)
    until(lambda: memento("resume", "long").returncode == 0)
    busy = memento("resume", "long")
    assert busy.returncode == 2 or "asked long to continue" in busy.stderr   # the request may not be taken up yet
    assert memento("stop", "long").returncode == 0
    out, errors = live.communicate(timeout=DEADLINE_S)
    assert live.returncode == 0, errors
    assert json.loads(out.splitlines()[-1])["status"] == "stopped"
    assert "paused" in errors
    assert "continued" in errors
    idle = memento("stop", "long")
    assert idle.returncode == 2
    assert "not live" in idle.stderr
    assert "memento resume" in memento("show", "long").stdout
