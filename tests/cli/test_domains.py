"""`memento domains` lists the domains and describes one."""

from pathlib import Path

import pytest
from memento.cli import exit_code

pytestmark = pytest.mark.quick

WITHOUT_OPTIONS = """
from memento.domains.hanoi_kinematic import DOMAIN as KINEMATIC


class Plain:
    name, title = "plain", "A task without options"
    contract, evaluator_contract = KINEMATIC.contract, KINEMATIC.evaluator_contract
    environment = reference_evaluator = shelf = None

    def options(self, given, *, preset):
        return {}

    def brief(self, options):
        return KINEMATIC.brief(KINEMATIC.options({}, preset="paper"))


DOMAIN = Plain()
"""


def test_all_domains_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["domains"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed[:4] == ["hanoi", "hanoi-kinematic", "kitchen", "gym:ID"]
    assert "robosuite:Lift" in listed and "robosuite:TwoArmHandover" in listed


def test_one_domain_is_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["domains", "hanoi"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("# Tower of Hanoi")
    assert "hanoi.goal_update" in printed.partition("## Options")[2]


def test_a_domain_is_described_under_other_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["domains", "gym:CartPole-v1", "--set", "gym.max_episode_steps=77"]) == 0
    assert "at most 77 steps" in capsys.readouterr().out
    assert exit_code(["domains", "--set", "gym.max_episode_steps=77"]) == 2
    assert "--set has no effect without a domain" in capsys.readouterr().err


def test_a_domain_without_options_is_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain_domain.py").write_text(WITHOUT_OPTIONS)
    monkeypatch.syspath_prepend(tmp_path)
    assert exit_code(["domains", "plain_domain:DOMAIN"]) == 0
    assert capsys.readouterr().out.endswith("## Options\n\nThis domain has no options.\n")


def test_a_warning_of_a_look_is_a_line_as_others_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["domains", "gym:memento.tests.support.measured_environments:MeasuredCover-v0"]) == 0
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("   warning: return against success: gym:memento.tests.support.")
    assert ":MeasuredCover-v0: Return and success contradict each other: " in line
