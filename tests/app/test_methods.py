"""Every method as a whole run of the real program: any number of workers, interrupted in the middle and resumed."""

import pytest
from memento.core.events import ConstantsTried, EpisodeEnded, ProposalMade
from memento.search.branches.tune.slot import FIRST

from ..support.methods import OTHERS, SMALL, budget, verdicts
from ..support.nightly import first_and_nightly
from .conftest import Runs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.parametrize("method", first_and_nightly("memento", *OTHERS))
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
    assert any(isinstance(fact, ConstantsTried) for fact in runs.facts("left")) == (method == "memento")
    for kind in (EpisodeEnded, ProposalMade, ConstantsTried):
        orders = [fact.order for fact in runs.facts("left") if isinstance(fact, kind)]
        assert len(orders) == len(set(orders)), "no finished work is done again"


def test_tuning_alone_asks_one_program_and_keeps_no_recording_of_what_it_tried(runs: Runs) -> None:
    arguments = ["run", "hanoi-kinematic", "--method", "cma-es", *SMALL, "--set", "tune_episodes=60"]
    whole = runs.call(*arguments, "--name", "whole", "--workers", "2")
    assert (whole["status"], whole["candidates"]) == ("done", 1)
    assert sum(isinstance(fact, ProposalMade) for fact in runs.facts("whole")) == 1
    runs.call(*arguments, "--name", "one", "--workers", "1")
    assert verdicts(runs.facts("one")) == verdicts(runs.facts("whole"))
    tried = [fact for fact in runs.facts("one") if isinstance(fact, ConstantsTried)]
    assert sum(len(fact.fitnesses) for fact in tried) <= 60 and all(fact.steps for fact in tried)
    assert {len(fact.fitnesses) for fact in tried} >= {1, FIRST}, "the search, and finals on fresh episodes"
    assert not [*(runs.folder / "one" / "trajectories").glob("*_v*")]
