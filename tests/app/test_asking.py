"""The judge `ask` in runs of the real program: votes by file, by command and in a terminal; a kill, and a replay."""

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from memento.app.budgets import require_usable
from memento.cli.vote import vote as cast_vote
from memento.core.ballot_files import ANSWER, BALLOTS, MAX_ANSWER, Ballot, answer_to, open_ballots, put, vote
from memento.core.errors import ModelError, UsageError
from memento.core.events import AskedAgain, Judge, VoteCast
from memento.core.ports import Ask
from memento.models.asked import AskedModel, BallotFolder
from memento.settings import build_settings

from ..support.terminal import terminal
from .conftest import Runs
from .served import SHORT, call, of, start

RUN = [
    "run", "hanoi-kinematic", *SHORT, "--name", "one", "--judge", "ask", "--set", "evaluator_generations=1",
    "--method", "zero-shot", "--set", "k=1", "--set", "final_episodes=1",
]


async def waiting(folder: Path, *names: str) -> tuple[Ballot, ...]:
    """Wait until exactly these ballots are open."""
    await until(lambda: tuple(ballot.name for ballot in open_ballots(folder)) == names)
    return open_ballots(folder)


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while True:
            if reached():
                return
            await asyncio.sleep(0.05)


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_votes_by_file_and_command_survive_a_kill_and_a_replay_asks_nobody(runs: Runs) -> None:
    folder = runs.folder / "one" / BALLOTS
    process = await start(runs, *RUN, "--set", "evaluator_judges=2")
    first, second = await waiting(folder, "eval-g0-judge-0", "eval-g0-judge-1")
    assert first.labels == ("A", "B") and (folder / "eval-g0-judge-0.md").read_text() == first.prompt
    name = json.loads((folder / "eval-g0-judge-0.json").read_text())["answer"]
    (folder / "mine").write_text("I cannot decide")
    (folder / "mine").rename(folder / name)
    again, _ = await waiting(folder, "eval-g0-judge-0-again", "eval-g0-judge-1")
    assert "could not be used" in again.prompt
    vote(folder, again, "B", "it sees a dropped disk")
    await until(lambda: bool(of(runs.facts("one"), VoteCast)))
    process.kill()
    await process.communicate()
    assert open_ballots(folder) == (second,)
    with pytest.raises(UsageError, match="'c' is none of the choices A, B"):
        cast_vote("one", "c", "never", runs=runs.folder)
    cast_vote("one", "a", "simpler", runs=runs.folder)
    whole = await call(runs, "resume", "one")
    replay = await call(runs, "run", "--replay", "one", "--name", "again")
    assert not (runs.folder / "again" / BALLOTS).exists() and open_ballots(folder) == ()
    for run in ("one", "again"):
        votes = {fact.seat: (fact.reason, fact.call.model, fact.choice) for fact in of(runs.facts(run), VoteCast)}
        assert {seat: each[:2] for seat, each in votes.items()} == {
            0: ("it sees a dropped disk", "ask"), 1: ("simpler", "ask")
        }
        assert len(of(runs.facts(run), AskedAgain)) == 1
    assert [replay[key] for key in ("elite", "fitness")] == [whole[key] for key in ("elite", "fitness")]
    with pytest.raises(UsageError, match="no ballot of the run 'one' waits for a vote"):
        cast_vote("one", runs=runs.folder)


@pytest.mark.slow
@pytest.mark.timeout(200)
def test_a_person_votes_in_the_terminal_of_the_run(runs: Runs) -> None:
    command = [sys.executable, "-m", "memento", *RUN, "--set", "evaluator_judges=1", "--runs", str(runs.folder)]
    runs.folder.mkdir(parents=True)
    with terminal(command, runs.folder) as shown:
        shown.read("your vote (A, B, code to read the programs): ")
        assert "### Fitness of every recording" in shown.shown and "class Evaluator:" not in shown.shown
        shown.press("code\n")
        shown.read("class Evaluator:")
        shown.press("seven\n")
        shown.read("'seven' is none of A, B")
        shown.press("b\n")
        shown.read("why, in one or two sentences: ")
        shown.press("because of its metrics\n")
        shown.read("voted B on eval-g0-judge-0")
        assert shown.end() == 0, shown.shown[-2000:]
    assert [fact.reason for fact in of(runs.facts("one"), VoteCast)] == ["because of its metrics"]


async def test_without_a_vote_in_time_the_run_ends_and_no_vote_is_lost(tmp_path: Path) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model = AskedModel(BallotFolder(path=tmp_path / BALLOTS), wait_s=1.0, elapsed=lambda: sum(slept), sleep=sleep)
    ask = Ask(order=Judge(id="eval/g0/judge/0", generation=0, seat=0, pool=(), success_rate=None), attempt=0,
              role="judge", prompt="choose")
    with pytest.raises(ModelError, match=r"nobody voted on eval-g0-judge-0 within 1 s: memento vote") as raised:
        await model.complete(ask)
    assert raised.value.fatal and 5 <= len(slept) <= 6
    vote(tmp_path / BALLOTS, *open_ballots(tmp_path / BALLOTS), "A", "late")
    reply = await model.complete(ask)
    assert json.loads(reply.text)["choice"] == "A" and reply.usage.cost_usd == 0


def test_votes_of_any_form_are_read_without_harm(tmp_path: Path) -> None:
    ballot = Ballot(order="eval/g0/judge/0", attempt=0, labels=("A", "B"), prompt="choose")
    folder, place = tmp_path / BALLOTS, tmp_path / BALLOTS / f"{ballot.name}{ANSWER}"
    put(folder, ballot)
    assert answer_to(folder, ballot) is None and open_ballots(folder) == (ballot,)
    vote(folder, ballot, "B", 'a "reason"')
    assert json.loads(str(answer_to(folder, ballot))) == {"choice": "B", "reason": 'a "reason"'}
    put(folder, ballot)
    assert place.exists(), "the same ballot keeps its vote"
    put(folder, Ballot(order=ballot.order, attempt=0, labels=("A", "B"), prompt="another"))
    assert not place.exists(), "a vote on another ballot does not count"
    place.write_bytes(b"x" * (MAX_ANSWER + 1))
    assert "larger than" in str(answer_to(folder, ballot))
    place.unlink()
    place.symlink_to("/proc/self/environ")
    assert answer_to(folder, ballot) == "a link, which is not followed"
    (folder / "eval-g0-judge-1.json").write_text("[[[")
    (folder / "other.json").write_text(json.dumps(ballot.as_json()))
    assert open_ballots(folder) == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"model": "ask"}, "'ask' can be a judge, but no proposer"),
        ({"evaluator_model": "ask"}, "'ask' can be a judge, but no evaluator-writer"),
        ({"judges": ["ask"], "budget": {"judge": {"usd": 1}}}, "has no effect with the judge 'ask'"),
        ({"judges": ["ask"], "sampling": {"judge": {"temperature": 0}}}, "'sampling.judge' has no effect with"),
    ],
)
def test_what_cannot_be_asked_is_refused(given: dict, words: str) -> None:
    settings = build_settings({"domain": "hanoi-kinematic"}, environment={})
    whole = type(settings).model_validate(settings.model_dump() | given)
    with pytest.raises(UsageError, match=words):
        require_usable(whole)
