"""The benchmark of savings at a tiny budget: one recorded run, five replays with the same conclusions."""

from typing import Any

import pytest

from . import search as bench

pytestmark = pytest.mark.slow

TINY = {"generations": 2, "k_hc": 2, "k_macro": 2, "k_cross": 1, "n_roll": 1, "final_episodes": 1,
        "evaluator": "reference", "seed": 2, "memory_detail": "summary"}


def test_every_saving_is_measured_against_none() -> None:
    figures: dict[str, Any] = dict(bench.measure(rounds=1, latency_s=0.02, episode_s=0.01, budget=TINY))
    assert figures["same_conclusions"] is True
    searches = figures["searches"]
    assert list(searches) == ["none", "racing", "duplicates", "speculation", "all"]
    for found in searches.values():
        assert found["wall_s"] > 0
        assert found["episodes_run"] + found["episodes_saved"] == 11
    assert searches["none"]["saved"] == 0
    assert searches["none"]["episodes_saved"] == searches["speculation"]["episodes_saved"] == 0
    assert searches["speculation"]["asked_ahead"] == 2


def test_a_saving_that_changes_a_conclusion_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    count = iter(range(100))
    monkeypatch.setattr(bench, "conclusions", lambda facts: [str(next(count))])
    with pytest.raises(RuntimeError, match="reached other conclusions"):
        bench.measure(rounds=1, latency_s=0.0, episode_s=0.0, budget={**TINY, "generations": 1})
