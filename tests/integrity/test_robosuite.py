"""Success in robosuite's tasks lasts: what only passes through the predicate, or is near the goal, is none."""

from collections.abc import Iterator
from math import sqrt

import mujoco
import numpy as np
import pytest
from memento.domains import load
from memento.domains.robosuite.environment import RobosuiteEnvironment

HALF = sqrt(0.5)
ON_ITS_EDGE, ON_ITS_SIDE = (HALF, HALF, 0.0, 0.0), (0.5, 0.5, 0.5, 0.5)
PEG = (0.23, 0.10)
Pose = tuple[tuple[float, float, float], tuple[float, ...], tuple[float, ...]]      # place, orientation, velocity
UP, STILL = (1.0, 0.0, 0.0, 0.0), (0.0,) * 6


def pose(x: float, y: float, z: float, turned: tuple[float, ...] = UP, moving: tuple[float, ...] = STILL) -> Pose:
    return (x, y, z), turned, moving


# The name of each cheat, and where the object is put; for Stack relative to the green cube, in x and y.
CHEATS: dict[str, dict[str, Pose]] = {
    "Stack": {
        "beside, it touches and falls": pose(0.036, 0.0, 0.865), "at the corner": pose(0.03, 0.03, 0.865),
        "thrown over it": pose(-0.06, 0.0, 0.88, moving=(1.2, 0.0, 0.0, 0.0, 0.0, 0.0)),
        "falls past it": pose(0.04, 0.0, 0.865),
    },
    "NutAssemblySquare": {
        "on its edge at the peg": pose(*PEG, 0.845, ON_ITS_EDGE),
        "on its edge beside the peg": pose(PEG[0] + 0.028, PEG[1] + 0.028, 0.845, ON_ITS_EDGE),
        "on its side beside the peg": pose(PEG[0] + 0.028, PEG[1] - 0.028, 0.86, ON_ITS_SIDE),
        "falls beside the peg": pose(PEG[0] + 0.028, PEG[1], 0.86, ON_ITS_EDGE),
    },
    "Lift": {
        "tossed": pose(0.2, 0.0, 0.83, moving=(0.0, 0.0, 1.6, 0.0, 0.0, 0.0)),
        "tossed aside": pose(0.2, 0.0, 0.83, moving=(0.5, 0.0, 1.4, 0.0, 5.0, 0.0)),
        "dropped": pose(0.2, 0.0, 0.90),
    },
    "PickPlaceCan": {
        "thrown out in x": pose(0.20, 0.40, 0.86, moving=(1.2, 0.0, 3.0, 0.0, 0.0, 0.0)),
        "thrown out in y": pose(0.20, 0.40, 0.86, moving=(0.0, 1.5, 3.0, 0.0, 0.0, 0.0)),
        "thrown out to the corner": pose(0.20, 0.40, 0.86, moving=(1.5, 1.5, 3.0, 0.0, 9.0, 0.0)),
    },
    "TwoArmLift": {
        "tossed": pose(0.28, 0.0, 1.0, moving=(0.0, 0.0, 0.8, 0.0, 0.0, 0.0)),
        "dropped": pose(0.28, 0.0, 1.03),
        "tossed aside": pose(0.2, 0.0, 1.0, moving=(0.6, 0.0, 0.6, 0.0, 0.0, 2.0)),
    },
}
HONEST = {
    "Stack": pose(0.0, 0.0, 0.87), "NutAssemblySquare": pose(*PEG, 0.9), "PickPlaceCan": pose(0.2, 0.4, 0.88),
}
JOINTS = {
    "Stack": "cubeA_joint0", "NutAssemblySquare": "SquareNut_joint0", "Lift": "cube_joint0",
    "PickPlaceCan": "Can_joint0", "TwoArmLift": "pot_joint0",
}
DOORS = {       # angle and speed of the hinge; the predicate of an instant is an angle above 0.3
    "swings back": (0.32, -30.0), "swings back slowly": (0.31, -25.0), "slams": (0.35, -40.0),
}


@pytest.fixture(scope="module", params=[*CHEATS])
def environment(request: pytest.FixtureRequest) -> Iterator[RobosuiteEnvironment]:
    options = load(f"robosuite:{request.param}").options({}, preset="paper")
    made = RobosuiteEnvironment(request.param, options)
    yield made
    made.close()


def watched(environment: RobosuiteEnvironment, wanted: Pose) -> tuple[bool, str | None]:
    """Whether upstream's predicate held at an instant of the 30 steps after the object was put there, and the end."""
    name = environment._name
    begin(environment)
    place, turned, moving = wanted
    model, data = environment.scene.mj_model, environment.scene.mj_data
    under = data.body("cubeB_main").xpos[:2] if name == "Stack" else (0.0, 0.0)
    joint = model.joint(JOINTS[name]).id
    first, speed = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    data.qpos[first : first + 7] = [place[0] + under[0], place[1] + under[1], place[2], *turned]
    data.qvel[speed : speed + 6] = moving
    return idle(environment)


def begin(environment: RobosuiteEnvironment) -> None:
    environment.reset(index=0, seed=1)
    for _ in range(8):
        assert environment.step(np.zeros(environment.action_size)) is None


def idle(environment: RobosuiteEnvironment) -> tuple[bool, str | None]:
    mujoco.mj_forward(environment.scene.mj_model, environment.scene.mj_data)
    held, ended = bool(environment.scene._check_success()), None
    for _ in range(30):
        ended = environment.step(np.zeros(environment.action_size))
        held = held or bool(environment.scene._check_success())
        if ended is not None:
            break
    return held, ended


@pytest.mark.slow
def test_what_only_passes_through_the_predicate_is_no_success(environment: RobosuiteEnvironment) -> None:
    for what, wanted in CHEATS[environment._name].items():
        assert watched(environment, wanted) == (True, None), what
    assert not any(environment.recording().states["success"])


@pytest.mark.slow
def test_what_is_placed_and_stays_is_a_success(environment: RobosuiteEnvironment) -> None:
    if environment._name in HONEST:
        assert watched(environment, HONEST[environment._name]) == (True, "success")


@pytest.mark.slow
def test_a_door_that_swings_through_the_angle_is_no_success() -> None:
    """And one that stays open is."""
    environment = RobosuiteEnvironment("Door", load("robosuite:Door").options({}, preset="paper"))
    for what, (angle, speed) in {**DOORS, "stays open": (0.36, 0.0)}.items():
        begin(environment)
        model, data = environment.scene.mj_model, environment.scene.mj_data
        hinge = model.joint("Door_hinge").id
        data.qpos[model.jnt_qposadr[hinge]], data.qvel[model.jnt_dofadr[hinge]] = angle, speed
        assert idle(environment) == (True, "success" if what == "stays open" else None), what
    environment.close()
