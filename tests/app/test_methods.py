"""Every method as a whole run of the real program: any number of workers, interrupted in the middle and resumed."""

import pytest
from memento.core.events import CandidateScored, EliteChanged, EpisodeEnded, Fact, PopulationChanged, ProposalMade
from memento.core.methods import METHODS

from .conftest import Runs

SMALL = [
    "--preset", "smoke", "--seed", "3", "--evaluator", "reference", "--set", "n_roll=2",
    "--set", "hanoi-kinematic.horizon=200",
]
BUDGETS = {
    "memento": ["--set", "generations=2", "--set", "k_hc=2", "--set", "k_macro=1", "--set", "k_cross=1"],
    "zero-shot": ["--set", "k=4"],
}
SAVING = ["--set", "memory_detail=summary", "--set", "speculation=true", "--set", "memory_scope=run"]
pytestmark = pytest.mark.timeout(300)


def budget(method: str) -> list[str]:
    climbs = SAVING if "speculation" in METHODS[method].settings else []
    return [*BUDGETS.get(method, ["--set", "generations=2", "--set", "k=4"]), *climbs]


def verdicts(facts: list[Fact]) -> list[object]:
    kinds = (EliteChanged, PopulationChanged)
    spent = sorted(fact.candidate.id for fact in facts if isinstance(fact, CandidateScored))
    return [*(fact for fact in facts if isinstance(fact, kinds)), *spent]


@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_method_left_in_the_middle_ends_as_on_any_number_of_workers(runs: Runs, method: str) -> None:
    arguments = ["run", "hanoi-kinematic", "--method", method, *SMALL, *budget(method)]
    whole = runs.call(*arguments, "--name", "whole", "--workers", "2")
    assert (whole["status"], whole["method"]) == ("done", method)
    assert whole["candidates"] == (4 if method == "zero-shot" else 8)
    left = runs.call(*arguments, "--name", "left", "--workers", "1", "--budget-calls", "4")
    assert left["status"] == "budget"
    resumed = runs.call("resume", "left", "--budget-calls", "100")
    assert resumed["status"] == "done"
    assert verdicts(runs.facts("left")) == verdicts(runs.facts("whole"))
    assert runs.elite("left") == runs.elite("whole")
    for kind in (EpisodeEnded, ProposalMade):
        orders = [fact.order for fact in runs.facts("left") if isinstance(fact, kind)]
        assert len(orders) == len(set(orders)), "no finished work is done again"
