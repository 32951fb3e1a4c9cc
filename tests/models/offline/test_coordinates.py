"""Coordinate search finds better constants with few trials, and depends on nothing but what was tested."""

import json

from memento.core.metrics import aggregate
from memento.core.ports import Ask
from memento.core.values import CandidateState, Operator, Program, Score
from memento.models.offline import OfflineModel
from memento.models.offline.calibrating import next_point, next_values

from ...support.prompt_samples import propose

BOUNDS = {"LIFT": (0.0, 0.1), "STEPS": (5.0, 60.0), "SLOW": (0.0, 1.0)}


def result(text: str, progress: float) -> CandidateState:
    return CandidateState(
        id="g1/calibrate/0", program=Program(text), operator=Operator.CALIBRATE, generation=1, slot=0,
        metrics=aggregate([Score(fitness=0.0, metrics={"progress": progress})]),
    )


def test_it_climbs_to_the_optimum_of_a_bowl() -> None:
    def worth(point: tuple[float, ...]) -> tuple[float, float, float]:
        return 0.0, 0.0, -((point[0] - 0.8) ** 2) - (point[1] - 0.3) ** 2

    points = [(0.1, 0.9)]
    for _ in range(40):
        points.append(next_point(points[0], [worth(point) for point in points]))
    best = max(points, key=worth)
    assert abs(best[0] - 0.8) < 0.03 and abs(best[1] - 0.3) < 0.03
    assert len({*points}) == len(points)
    assert all(0.0 <= place <= 1.0 for point in points for place in point)


def test_values_have_the_kind_of_their_constant_and_stay_within_bounds() -> None:
    first = result("LIFT = 0.3\nSTEPS = 58\nSLOW = False\n", 0.0)       # LIFT begins out of its bounds
    sequence = [first]
    for _ in range(12):
        values = next_values(sequence, BOUNDS)
        assert 0.0 <= values["LIFT"] <= 0.1 and 5 <= values["STEPS"] <= 60
        assert type(values["STEPS"]) is int and type(values["SLOW"]) is bool
        text = f"LIFT = {values['LIFT']}\nSTEPS = {values['STEPS']}\nSLOW = {values['SLOW']}\n"
        sequence.append(result(text, 0.0))


async def test_the_offline_model_calibrates_without_a_shelf() -> None:
    model = OfflineModel(None, run_seed=1, bounds=BOUNDS)
    order = propose(Operator.CALIBRATE, result("LIFT = 0.02\nSTEPS = 25\nSLOW = True\n", 0.4))
    reply = await model.complete(Ask(order=order, attempt=0, role="proposer", prompt="not read", prefixes=()))
    assert json.loads(reply.text) == {"LIFT": 0.045, "STEPS": 25, "SLOW": True}
