"""`memento cell calibrate` with a scripted model over real sockets: what it tries, replay, and the report."""

from collections import Counter
from pathlib import Path

import pytest
from memento.core.events import CandidateScored, EpisodeEnded, Fact, ProposalMade, SearchEnded

from ..support.language_server import serving
from ..support.services import Act
from .conftest import Runs
from .served import call, finish, of, start

POLICY = '''"""Rises."""
LIFT = 0.2
SIDE = 0.0


class FrankaPolicy:
    def reset(self):
        pass

    def compute_action(self, obs):
        return [0.0, SIDE, LIFT, 0.0, 0.0, 0.0, -1.0]
'''
CELL = """
[segmenter]
kind = "truth"
[grounding]
container_frames = 1
[camera]
width = 160
height = 120
focal_px = 200.0
every_steps = 4
[calibration.bounds]
LIFT = [0.0, 0.5]
SIDE = [-0.5, 0.5]
"""
REPLIES = ('{"LIFT": 9}', '{"LIFT": 0.3}', 'Summary: aside\n{"SIDE": 0.1}')


@pytest.fixture
def asked(tmp_path: Path) -> list[str]:
    (tmp_path / "policy.py").write_text(POLICY, "utf-8")
    (tmp_path / "cell.toml").write_text(CELL, "utf-8")
    return [
        "cell", "calibrate", str(tmp_path / "policy.py"), "--cell", str(tmp_path / "cell.toml"), "--steps", "2",
        "--trials", "1", "--workers", "1", "--set", "cell.horizon=4", "--display", "none",
    ]


def scripted(number: int, prompt: str) -> Act:
    """The first answer is out of bounds; later ones follow from the prompt, so a repeated question gets the same."""
    if "## Once more" in prompt:
        return Act(text=REPLIES[1])
    return Act(text=REPLIES[0] if "LIFT = 0.2\n" in prompt else REPLIES[2])


def outcome(facts: list[Fact]) -> tuple:
    """What a run concluded, and how often each trial and each question was recorded."""
    trials = Counter(fact.order for fact in of(facts, EpisodeEnded))
    proposals = Counter(fact.order for fact in of(facts, ProposalMade))
    assert {*trials.values()} == {*proposals.values()} == {1}
    texts = [(fact.candidate.id, fact.candidate.program.text) for fact in of(facts, CandidateScored)]
    [ended] = of(facts, SearchEnded)
    return sorted(trials), sorted(proposals), texts, ended.elite


@pytest.mark.slow
async def test_a_calibration_is_carried_out_shown_and_repeated_without_the_model(
    runs: Runs, asked: list[str]
) -> None:
    async with serving(scripted) as service:
        result = await call(runs, *asked, "--model", service.model, "--name", "one")
        prompts = len(service.prompts)
    trials, proposals, texts, elite = outcome(runs.facts("one"))
    assert result["status"] == "done"
    assert trials == ["g1/calibrate/0/e0", "g2/calibrate/0/e0", "init/0/e0"]
    assert proposals == ["g1/calibrate/0", "g2/calibrate/0"]
    assert [text for _, text in texts] == [
        POLICY.replace("LIFT = 0.2", "LIFT = 0.3"),
        POLICY.replace("LIFT = 0.2", "LIFT = 0.3").replace("SIDE = 0.0", "SIDE = 0.1"),
    ]
    assert elite == "init/0"                    # without a gain the values stay
    again = await call(runs, "run", "--replay", "one", "--name", "two", "--display", "none")
    assert prompts == 3 and again["model_calls"] == 3
    assert outcome(runs.facts("two"))[2:] == outcome(runs.facts("one"))[2:]
    out, _ = await finish(await start(runs, "show", "one"))
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "* init/0 0.2 0.0 0/1 0.00 horizon" in lines and "g2/calibrate/0 0.3 0.1 0/1 0.00 horizon" in lines


@pytest.mark.slow
async def test_a_calibration_of_phases_shows_the_code_that_carries_them_out(
    runs: Runs, asked: list[str], tmp_path: Path
) -> None:
    text = POLICY.replace("[0.0, SIDE, LIFT, 0.0, 0.0, 0.0, -1.0]", "[4, SIDE, 0.0, 0.8 + LIFT, 0.0, 1.0, -1.0]")
    (tmp_path / "policy.py").write_text(text, "utf-8")
    async with serving(lambda number, prompt: Act(text='{"LIFT": 0.25}')) as service:
        more = ["--mode", "phases", "--steps", "1", "--model", service.model, "--name", "phases"]
        result = await call(runs, *asked, *more)
        [prompt] = service.prompts
    assert result["status"] == "done" and "class Phases:" in prompt and "[phase, x, y, z, yaw, speed, g]" in prompt
    [first, second] = of(runs.facts("phases"), EpisodeEnded)
    assert first.episode.fault is None and (first.episode.steps, second.episode.steps) == (4, 4)
