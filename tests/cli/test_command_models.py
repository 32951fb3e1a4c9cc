"""`command:PROGRAM` in whole runs: proposer, evaluator-writer and judge, on tape, with consent, as its guide says."""

import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.errors import UsageError
from memento.core.events import ProposalMade, RunStarted, VoteCast
from memento.core.provenance import GIVEN, UNKNOWN
from memento.extensions.mcp.spending import Bounds, require_allowed
from memento.memory.store import RunStore
from memento.models.command_programs import digests_of
from memento.models.spec import parse_spec
from memento.settings import build_settings
from memento.settings.effects import contacts, paid_specs

from ..support.language_server import program_reply, sound_reply

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "programs-as-models.md"
SMALL = ("run", "hanoi-kinematic", "--preset", "smoke", "--display", "none", "--workers", "1",
         "--set", "hanoi-kinematic.horizon=10")


def test_it_runs_only_with_consent_where_its_name_was_recorded() -> None:
    effects = list(contacts(["offline,command:./a.sh -p", "command:./a.sh -p"]))
    assert effects == ["run the program './a.sh -p' with your rights"]
    GIVEN.require(effects)
    with pytest.raises(UsageError, match=r"would run the program './a\.sh -p' with your rights: add --trust"):
        UNKNOWN.require(effects)


def test_a_file_from_elsewhere_that_names_a_program_needs_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (there / "s.toml").write_text('model = "command:touch started"\n')
    monkeypatch.chdir(here)
    assert exit_code([*SMALL, "--config", str(there / "s.toml")]) == 2
    assert "run the program 'touch started' with your rights" in capsys.readouterr().err
    assert not (here / "started").exists() and not (here / "runs").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--budget-usd", "5"], "costs is not known, so a money budget cannot be kept"),
        (["--set", "sampling.temperature=1"], "'sampling' has no effect with a program as a model, except"),
        (["--set", "prices.command:sh={input=1,output=1}"], "since a program reports no tokens"),
        (["--critic", "command:sh"], "takes no images"),
    ],
)
def test_settings_without_effect_are_refused(
    arguments: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code([*SMALL, "--runs", str(tmp_path), "--model", "command:sh", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_its_deadline_can_be_set() -> None:
    flags = {"domain": "hanoi-kinematic", "preset": "smoke", "model": "command:sh"}
    chosen = build_settings(flags, assignments=["sampling.total_s=86400"], config=None, environment={})
    assert chosen.sampling["all"].total_s == 86400


@pytest.mark.slow
def test_a_program_writes_judges_and_is_repeated_from_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    vote = '{"reason": "It tells failures apart.", "choice": "A"}'
    for name, text in (
        ("judge", vote), ("evaluator-writer", sound_reply(1, "class `Evaluator`")), ("proposer", sound_reply(2, "")),
    ):
        Path(name).write_text(text)
    answer = Path("answer.sh")
    answer.write_text('#!/bin/sh\ngrep -q . && echo "$MEMENTO_ROLE $MEMENTO_ORDER" >> asked\ncat "$MEMENTO_ROLE"\n')
    answer.chmod(0o700)
    assert exit_code([*SMALL, "--model", "command:./answer.sh", "--name", "one"]) == 0
    roles = {line.split()[0] for line in Path("asked").read_text().splitlines()}
    assert roles == {"proposer", "evaluator-writer", "judge"}
    with RunStore.read(Path("runs/one")) as store:
        facts = list(store.facts(only=(ProposalMade, VoteCast)))
    assert {call.model for fact in facts for call in fact.calls} == {f"command:{answer.absolute()}"}
    answer.write_text("#!/bin/sh\necho another program\n")
    with RunStore.read(Path("runs/one")) as store:
        (began,) = store.facts(only=(RunStarted,))
    assert digests_of([f"command:{answer.absolute()}"]) != began.programs, "a resume asks"
    answer.unlink()
    asked = Path("asked").read_text()
    assert exit_code(["run", "--replay", "one", "--name", "two", "--display", "none"]) == 0
    assert Path("asked").read_text() == asked


def scripts() -> list[str]:
    """The two programs in the guide."""
    return re.findall(r"```sh\n(#!/bin/sh\n.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL)


def started(text: str, folder: Path, **environ: str) -> "subprocess.Popen[str]":
    file = folder / "program.sh"
    file.write_text(text)
    file.chmod(0o700)
    prompt = folder / "prompt.md"
    prompt.write_text("What is next?")
    given = {"MEMENTO_PROMPT_FILE": str(prompt), "MEMENTO_ORDER": "g1/hill/0", "MEMENTO_ATTEMPT": "1"}
    return subprocess.Popen(
        [str(file)], cwd=folder, env={**os.environ, **given, **environ}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True,
    )


@pytest.mark.slow
def test_the_scripts_of_the_guide_work(tmp_path: Path) -> None:
    agent, editor = scripts()
    stand_in = tmp_path / "bin" / "claude"
    stand_in.parent.mkdir()
    stand_in.write_text(f"#!/bin/sh\n[ \"$1\" = -p ] && ls -A && exec {shlex.quote(sys.executable)} -c "
                        "'import sys; print(sys.stdin.read().upper())'\n")
    stand_in.chmod(0o700)
    path = f"{stand_in.parent}:{os.environ['PATH']}"
    assert started(agent, tmp_path, PATH=path).communicate(timeout=60)[0] == "WHAT IS NEXT?\n", "in an empty folder"
    waiting = started(editor, tmp_path)
    question = tmp_path / "asked" / "g1-hill-0-1.md"
    deadline = time.monotonic() + 60
    while not question.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    (tmp_path / "draft").write_text(program_reply("x = 1", "by hand"))
    (tmp_path / "draft").rename(question.with_suffix(".answer"))
    out, _ = waiting.communicate(timeout=60)
    assert question.read_text() == "What is next?" and out == program_reply("x = 1", "by hand")


def test_a_coding_agent_may_not_name_a_program_without_leave() -> None:
    paid = paid_specs(["command:sh -c anything"])
    with pytest.raises(UsageError, match="this server may spend nothing"):
        require_allowed(paid, None)
    allowed = Bounds(models=(parse_spec("command:./agent.sh"),), most={"calls": 5.0})
    with pytest.raises(UsageError, match="may not ask the model 'command:sh -c anything'"):
        require_allowed(paid, allowed)
    assert require_allowed(paid_specs(["command:./agent.sh"]), allowed) is allowed
