"""What the arguments of `start_run` may say of models and of the environment."""

from pathlib import Path
from typing import Any

import pytest
from memento.core.errors import UsageError
from memento.core.variables import passed_also
from memento.extensions.mcp.acting import Acting, Rules


@pytest.mark.parametrize("given", [
    {"model": "ask"}, {"evaluator_model": "ask"}, {"judges": ["offline,ask"]}, {"judges": ["ask,offline"]},
    {"settings": {"critic": "ask", "env": ["LD_PRELOAD", "DB_URL"]}},
], ids=str)
def test_a_model_that_waits_for_a_person_is_refused_and_leaves_nothing(given: dict[str, Any], tmp_path: Path) -> None:
    acting = Acting(tmp_path, Rules(bounds=None, trust=True))
    before = passed_also({})
    with pytest.raises(UsageError, match="'ask' waits for a person"):
        acting.start_run("hanoi-kinematic", preset="smoke", **given)
    assert passed_also({}) == before and not [*tmp_path.iterdir()]
