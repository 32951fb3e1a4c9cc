"""A budget of episodes with confirmations in the real program: exact, on any number of workers, also when resumed."""

import pytest
from memento.core.events import EliteChanged, EliteConfirmed, EpisodeEnded
from memento.core.order_ids import FINAL, parse

from ..support.program import timeless
from .conftest import Runs

ARGUMENTS = [
    "run", "hanoi-kinematic", "--preset", "smoke", "--seed", "3", "--evaluator", "reference", "--set", "n_roll=2",
    "--set", "generations=9", "--set", "k_hc=2", "--budget-episodes", "15", "--set", "confirm_episodes=1",
    "--set", "hanoi-kinematic.horizon=200",
]
pytestmark = [pytest.mark.timeout(300), pytest.mark.slow]


def test_the_budget_holds_and_a_resumed_run_ends_as_on_any_number_of_workers(runs: Runs) -> None:
    whole = runs.call(*ARGUMENTS, "--name", "whole", "--workers", "2")
    assert (whole["status"], whole["budget_episodes"]) == ("done", 15)
    assert 15 - 4 < whole["search_episodes"] <= 15, "no room for a candidate and its confirmation is left"
    runs.call(*ARGUMENTS, "--name", "left", "--workers", "1", "--budget-calls", "4")
    resumed = runs.call("resume", "left", "--budget-calls", "100")
    assert timeless(resumed) == timeless(whole)
    facts = {name: runs.facts(name) for name in ("whole", "left")}
    for kind in (EliteChanged, EliteConfirmed):
        both = [[fact for fact in facts[name] if isinstance(fact, kind)] for name in ("whole", "left")]
        assert both[0] == both[1] != []
    counted = [
        fact for fact in facts["left"] if isinstance(fact, EpisodeEnded) and parse(fact.order or "").stage != FINAL
    ]
    assert len(counted) == whole["search_episodes"]
    shown, _ = runs.start("show", "left").communicate(timeout=150)
    assert f"{len(counted)} of the 15 that the search may run" in shown
    won = whole["confirmations"] - whole["refuted"]
    assert f"{won} of {whole['confirmations']} challenger" in shown
