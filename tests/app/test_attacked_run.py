"""Real runs whose evaluators are attacked by bred programs and by a model, and revised."""

import re
from pathlib import Path

import pytest
from memento.app.exploits import read_exploits
from memento.cli import exit_code
from memento.core.events import EvaluatorAttacked, EvaluatorChosen, EvaluatorHardened, Fact, RunStarted
from memento.core.programs.program_text import digest
from memento.core.recording_file import trajectory_path

from ..support.exploits import of_hanoi
from ..support.language_server import DOMAIN, policy, program_reply, serving, sound_reply
from ..support.services import Act
from .conftest import Runs
from .served import SHORT, call

ATTACKED = ["--set", "evaluator_tests=on", "--set", "evaluator_attacks=2", "--set", "evaluator_judges=1"]


def of(facts: list[Fact], *kinds: type) -> list:
    return sorted((fact for fact in facts if isinstance(fact, kinds)), key=lambda fact: (fact.order or "", repr(fact)))


def lenient() -> str:
    """The reference evaluator, but for a gift of 0.9 to everybody."""
    reference = DOMAIN.reference_evaluator()
    assert reference is not None
    text, count = re.subn(r"^class Evaluator\b", "class Strict", reference.text, flags=re.MULTILINE)
    assert count == 1
    return (
        f"{text}\n\nclass Evaluator:\n    def evaluate(self, trajectory):\n"
        "        fitness, metrics = Strict().evaluate(trajectory)\n        return 0.9 + fitness / 10, metrics\n"
    )


def answering(number: int, prompt: str) -> Act:
    """The first evaluators give everybody 0.9; a revision that knows exploits is the reference."""
    if "You test evaluators" in prompt:
        return Act(text=program_reply(policy(number), "waits"))
    if "class `Evaluator`" in prompt and '"choice"' not in prompt and "Programs that exploit the parent" not in prompt:
        return Act(text=program_reply(f"{lenient()}\n\nNUMBER = {number}\n", "lenient"))
    return Act(text=sound_reply(number, prompt))


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_lenient_evaluator_is_found_out_and_revised(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    async with serving(answering) as service:
        await call(runs, "run", "hanoi-kinematic", *SHORT, "--name", "one", *ATTACKED, "--model", service.model,
                   within_s=300)
    facts = runs.facts("one")
    [result] = of(facts, EvaluatorHardened)
    assert result.before.found > 0 and result.before.best >= 0.9
    assert result.after.found == 0 and result.revised == 1 and result.open == 0
    frozen = [fact for fact in facts if isinstance(fact, EvaluatorChosen) and fact.final]
    assert [fact.chosen for fact in frozen] == [result.chosen] and "class Strict" not in result.chosen.program.text
    attacks = of(facts, EvaluatorAttacked)
    assert {"eval/attack/0/attack", "eval/g0/0/attack", "eval/attack/1/attack"} <= {fact.order for fact in attacks}
    exploits = [each for fact in attacks for each in fact.exploits]
    assert exploits and not any(each.probe.episode.success for each in exploits)
    folder = runs.folder / "one" / "trajectories"
    assert all(trajectory_path(folder, str(each.probe.episode.trajectory)).exists() for each in exploits)
    asked = [prompt for prompt in service.prompts if "You test evaluators" in prompt]
    assert len(asked) == 2 and all("class Evaluator" in prompt for prompt in asked)
    known = {each.program for each in exploits}
    for added in (True, False):
        assert exit_code(["audit", "one", "--runs", str(runs.folder), "--keep", str(runs.folder / "kept")]) == 0
        assert f"{len(known) if added else 0} exploit" in capsys.readouterr().err
    kept = read_exploits(str(runs.folder / "kept"), "hanoi-kinematic", DOMAIN)
    assert sorted(map(digest, kept)) == sorted(map(digest, known))
    assert all("# found: run one, eval/" in program.text for program in kept)
    assert exit_code(["show", "one", "--runs", str(runs.folder)]) == 0
    assert re.search(r"exploits \d+ % -> 0 % of the programs without success, in 2 attacks with 1 revision",
                     capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " "))


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_attacks_are_the_same_on_any_number_of_workers_and_in_a_replay(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "circles.py").write_text(of_hanoi()["circles"].text, encoding="utf-8")
    small = ["hanoi-kinematic", "--preset", "smoke", "--seed", "5", "--set", "hanoi-kinematic.horizon=20", *ATTACKED,
             "--set", f"exploits={kept}"]
    for name, workers in (("one", "1"), ("two", "2")):
        runs.call("run", *small, "--name", name, "--workers", workers)
    [started] = of(runs.facts("one"), RunStarted)
    assert started.exploits == (of_hanoi()["circles"],)
    (kept / "circles.py").unlink()
    runs.call("run", "--replay", str(tmp_path / "one"), "--name", "again", "--workers", "2")
    one, two, again = (
        [repr(each) for each in of(runs.facts(name), EvaluatorAttacked, EvaluatorHardened, EvaluatorChosen)]
        for name in ("one", "two", "again")
    )
    assert one == two == again and len(one) >= 4
