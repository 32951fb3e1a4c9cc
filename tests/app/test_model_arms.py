"""A comparison whose arms are two models of one server, with the real program over a real socket."""

import json
from pathlib import Path

import pytest
from memento.core.events import EvaluatorChosen, InitialChosen, RunStarted

from ..support.language_server import serving
from .conftest import Runs
from .served import finish, of, start

PLAN = """
seeds = "1"
preset = "smoke"
evaluator = "evolve"

[set]
k_hc = 1
generations = 1

[[tasks]]
name = "short"
domain = "hanoi-kinematic"
options = {{ horizon = 20 }}

[[arms]]
name = "large"
method = "memento"
model = "{large}"

[[arms]]
name = "small"
method = "memento"
model = "{small}"
"""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_two_models_start_from_one_p_0_under_one_evaluator(runs: Runs, tmp_path: Path) -> None:
    file = tmp_path / "models.toml"
    async with serving() as service:
        small = service.model.replace("toy-1", "toy-2")
        file.write_text(PLAN.format(large=service.model, small=small))
        out, _ = await finish(
            await start(runs, "compare", str(file), "--no-measure", "--display", "none", "--jobs", "1", "--json",
                        "--trust"),
            within_s=400,
        )
    done = json.loads(out.splitlines()[-1])
    assert (done["status"], done["done"]) == ("done", 2)
    assert [(row["arm"], row["model"]) for row in done["table"]] == [("large", service.model), ("small", small)]
    facts = {name: runs.facts(f"models/runs/short--{name}--s1") for name in ("large", "small")}
    settled = {
        name: (of(found, InitialChosen)[0].program, of(found, EvaluatorChosen)[-1].chosen.program)
        for name, found in facts.items()
    }
    assert settled["large"] == settled["small"]
    assert [of(facts[name], RunStarted)[0].settings["model"] for name in facts] == [service.model, small]
