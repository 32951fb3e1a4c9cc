"""A calibration follows the last tested constants, and its result is the best of the tested sequence."""

import pytest
from memento.core.events import (
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    Propose,
    Roll,
    ScoreEpisode,
    SearchEnded,
)
from memento.core.faults import Fault, FaultKind
from memento.core.metrics import aggregate
from memento.core.programs.calibration import worth
from memento.core.values import CandidateState, Episode, Operator, Program, Score
from memento.search.calibration import Proposals
from memento.search.keepers import KEEPERS
from memento.search.options import PLAIN, Choices, GenerationBudget
from memento.search.rollout_plan import RolloutPlan

from ..support.keeper_world import CALL, play

STEPS = GenerationBudget(generations=4, hill_climb=0, macro=0, crossover=0)
PLAN = RolloutPlan(split="search", seeds=(1, 2), evaluator=Program("E_R"))
# Per step: successes of the two trials, and the progress of both.
TRIALS = {1: (0, 0.2), 2: (2, 1.0), 3: (0, 0.9), 4: (2, 1.0)}


def episode(index: int, *, success: bool) -> Episode:
    return Episode(index=index, seed=index, steps=9, ended_by="success" if success else "stopped", success=success)


INITIAL = CandidateState(
    id="init/0", program=Program("GAIN = 0.1\n"), operator=Operator.INITIAL, generation=0, slot=0,
    episodes=(episode(0, success=False),) * 2, scores=(Score(fitness=0.0, metrics={"progress": 0.1}),) * 2,
    metrics=aggregate([Score(fitness=0.0, metrics={"progress": 0.1})]), success_rate=0.0,
)


class Robot:
    """Answers each step by the table; a proposal of `failing` has no usable reply."""

    def __init__(self, failing: int = 0) -> None:
        self.asked: list[Propose] = []
        self._failing = failing

    def answer(self, order: Order) -> Fact:
        step = int(order.id.split("/")[0][1:])
        match order:
            case Propose():
                self.asked.append(order)
                if step == self._failing:
                    fault = Fault(kind=FaultKind.BAD_VALUES, message="out of bounds")
                    return ProposalFailed(order=order.id, fault=fault)
                return ProposalMade(order=order.id, program=Program(f"GAIN = 0.{step}5\n"), summary="", call=CALL)
            case Roll():
                return EpisodeEnded(
                    order=order.id, episode=episode(order.index, success=order.index < TRIALS[step][0])
                )
            case ScoreEpisode():
                return EpisodeScored(
                    order=order.id, score=Score(fitness=0.0, metrics={"progress": TRIALS[step][1]})
                )
        raise AssertionError(order)


def run(robot: Robot, *chosen: Proposals) -> list[Fact]:
    log, _ = play(KEEPERS["calibrate"](INITIAL, PLAN, STEPS, PLAIN, Choices(*chosen)), robot, lambda count: 0)
    return log


def test_each_step_starts_from_the_last_tested_constants_and_knows_the_earlier_ones() -> None:
    robot = Robot()
    run(robot)
    names = ["init/0", *(f"g{step}/calibrate/0" for step in range(1, 5))]
    assert [order.id for order in robot.asked] == names[1:]
    assert [[each.id for each in order.parents] for order in robot.asked] == [[name] for name in names[:4]]
    assert [[each.id for each in order.earlier] for order in robot.asked] == [names[:step] for step in range(4)]


@pytest.mark.parametrize(("latest", "last"), [(True, "g4/calibrate/0"), (False, "g2/calibrate/0")])
def test_the_result_is_the_latest_of_the_best_or_for_a_search_without_metrics_the_earliest(
    latest: bool, last: str
) -> None:
    log = run(Robot(), Proposals(read_metrics=latest))
    [ended] = [fact for fact in log if isinstance(fact, SearchEnded)]
    assert (ended.elite, ended.success_rate) == (last, 1.0)
    elites = [fact.candidate for fact in log if isinstance(fact, EliteChanged)]
    assert elites == ["init/0", "g1/calibrate/0", "g2/calibrate/0", "g2/calibrate/0", last]


def test_the_given_constants_stay_without_a_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.TRIALS", dict.fromkeys(TRIALS, (0, 0.1)))
    [ended] = [fact for fact in run(Robot()) if isinstance(fact, SearchEnded)]
    assert ended.elite == "init/0"


def test_a_step_without_a_usable_reply_is_spent_and_the_next_one_asks_from_the_same_constants() -> None:
    robot = Robot(failing=2)
    log = run(robot)
    assert [order.parents[0].id for order in robot.asked] == [
        "init/0", "g1/calibrate/0", "g1/calibrate/0", "g3/calibrate/0"
    ]
    assert [fact.elite for fact in log if isinstance(fact, SearchEnded)] == ["g4/calibrate/0"]


def test_success_counts_before_progress_and_a_failure_below_all() -> None:
    assert worth(INITIAL) == (0.0, 0.0, 0.1)
    broken = CandidateState(
        id="x", program=Program("("), operator=Operator.CALIBRATE, generation=1, slot=0,
        fault=Fault(kind=FaultKind.NOT_STARTED, message="no"),
    )
    assert worth(broken) < worth(INITIAL)
