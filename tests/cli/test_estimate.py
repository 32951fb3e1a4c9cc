"""`memento run --estimate`, the real program: no key, no run, and the range holds what a run really asks."""

import json
from pathlib import Path

import pytest

from ..support.program import SMOKE
from .conftest import Finished

pytestmark = pytest.mark.slow


def test_it_spends_nothing_and_holds_the_calls_of_a_real_run(finished: Finished, memento, tmp_path: Path) -> None:
    done = memento(*SMOKE, "--estimate", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == []
    low, high = json.loads(done.stdout)["total"]["calls"]
    assert low <= json.loads(finished.done.stdout)["model_calls"] <= high


def test_it_needs_no_key_and_refuses_what_it_cannot_estimate(memento) -> None:
    done = memento("run", "kitchen", "--model", "anthropic:claude-sonnet-5", "--estimate")
    assert done.returncode == 0
    assert "nothing was spent" in done.stdout
    assert "total" in done.stdout
    refused = memento("run", "--replay", "one", "--estimate")
    assert refused.returncode == 2
    assert "--estimate cannot go together with --replay" in refused.stderr
