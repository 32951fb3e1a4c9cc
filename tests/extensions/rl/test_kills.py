"""A training that is killed anywhere goes on from its newest complete checkpoint, as if it had stopped there."""

import random
import signal
from pathlib import Path

import numpy as np
import pytest
from memento.core.extras import missing_modules
from memento.extensions.rl import checkpoints
from memento.extensions.rl.log import EvaluationPoint, read_record

missing = missing_modules("rl")
if missing:
    pytest.skip(f"the extra rl is not installed: {', '.join(missing)} missing", allow_module_level=True)

from memento.extensions.rl import training  # noqa: E402 - it imports torch

from ...support.killed_training import begin, small, trained  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]
KILLED = -signal.SIGKILL


def networks_of(checkpoint: Path) -> dict:
    import torch

    return torch.load(checkpoint / checkpoints.NETWORKS, weights_only=True)[checkpoints._PARAMETERS]


def complete(folder: Path) -> int:
    """The steps of the newest checkpoint, which must be whole: its buffer and its optimisers are those of its steps."""
    found = checkpoints.latest(folder)
    if found is None:
        return 0
    steps = checkpoints.steps_of(found)
    with np.load(found / checkpoints.BUFFER, allow_pickle=False) as arrays:
        assert len(arrays["rewards"]) * 2 == steps
        assert np.isfinite(arrays["observations/observation"]).all()
    updates = {int(each["step"]) for each in networks_of(found)["critic.optimizer"]["state"].values()}
    assert len(updates) <= 1
    assert all(0 < count <= steps for count in updates)
    return steps


def test_a_training_survives_kills_at_random_steps_and_at_every_file_of_a_checkpoint(tmp_path: Path) -> None:
    folder, settings = tmp_path / "killed", small()
    begin(folder, settings)
    draw = random.Random(7)
    before = 0
    for place in [{"step": draw.randint(30, 90)}, *({"access": count} for count in range(1, 14)),
                  *({"step": draw.randint(10, 90)} for _ in range(3))]:
        assert trained(folder, settings, **place) == KILLED
        after = complete(folder)
        assert after >= before
        before = after
    assert 0 < before < settings.steps
    assert trained(folder, settings) == 0
    assert complete(folder) == settings.steps
    assert [path.name for path in folder.iterdir() if checkpoints.PREFIX in path.name] == ["checkpoint-1200"]
    record = read_record(folder)
    assert record.progress[-1].steps == settings.steps
    assert [each.steps for each in record.progress] == sorted(each.steps for each in record.progress)


def test_a_training_that_is_stopped_loses_no_step(tmp_path: Path) -> None:
    folder, settings = tmp_path / "stopped", small()
    begin(folder, settings)
    asked = iter(range(100))
    assert training.train(settings, folder, report=lambda progress: None, stopped=lambda: next(asked) == 40) is None
    assert complete(folder) == 80


EVERY = 130      # steps, 65 of both environments; five episodes of 20 steps then ask 100 times whether to stop


def test_evaluations_change_nothing_of_the_training(tmp_path: Path) -> None:
    kept = {}
    for every in (0, EVERY):
        folder, settings = tmp_path / f"every-{every}", small(steps=3 * EVERY, evaluate_every=every)
        begin(folder, settings)
        seen = []
        assert training.train(settings, folder, report=seen.append, stopped=lambda: False)
        points = read_record(folder).evaluations
        assert [each.steps for each in points] == ([EVERY, 2 * EVERY, 3 * EVERY] if every else [])
        assert [each for each in seen if isinstance(each, EvaluationPoint)] == [*points]
        assert all((each.episodes, each.mean_return, each.reached) == (5, -20.0, 0.0) for each in points)
        checkpoint = checkpoints.latest(folder)
        with np.load(checkpoint / checkpoints.BUFFER, allow_pickle=False) as arrays:
            kept[every] = str(networks_of(checkpoint)), {name: arrays[name].tobytes() for name in arrays.files}
    assert kept[0] == kept[EVERY]


def test_each_evaluation_is_kept_once_also_if_one_was_killed_or_stopped(tmp_path: Path) -> None:
    folder, settings = tmp_path / "killed", small(steps=3 * EVERY, evaluate_every=EVERY)
    begin(folder, settings)
    asked = iter(range(10_000))
    assert training.train(settings, folder, report=print, stopped=lambda: next(asked) == 100) is None
    assert (complete(folder), read_record(folder).evaluations) == (EVERY, ())
    assert trained(folder, settings, step=100 + 65 + 50) == KILLED
    assert [each.steps for each in read_record(folder).evaluations] == [EVERY]
    assert complete(folder) < 2 * EVERY
    assert trained(folder, settings) == 0
    assert [each.steps for each in read_record(folder).evaluations] == [EVERY, 2 * EVERY, 3 * EVERY]


def test_a_restored_training_does_the_same_updates_as_the_one_that_went_on(tmp_path: Path) -> None:
    settings = small(steps=400, checkpoint=400)
    begin(tmp_path / "first", settings)
    assert training.train(settings, tmp_path / "first", report=lambda progress: None, stopped=lambda: False)
    kept = checkpoints.latest(tmp_path / "first")
    found = []
    for _ in range(2):
        environments = training._environments(settings, 0)
        model = training._model(settings, environments)
        training._restored(model, kept)
        model._setup_learn(400, reset_num_timesteps=False)
        model.train(gradient_steps=20, batch_size=16)
        found.append(networks_of(checkpoints.save(tmp_path, model, {})))
        environments.close()
    one, other = found
    assert one.keys() == other.keys()
    for name in ("policy", "critic.optimizer", "actor.optimizer", "ent_coef_optimizer"):
        assert str(one[name]) == str(other[name])
