"""The interface text on the arm's commands agrees with the configuration of robosuite's controller."""

import json
from importlib.util import find_spec
from pathlib import Path

from memento.domains.hanoi import MOTION


def test_the_commands_are_the_controllers() -> None:
    spec = find_spec("robosuite")       # located, not imported
    assert spec is not None and spec.origin is not None
    text = (Path(spec.origin).parent / "controllers/config/robots/default_panda.json").read_text()
    arm = json.loads(text)["body_parts"]["arms"]["right"]
    assert arm["type"] == "OSC_POSE"
    assert arm["output_max"] == [MOTION.move_per_unit_m] * 3 + [MOTION.turn_per_unit_rad] * 3
    assert arm["output_min"] == [-value for value in arm["output_max"]]
    assert (arm["input_max"], arm["input_min"], arm["input_type"]) == (1, -1, "delta")
    assert arm["input_ref_frame"] == "base", "the base frame has the orientation of the world frame"
