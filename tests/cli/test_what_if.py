"""`memento what-if` with the real program: the recorded prompt, a kill, a repetition without a model, refusals."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from memento.app.recorded_state import candidates_in, state_before
from memento.app.what_if import prompt_of
from memento.cli import exit_code
from memento.cli.what_if import pairs_of
from memento.core.errors import UsageError
from memento.core.events import CandidateScored, ProposalMade
from memento.memory.runs import DATABASE, WHAT_IFS, is_run
from memento.memory.store import RunStore
from memento.settings import parse_assignments

from ..support.program import Call, Start, until
from .conftest import Finished


@pytest.fixture
def run(finished: Finished, tmp_path: Path) -> Path:
    """A finished run of this installation, for this test alone."""
    shutil.copytree(finished.runs, tmp_path / "runs", dirs_exist_ok=True)
    return tmp_path / "runs" / "one"


def printed(done: Any) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


async def test_the_state_before_an_order_gives_the_recorded_prompt(finished: Finished) -> None:
    folder = finished.runs / "one"
    names = candidates_in(folder, "*")
    with RunStore.read(folder) as store:
        made = {fact.order: fact.call.prompt.text for fact in store.facts(only=(ProposalMade,))
                if isinstance(fact, ProposalMade)}
    assert names == [name for name in made if str(name).startswith("g")]
    assert {name.split("/")[1] for name in names} == {"hill", "macro", "cross"}
    for name in names:
        assert await prompt_of(state_before(folder, name, {})) == made[name]


async def test_other_settings_change_the_prompt_and_nothing_else_of_the_state(finished: Finished) -> None:
    folder = finished.runs / "one"
    [name] = candidates_in(folder, "g1/hill/0")
    plain = state_before(folder, name, {})
    for given, words in (
        ("memory_detail=none", "Not shown in this run."), ("reply=whole", "```python"), ("feedback=metrics", ""),
    ):
        other = state_before(folder, name, parse_assignments([given]))
        prompt = await prompt_of(other)
        assert prompt != await prompt_of(plain) and words in prompt
        assert (other.plan, other.order.parents, other.known) == (plain.plan, plain.order.parents, plain.known)


@pytest.mark.slow
def test_a_killed_what_if_goes_on_and_is_repeated_without_a_model(
    memento: Call, memento_live: Start, run: Path
) -> None:
    before = (run / DATABASE).read_bytes()
    what_if = ("what-if", "one", "g1/macro/0", "--workers", "1", "--json")
    process = memento_live(*what_if, "-n", "40")
    until(lambda: any(is_run(each) and scored(each) for each in (run / WHAT_IFS).glob("*")))
    process.kill()
    process.communicate(timeout=60)
    [folder] = (run / WHAT_IFS).iterdir()
    known = scored(folder)
    done = printed(memento(*what_if, "-n", str(known + 1)))
    [state] = done["states"]
    [arm] = state["arms"]
    assert (arm["draws"], arm["calls"], arm["status"], arm["same_prompt"]) == (known + 1, known + 1, "done", True)
    assert state["parent"] == "init/0" and state["recorded"]["fitness"] is not None
    for row in arm["rows"]:
        assert row["gain"] == pytest.approx(row["fitness"] - state["parent_fitness"])
        assert row["fitness"] == pytest.approx(sum(row["per_episode"]) / state["episodes"])
    facts = scored(folder)
    again = printed(memento(*what_if, "-n", str(known + 1), "--replay", "--workers", "2"))
    assert again == done | {"repeated": True}
    assert scored(folder) == facts, "a repetition keeps nothing"
    assert (run / DATABASE).read_bytes() == before, "the run stays as it is"
    assert memento("show", "one").returncode == 0
    no_run = memento("show", folder)
    assert (no_run.returncode, "is a what-if on the run 'one', no run" in no_run.stderr) == (2, True)


def scored(folder: Path) -> int:
    with RunStore.read(folder) as store:
        return sum(1 for _ in store.facts(only=(CandidateScored,)))


@pytest.mark.slow
def test_an_experiment_compares_arms_over_states(memento: Call, run: Path, tmp_path: Path) -> None:
    (tmp_path / "memory.toml").write_text(
        'title = "Memory?"\ndraws = 2\n[[states]]\nrun = "one"\ncandidates = ["g1/*/0"]\n'
        '[[arms]]\nname = "recorded"\n[[arms]]\nname = "none"\nset = { memory_detail = "none" }\n'
    )
    done = printed(memento("what-if", "memory.toml", "--json"))
    assert {state["candidate"].split("/")[1] for state in done["states"]} == {"hill", "macro", "cross"}
    assert {each["states"] for each in done["differences"] if each["measure"] == "improvement"} == {3}
    assert all(each["difference"] == 0 for each in done["differences"]), "the offline model reads no prompt"
    text = memento("what-if", "memory.toml").stdout
    assert "none minus recorded, over 3 states, paired:" in text
    assert "the offline model reads no prompt" in text
    assert memento("what-if", "memory.toml", "-n", "3").returncode == 2


def test_bad_input_is_one_sentence(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, why in (
        (("g1/hill/0", "--set", "seed=4"), "'seed' cannot change in a what-if"),
        (("g1/hill/0", "--set", "n_roll=4"), "'n_roll' cannot change in a what-if"),
        (("g1/tune/0",), "g1/tune/0 is a tuning of constants: no model was asked"),
        (("init/0",), "init/0 comes before the policy search"), (("g7/hill/0",), "unknown candidate 'g7/hill/0'"),
        (("g*/nobody/*",), "unknown candidate"), ((), "which candidate of"), (("g1/hill/0", "-n", "0"), "-n must be"),
        (("g1/hill/0", "--replay"), "there is no what-if on g1/hill/0 with these settings"),
        (("g1/hill/0", "--set", "notes=on"), "no effect with the offline model"),
        (("g1/hill/0", "--set", "memory_detail=none", "--model", "nobody:x"), "nobody"),
    ):
        assert exit_code(["what-if", str(run), *arguments]) == 2, arguments
        said = capsys.readouterr().err.splitlines()
        assert why in said[-1] and len([line for line in said if why in line]) == 1, said
        assert not [path for path in run.glob(f"{WHAT_IFS}/*") if is_run(path)]
    with RunStore.read(run) as store:
        assert store.last_seq


def test_the_prompts_can_be_read_before_anybody_is_asked(
    finished: Finished, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(finished.runs / "one")
    assert exit_code(["what-if", run, "g1/hill/0", "--set", "memory_detail=none", "--control", "--prompt"]) == 0
    said = capsys.readouterr().out
    assert said.count("==> one g1/hill/0, ") == 2 and said.count("Not shown in this run.") == 1
    assert not (finished.runs / "one" / WHAT_IFS).exists()


def test_words_are_runs_and_their_candidates() -> None:
    assert pairs_of(["a", "g1/hill/0", "g*/macro/*", "g/b", "i2/g1/cross/0"]) == [
        ("a", "g1/hill/0"), ("a", "g*/macro/*"), ("g/b", "i2/g1/cross/0")
    ]
    for words in (["a"], ["a", "b", "g1/hill/0"], ["a", "g1/hill/0", "b"]):
        with pytest.raises(UsageError, match="which candidate of"):
            pairs_of(words)
