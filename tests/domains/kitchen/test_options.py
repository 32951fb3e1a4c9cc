"""Options are completed or refused with the nearest names, and briefs agree with them."""

from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.core.ports import RollTask
from memento.core.values import JSON, Program
from memento.domains.kitchen import DOMAIN
from memento.domains.kitchen.observation import ACTIONS, PREDICATES
from memento.domains.kitchen.options import RECORDINGS_VARIABLE, settings, solid_walls
from memento.runtime.rollouts.pool import ProcessPool

from .kitchens import RECORDINGS, environment, kitchen, needs_recordings


@pytest.mark.parametrize("preset", ["smoke", "quick", "paper"])
def test_every_preset_searches_in_the_same_kitchens(preset: str) -> None:
    options = DOMAIN.options({}, preset=preset)
    assert options["scenes"] == ["Kitchen1", "Kitchen2", "Kitchen3"]


def test_the_papers_horizon() -> None:
    assert DOMAIN.options({}, preset="paper")["horizon"] == 250


@pytest.mark.parametrize(("given", "names"), [
    (["Kitchen7"], ["Kitchen7"]),
    ("Kitchen7", ["Kitchen7"]),
    (["Kitchen4-6", "Kitchen9"], ["Kitchen4", "Kitchen5", "Kitchen6", "Kitchen9"]),
    (["held-out"], [f"Kitchen{number}" for number in range(4, 30)]),
])
def test_scenes_are_names_ranges_and_groups(given: JSON, names: list[str]) -> None:
    assert DOMAIN.options({"scenes": given}, preset="paper")["scenes"] == names


@pytest.mark.parametrize(("given", "words"), [
    ({"scene": ["Kitchen1"]}, "did you mean 'scenes'"),
    ({"backend": "recoded"}, "did you mean 'recorded'"),
    ({"horizon": 0}, "whole number"),
    ({"horizon": True}, "whole number"),
    ({"scenes": []}, "list of names"),
    ({"scenes": ["FloorPlan1"]}, "scenes are Kitchen1"),
    ({"scenes": ["Kitchen0"]}, "scenes are Kitchen1"),
    ({"scenes": ["Kitchen9-4"]}, "from low to high"),
    ({"scenes": 3}, "list of names"),
    ({"targets.reveal_unseen": "yes"}, "true or false"), ({"through_walls": "no"}, "true or false"),
    ({"targets": {"reveal": True}}, "targets.reveal"), ({"policy_seed": "zeros"}, "did you mean 'zero'"),
])
def test_what_cannot_be_is_refused(given: dict[str, JSON], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        DOMAIN.options(given, preset="paper")


@pytest.mark.slow
async def test_by_the_papers_rules_ids_are_hidden_and_every_policy_is_made_with_seed_0(tmp_path: Path) -> None:
    program = Program("""
class Policy:
    def __init__(self, seed=1):
        self.seed = seed

    def reset(self):
        pass

    def compute_action(self, obs):
        assert obs["targets"]["bread_visible"] or obs["targets"]["bread_object_id"] is None
        raise ValueError(f"my seed is {self.seed}")
""")
    given: dict[str, JSON] = {"scenes": ["first"], "horizon": 5}
    splits = {rules: DOMAIN.options({**given, "rules": rules}, preset="paper") for rules in ("strict", "paper")}
    async with ProcessPool(
        domain="memento.domains.kitchen:DOMAIN", splits=splits, workers=1, trajectories=tmp_path / "t"
    ) as pool:
        rolled = [
            await pool.roll(RollTask(order=f"{split}{seed}", program=program, split=split, index=0, seed=seed))
            for split in splits for seed in (5, 6)
        ]
    said = [each.fault.message for each in rolled if each.fault is not None]
    assert [each.endswith("my seed is 0") for each in said] == [False, False, True, True]
    assert len({*said}) == 3, "by default one is drawn for each episode"


def test_the_ablation_may_be_written_as_a_table() -> None:
    assert DOMAIN.options({"targets": {"reveal_unseen": True}}, preset="paper")["targets.reveal_unseen"] is True


def test_recorded_kitchens_need_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(RECORDINGS_VARIABLE, raising=False)
    with pytest.raises(UsageError, match=RECORDINGS_VARIABLE):
        DOMAIN.options({"backend": "recorded"}, preset="paper")
    with pytest.raises(UsageError, match="no recorded kitchens"):
        DOMAIN.options({"backend": "recorded", "recordings": str(tmp_path)}, preset="paper")


@needs_recordings
def test_recorded_kitchens_are_named_as_in_ai2thor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RECORDINGS_VARIABLE, str(RECORDINGS))
    options = DOMAIN.options({"backend": "recorded"}, preset="paper")
    assert options["scenes"] == ["FloorPlan1", "FloorPlan2", "FloorPlan3"]
    assert settings(options).recordings == RECORDINGS.resolve()
    with pytest.raises(UsageError, match="FloorPlan31"):
        DOMAIN.options({"backend": "recorded", "scenes": ["FloorPlan31"]}, preset="paper")
    env = DOMAIN.environment(options)
    env.reset(index=0, seed=0)
    assert env.recording().info["scene"] == "FloorPlan1"


def test_briefs_name_every_action_field_and_array() -> None:
    brief = DOMAIN.brief(DOMAIN.options({"horizon": 123}, preset="paper"))
    env = environment(kitchen())
    env.reset(index=0, seed=0)
    observed = env.observe()
    assert isinstance(observed, dict)
    for name in (*ACTIONS, *PREDICATES, *observed):
        assert f"`{name}`" in brief.policy_interface, name
    for name in env.recording().arrays():
        assert f"`{name}`" in brief.evaluator_interface, name
    for text in (brief.task, brief.policy_interface, brief.evaluator_interface):
        assert "123" in text and "250" not in text
    assert "null until" in brief.policy_interface
    revealed = DOMAIN.brief(DOMAIN.options({"targets.reveal_unseen": True}, preset="paper"))
    assert "revealed" in revealed.policy_interface


def test_walls_are_solid_but_by_the_papers_rules_and_in_older_runs() -> None:
    usual, paper = (DOMAIN.options({"rules": rules}, preset="paper") for rules in ("strict", "paper"))
    older = {key: value for key, value in usual.items() if key != "through_walls"}
    assert [solid_walls(each) for each in (usual, paper, older)] == [True, False, False]
    assert "from in front of it only" in DOMAIN.brief(usual).policy_interface
    assert "from in front of it only" not in DOMAIN.brief(older).policy_interface
