"""The numbers of the arm that the briefs give are those of robosuite's model."""

import mujoco
import numpy as np
import pytest
from memento.domains.robosuite.domain import BASE_Z_M, JOINT_LIMITS_RAD, NEAREST_M, REACH_M
from memento.domains.robosuite.scenes import make_scene
from memento.domains.robosuite.tasks import TASKS

pytestmark = pytest.mark.slow

MASSES_KG = {"Lift": {"cube_main": 0.070}, "Stack": {"cubeA_main": 0.064, "cubeB_main": 0.125}, "PickPlace": {
    "Milk_main": 0.021, "Bread_main": 0.004, "Cereal_main": 0.068, "Can_main": 0.016,
}, "NutAssembly": {"SquareNut_main": 0.016, "RoundNut_main": 0.019}}


@pytest.mark.parametrize("name", ["Lift", "Stack", "PickPlace", "NutAssembly", "Door", "Wipe", "TwoArmLift",
                                  "TwoArmHandover", "TwoArmPegInHole"])
def test_bases_limits_and_masses(name: str) -> None:
    task = TASKS[name]
    scene = make_scene(name, task, horizon=10)
    scene.reset()
    model, data = scene.mj_model, scene.mj_data
    for arm, base in enumerate(task.bases):
        assert data.body(f"robot{arm}_link0").xpos == pytest.approx((*base, BASE_Z_M), abs=1e-3)
        limits = [tuple(model.joint(f"robot{arm}_joint{place}").range) for place in range(1, 8)]
        assert np.array(limits) == pytest.approx(np.array(JOINT_LIMITS_RAD), abs=1e-4)
    for body, mass in MASSES_KG.get(name, {}).items():
        assert float(model.body(body).mass[0]) == pytest.approx(mass, abs=6e-4)


def test_reach_turning_and_sizes() -> None:
    scene = make_scene("Lift", TASKS["Lift"], horizon=10)
    scene.reset()
    model, data = scene.mj_model, scene.mj_data
    site = model.site("gripper0_right_grip_site").id
    base = TASKS["Lift"].bases[0][0]
    found: dict[float, list[float]] = {z: [] for z in REACH_M}
    for second in np.arange(-1.76, 1.76, 0.02):
        for fourth in np.arange(-3.07, -0.07, 0.02):
            if JOINT_LIMITS_RAD[5][0] <= second - fourth <= JOINT_LIMITS_RAD[5][1]:
                data.qpos[:7] = [0.0, second, 0.0, fourth, 0.0, second - fourth, np.pi / 4]
                mujoco.mj_kinematics(model, data)
                x, _, height = data.site_xpos[site]
                for z in found:
                    if abs(height - z) < 0.01:
                        found[z].append(x - base)
    assert data.site_xmat[site].reshape(3, 3)[:, 2] == pytest.approx([0, 0, -1], abs=1e-3)
    for z, reach in REACH_M.items():
        assert max(found[z]) == pytest.approx(reach, abs=0.015) and min(found[z]) <= NEAREST_M + 0.005
    before = data.site_xmat[site].reshape(3, 3)[:, 0].copy()
    data.qpos[6] += 0.3
    mujoco.mj_kinematics(model, data)
    after = data.site_xmat[site].reshape(3, 3)[:, 0]
    turned = before[0] * after[1] - before[1] * after[0]
    assert turned == pytest.approx(-np.sin(0.3), abs=1e-3)      # clockwise
    assert model.geom("gripper0_right_finger1_pad_collision").size == pytest.approx([0.008, 0.004, 0.008])
    assert [model.joint(f"gripper0_right_finger_joint{k}").range.ptp() for k in (1, 2)] == pytest.approx([0.04, 0.04])
    assert model.actuator("gripper0_right_gripper_finger_joint1").forcerange == pytest.approx([-20, 20])
