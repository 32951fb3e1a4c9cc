"""A user's own prompts: checked before anything is spent, recorded in the run, and read from there ever after."""

import shutil
from pathlib import Path

import pytest
from memento.app.given_prompts import prompts_with, read_prompts
from memento.core.errors import UsageError
from memento.core.events import ProposalMade, RunStarted
from memento.core.values import Document, PromptText
from memento.runtime.prompts import SHIPPED

from .conftest import SMALL, Runs

MARK = "Prefer the shortest edit that works."


def own_prompts(folder: Path) -> Path:
    """A folder with a changed prompt for the climb."""
    folder.mkdir()
    text = (SHIPPED / "hill-climb.md").read_text(encoding="utf-8")
    (folder / "hill-climb.md").write_text(text.replace("{{reply}}", f"{MARK}\n\n{{{{reply}}}}"), encoding="utf-8")
    return folder


def test_a_folder_replaces_the_prompts_of_its_names(tmp_path: Path) -> None:
    assert read_prompts(None) == ()
    (own,) = read_prompts(str(own_prompts(tmp_path / "own")))
    assert own.name == "hill-climb"
    prompts = prompts_with([own])
    assert MARK in prompts["hill-climb"].body
    assert MARK not in prompts["macro-mutation"].body


HEADER = "---\npurpose: Mine.\nvariables:\n{}---\n"


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("hillclimb.md", "", "unknown prompt file 'hillclimb.md'.*hill-climb.md"),
        ("hill-climb.txt", "", "unknown prompt file 'hill-climb.txt'"),
        ("macro-foci.md", HEADER.format(""), r"macro-foci\.md lists no focus"),
        ("starting-point.md", "no header", r"starting-point\.md must begin with a header"),
        ("starting-point.md", HEADER.format("  x: mine\n") + "{{x}}", r"starting-point\.md uses {{x}}, .* unknown"),
        ("rejection-memory.md", HEADER.format("") + "None.", r"rejection-memory\.md has no place for {{rejections}}"),
        ("starting-point.md", "x" * 300_000, "cannot read the prompt file"),
    ],
)
def test_what_does_not_fit_is_one_sentence(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=complaint) as error:
        read_prompts(str(tmp_path))
    assert "\n" not in str(error.value)


def test_a_folder_that_is_none_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        read_prompts(str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="holds no prompt: copy one of"):
        read_prompts(str(tmp_path))
    (tmp_path / "hill-climb.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        read_prompts(str(tmp_path))


def test_recorded_prompts_of_another_version_that_do_not_fit_are_refused() -> None:
    old = PromptText(name="hill-climb", text=Document("---\npurpose: Old.\nvariables:\n---\nNothing.\n"))
    with pytest.raises(UsageError, match=r"your prompt hill-climb\.md has no place for"):
        prompts_with([old])


@pytest.mark.slow
def test_a_run_uses_its_recorded_prompts_without_their_folder(runs: Runs, tmp_path: Path) -> None:
    folder = own_prompts(tmp_path / "own")
    begin = ["--evaluator", "reference", "--prompts", str(folder), "--budget-calls", "2", "--set", "final_episodes=1"]
    assert runs.call("run", "hanoi-kinematic", *SMALL, *begin, "--name", "one")["status"] == "budget"
    shutil.rmtree(folder)
    assert runs.call("resume", "one", "--budget-calls", "1000")["status"] == "done"
    assert runs.call("run", "--replay", "one", "--name", "two")["status"] == "done"
    for name in ("one", "two"):
        facts = runs.facts(name)
        (started,) = (fact for fact in facts if isinstance(fact, RunStarted))
        assert [prompt.name for prompt in started.prompts] == ["hill-climb"]
        climbs = [fact.call.prompt.text for fact in facts if isinstance(fact, ProposalMade) and "hill" in fact.order]
        assert len(climbs) == 2
        assert all(MARK in prompt for prompt in climbs)
