"""The settings of a baseline: the paper's by default, and what is refused in one sentence."""

import json

import pytest
from memento.core.errors import UsageError
from memento.extensions.rl.settings import (
    BaselineArguments,
    Hyperparameters,
    build,
    settings_of,
)

pytestmark = pytest.mark.quick


def given(**changed: object) -> BaselineArguments:
    return BaselineArguments(**{"domain": "hanoi", "steps": 1000, "seed": 3, "salt": "none", "flags": {}, **changed})


def test_the_papers_values_are_the_defaults_and_training_is_fast_while_the_measure_is_exact() -> None:
    settings = build(given(flags={"variant": "cylinder", "randomisation": "none"}))
    assert settings.hyper == Hyperparameters(
        batch=512, buffer=2_000_000, gamma=0.995, tau=0.005, learning_rate=1e-4, goals=8
    )
    assert (settings.training["physics"], settings.options["physics"]) == ("fast", "exact")
    assert settings.training["horizon"] == settings.options["horizon"] == 12_000
    assert settings.task == "hanoi, variant cylinder, randomisation none"
    assert build(given(assignments=["hanoi.n_cubes=1"])).task == "hanoi, n_cubes 1, variant cube, randomisation table"
    assert settings_of(json.loads(json.dumps(settings.as_json()))) == settings


@pytest.mark.parametrize(("steps", "every"), [(50_000_000, 1_000_000), (300_000, 30_000), (7, 1)])
def test_evaluations_have_the_papers_interval_or_are_ten_in_all(steps: int, every: int) -> None:
    assert build(given(steps=steps)).evaluate_every == every
    assert build(given(steps=steps, evaluate_every=0)).evaluate_every == 0
    recorded = build(given(steps=steps)).as_json()
    del recorded["evaluate_every"]
    assert settings_of(recorded).evaluate_every == 0, "a run that began before there were evaluations goes on without"


def test_options_reach_the_training_alone_or_both_and_hyperparameters_the_learner() -> None:
    settings = build(given(assignments=[
        "train.horizon=500", "hanoi.physics=near-exact", "sac.batch=64", "sac.hidden=[8,8,8]", "sac.gamma=0.9",
    ]))
    assert (settings.training["horizon"], settings.options["horizon"]) == (500, 12_000)
    assert settings.training["physics"] == settings.options["physics"] == "near-exact"
    assert (settings.hyper.batch, settings.hyper.hidden, settings.hyper.gamma) == (64, (8, 8, 8), 0.9)


@pytest.mark.parametrize(("changed", "words"), [
    ({"steps": 0}, "--steps must be from 1"),
    ({"environments": 1000}, "--environments must be from 1 to 256"),
    ({"evaluate_every": -1}, "--evaluate-every must be from 0"),
    ({"salt": "guess"}, "--salt cannot be"),
    ({"reward": "denser"}, "did you mean 'dense'"),
    ({"domain": "kitchen"}, "kitchen has no goals for hindsight"),
    ({"assignments": ["sac.bach=1"]}, "did you mean 'batch'"),
    ({"assignments": ["sac.batch=1", "sac.batch=2"]}, "gives sac.batch twice"),
    ({"assignments": ["sac.batch=0"]}, "whole number from 1"),
    ({"assignments": ["sac.gamma=1.5"]}, "above 0 and at most 1"),
    ({"assignments": ["sac.hidden=[]"]}, "such as [256,256]"),
    ({"assignments": ["train.speed=3"]}, "speed"),
    ({"assignments": ["train.n_cubes=1"]}, "another observation or action than the measure has"),
    ({"environments": 8, "assignments": ["sac.buffer=96000"]}, "set sac.buffer to more than 96,007"),
])
def test_what_cannot_be_trained_is_refused(changed: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        build(given(**changed))
    assert words in str(refused.value)
