"""The log of a baseline survives kills, and pace and cost are read from it."""

from dataclasses import replace
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.errors import StoreError, UsageError
from memento.extensions.rl import run
from memento.extensions.rl.command_text import describe_baseline
from memento.extensions.rl.log import LOG, BaselineLog, EvaluationPoint, TrainingProgress, read_record
from memento.extensions.rl.pace import line_of, pace_of
from memento.extensions.rl.results import result_of
from memento.extensions.rl.run import plan_again
from memento.extensions.rl.settings import BaselineArguments, build
from memento.memory.lock import WriterLock

AT = TrainingProgress(
    steps=0, updates=0, episodes=0, wall_s=0.0, cpu_s=0.0, mean_return=None, success=None, reached=None
)


def at(steps: int, *, updates: int, wall_s: float) -> TrainingProgress:
    return replace(AT, steps=steps, updates=updates, wall_s=wall_s, cpu_s=2 * wall_s, mean_return=-9.5, success=0.25,
                   reached=0.5, episodes=steps // 50)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "trained"
    made.mkdir()
    settings = build(BaselineArguments(domain="hanoi-kinematic", steps=5000, seed=3, salt="none", flags={}))
    BaselineLog(made).add("started", {"settings": settings.as_json(), "versions": {"memento": "1"}})
    return made


def test_a_line_that_a_kill_cut_off_is_left_out_and_what_a_lost_process_did_no_longer_counts(folder: Path) -> None:
    log = BaselineLog(folder)
    for steps in (1000, 2000, 3000):
        log.progress(at(steps, updates=steps, wall_s=steps / 10))
        if steps == 2000:
            log.add("checkpoint", {"steps": 2000})
    with (folder / LOG).open("a") as file:
        file.write('{"what": "progress", "steps": 40')
    assert [each.steps for each in read_record(folder).progress] == [1000, 2000, 3000]
    log.add("resumed", {"steps": 2000})
    log.progress(at(2500, updates=2500, wall_s=250))
    record = read_record(folder)
    assert [each.steps for each in record.progress] == [1000, 2000, 2500]
    assert (record.checkpoint, record.resumed) == (2000, 1)


def test_evaluations_are_kept_as_far_as_the_checkpoint_of_the_process_that_goes_on(folder: Path) -> None:
    log = BaselineLog(folder)
    point = EvaluationPoint(
        steps=1000, episodes=5, mean_return=-9.0, success=0.25, reached=0.5, wall_s=30.0, cpu_s=36.0
    )
    log.progress(at(1000, updates=1000, wall_s=100))
    log.evaluated(point)
    log.add("checkpoint", {"steps": 2000})
    log.evaluated(replace(point, steps=2000, success=0.0))
    log.evaluated(replace(point, steps=3000))
    log.add("resumed", {"steps": 2000})
    record = read_record(folder)
    assert [each.steps for each in record.evaluations] == [1000, 2000]
    found = result_of(record)
    assert [each["success"] for each in found["evaluations"]] == [0.25, 0.0]
    assert (found["cpu_hours"], found["hours"]) == (round((200 + 72) / 3600, 4), round((100 + 60) / 3600, 4))
    assert (
        "evaluated        at 2,000 steps: success 0 %, goal reached 50 %, return -9.00 over 5 episodes; the best at"
        " 1,000 steps: success 25 %, goal reached 50 %, return -9.00 over 5 episodes; 2 evaluations in all\n"
    ) in describe_baseline(record)
    same = replace(record, evaluations=record.evaluations[:1] * 2)
    assert "the best" not in describe_baseline(same), "an earlier one that was no better"


def test_a_run_can_be_planned_again_with_other_steps_in_all_but_not_fewer_than_done(folder: Path) -> None:
    log = BaselineLog(folder)
    log.add("checkpoint", {"steps": 2000})
    log.add("measured", {"success_rate": 0.0, "episodes": []})
    plan_again(folder, 5000)
    assert read_record(folder).result is not None
    plan_again(folder, 9000)
    record = read_record(folder)
    assert (record.settings["steps"], record.result) == (9000, None)
    plan_again(folder, 2000)
    assert read_record(folder).settings["steps"] == 2000
    for steps in (1999, 10**11):
        with pytest.raises(UsageError, match="--steps must be from 2000, where trained is"):
            plan_again(folder, steps)


def test_the_pace_leaves_random_steps_out_and_gives_the_cost_of_more(folder: Path) -> None:
    progress = [at(1000, updates=0, wall_s=1), at(1100, updates=1, wall_s=2), at(2100, updates=1001, wall_s=102)]
    assert pace_of(progress[:2]) is None
    pace = pace_of(progress)
    assert pace is not None
    assert (pace.wall_s, pace.cpu_s) == pytest.approx((0.1, 0.2))
    assert pace.hours(36_000) == pytest.approx((1.0, 2.0))
    assert line_of(progress, steps=2700) == (
        "2,100 of 2,700 steps, 10.0 steps/s, 42 episodes, return -9.50, success 25 %, goal reached 50 %"
        ", 1 min 00 s left"
    )


def test_show_lists_a_baseline_and_describes_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for progress in (at(1000, updates=1, wall_s=100), at(2000, updates=1000, wall_s=200)):
        BaselineLog(folder).progress(progress)
    runs = str(folder.parent)
    assert exit_code(["show", "--runs", runs]) == 0
    assert exit_code(["show", "trained", "--runs", runs]) == 0
    listed, _, shown = capsys.readouterr().out.partition("\n")
    assert listed == (
        "trained  sac-her on hanoi-kinematic, variant cube, randomisation table, sparse reward, seed 3,"
        " stopped at 2,000 of 5,000 steps in 1 environment"
    )
    assert shown.strip() == describe_baseline(read_record(folder), where=str(folder))
    assert f"not yet: memento resume {folder} trains on from the checkpoint at 0 steps and then plays" in shown
    assert "14.4 M steps 800 hours" in shown
    assert exit_code(["show", "trained", "g1/macro/0", "--runs", runs]) == 2


def test_a_training_that_is_complete_but_not_measured_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = BaselineLog(folder)
    log.progress(at(5000, updates=5000, wall_s=500))
    log.add("checkpoint", {"steps": 5000})
    command = ["show", "trained", "--runs", str(folder.parent)]
    assert exit_code(command) == 0
    shown = capsys.readouterr().out
    assert "seed 3, trained but not measured at 5,000 of 5,000 steps" in shown
    assert f"not yet: the training is complete; memento resume {folder} plays the 10 unseen episodes" in shown
    lock = WriterLock.acquire(folder, now=0.0)
    try:
        assert exit_code(command) == 0
    finally:
        lock.release()
    shown = capsys.readouterr().out
    assert "seed 3, being measured at 5,000 of 5,000 steps" in shown
    assert "memento resume" not in shown
    log.add("measured", {"success_rate": 0.0, "reached_rate": 0.0, "return_mean": -1.0, "episodes": [{}]})
    assert "seed 3, done at 5,000 of 5,000 steps" in describe_baseline(read_record(folder))


def test_a_live_training_is_asked_to_stop_and_an_old_request_does_not_count(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "ASKED_S", 0.0)
    runs = ["--runs", str(folder.parent)]
    assert exit_code(["stop", "trained", *runs]) == 2
    lock = WriterLock.acquire(folder, now=0.0)
    try:
        (folder / run.STOP).touch()
        stopped = run._or_asked(folder, lambda: False)
        assert not stopped()
        assert exit_code(["pause", "trained", *runs]) == 2
        assert exit_code(["stop", "trained", *runs]) == 0
        assert stopped() and stopped()
    finally:
        lock.release()
    errors = capsys.readouterr().err
    assert "the run 'trained' is not live: there is nothing to stop" in errors
    assert "a learned baseline, which cannot pause: stop it, and resume it later" in errors


def test_another_file_is_refused(folder: Path) -> None:
    (folder / LOG).write_text('{"what": "else"}\n[1]\n')
    with pytest.raises(StoreError, match="not the log of a baseline"):
        read_record(folder)
