"""A live run followed from another process: new facts are shown, a vanished or replaced run is reported."""

import json
import shutil
import threading
import time
from pathlib import Path

import pytest
from memento.core.events import EpisodeEnded, RunPaused, RunResumed, RunStopped, StageEntered
from memento.core.ports import Attentive
from memento.core.values import Episode
from memento.memory.activity import NOTE, ActivityNote, as_json
from memento.memory.noting import read_note, with_notes
from memento.memory.run_view import RunView, view_of
from memento.memory.store import RunStore
from memento.memory.tail import Follower, matching, read_view, window
from memento.runtime.rollouts.worker_slots import WorkerActivity
from memento.tui.display import Silence
from memento.tui.snapshot import RunSnapshot
from memento.tui.watch.following import follow
from memento.tui.watch.screens.runs import read_runs

from .conftest import LiveRun
from .recording import BEGAN, SetClock, begin
from .watching import text_of, the, until, watching

pytestmark = pytest.mark.quick


def everything(follower: Follower, limit: int = 7) -> tuple[RunView, bool]:
    view, fresh = RunView(), False
    while True:
        piece = follower.look(limit)
        assert piece.trouble is None
        fresh = fresh or piece.fresh
        view = RunView() if piece.fresh else view
        for entry in piece.entries:
            view.apply(entry.fact, entry.at)
        if not piece.more:
            return view, fresh


def test_what_is_followed_is_what_is_read_at_once(done: Path) -> None:
    follower = Follower(done)
    view, fresh = everything(follower)
    assert fresh
    with RunStore.read(done) as store:
        whole = view_of(store.facts_after(0))
    assert view == read_view(done)
    assert view.slots.candidates == whole.slots.candidates
    assert view.slots.points == whole.slots.points
    assert view.slots.elites == whole.slots.elites
    assert view.status.spending == whole.status.spending
    assert view.status.episodes_saved == whole.status.episodes_saved
    assert everything(follower) == (RunView(), False), "nothing is read twice"
    follower.close()


def test_nothing_is_read_twice_and_nothing_is_missed(live: LiveRun) -> None:
    follower, seen = Follower(live.folder), []
    while live.rest:
        seen += [entry.seq for entry in follower.look().entries]
        live.go_on(5)
    while entries := follower.look().entries:
        seen += [entry.seq for entry in entries]
    follower.close()
    with RunStore.read(live.folder) as store:
        all_but_scores = [entry.seq for entry in store.facts_after(0) if type(entry.fact).__name__ != "EpisodeScored"]
    assert seen == all_but_scores


def test_a_request_is_seen_until_it_is_taken(live: LiveRun) -> None:
    follower = Follower(live.folder)
    live.store.request("pause", at=1.0)
    piece = follower.look()
    assert piece.live
    assert piece.requests == ("pause",)
    live.store.take_requests()
    assert follower.look().requests == ()
    follower.close()


def test_a_stop_is_seen_until_a_process_works_on_the_run_again(live: LiveRun) -> None:
    follower = Follower(live.folder)
    assert follower.look().stopping == ""
    live.store.request("stop-after-candidate", at=1.0)
    assert follower.look().stopping == "stop-after-candidate"
    live.store.take_requests()
    assert follower.look().stopping == "stop-after-candidate"
    live.store.request("stop", at=2.0)
    live.store.take_requests()
    assert follower.look().stopping == "stop"
    live.store.append([RunStopped(reason="stopped")])
    assert follower.look().stopping == "stop", "its process still ends what was under way"
    live.clock.at += 1.0
    live.store.append([RunResumed()])
    assert follower.look().stopping == ""
    follower.close()


async def test_the_screen_shows_that_the_run_is_stopping_and_for_what_it_waits(live: LiveRun) -> None:
    orders = (("g2/macro/1/e0", 1.0), ("g2/macro/1/e1", 1.0), ("g2/hill/1", 1.0), ("g2/macro/0/e0/score", 1.0))
    note = ActivityNote(at=BEGAN + 100.0, orders=orders)      # the time that the screen has
    async with watching(live.folder) as pilot:
        assert "stops after" not in text_of(pilot)
        live.store.request("stop-after-candidate", at=1.0)
        live.store.take_requests()
        (live.folder / NOTE).write_text(as_json(note), encoding="utf-8")
        words = "stops after this candidate: 2 episodes, 1 call out"
        await until(pilot, lambda: words in text_of(pilot))


async def test_a_live_run_grows_on_the_screen(live: LiveRun) -> None:
    async with watching(live.folder) as pilot:
        before = the(pilot).snapshot.run.candidates
        live.go_on(len(live.rest))
        await until(pilot, lambda: the(pilot).snapshot.run.status == "done")
        assert the(pilot).snapshot.run.candidates == 18 > before
        assert "18 of 18 candidates" in text_of(pilot)
        live.store.close()
        await until(pilot, lambda: not the(pilot).snapshot.live)


@pytest.mark.slow
async def test_a_store_that_vanishes_is_waited_for_and_a_replaced_one_is_read_anew(
    done: Path, facts: list, tmp_path: Path
) -> None:
    async with watching(done) as pilot:
        shutil.move(done, tmp_path / "elsewhere")
        await until(pilot, lambda: "is gone" in text_of(pilot))
        assert the(pilot).snapshot.run.candidates == 18, "the last view stays readable"
        begin(done, facts[:12], SetClock()).close()
        await until(pilot, lambda: the(pilot).snapshot.trouble is None and the(pilot).snapshot.run.candidates == 0)
        assert the(pilot).snapshot.seq == 12
        shutil.rmtree(done)
        await until(pilot, lambda: "is gone" in text_of(pilot))
        shutil.move(tmp_path / "elsewhere", done)
        await until(pilot, lambda: the(pilot).snapshot.run.status == "done")


def test_a_store_that_is_replaced_between_two_looks_is_fresh(done: Path, facts: list) -> None:
    follower = Follower(done)
    everything(follower)
    shutil.rmtree(done)
    begin(done, facts[:9], SetClock()).close()
    _, fresh = everything(follower)
    assert fresh
    assert Follower(done).look().seq == 9
    follower.close()


def test_a_folder_without_a_run_is_said(tmp_path: Path) -> None:
    assert "is gone" in (Follower(tmp_path / "none").look().trouble or "")
    assert "no run in it" in (Follower(tmp_path).look().trouble or "")


def test_the_reading_thread_ends_when_it_is_told(live: LiveRun) -> None:
    sights: list[RunSnapshot] = []
    left = threading.Event()
    thread = threading.Thread(target=follow, args=(live.folder, sights.append, left))
    thread.start()
    deadline = time.monotonic() + 20
    while (not sights or sights[-1].reading) and time.monotonic() < deadline:
        time.sleep(0.01)
    left.set()
    thread.join(10)
    assert not thread.is_alive()
    assert sights[-1].live
    reports = len(sights)
    assert reports < 6, "a run without new facts is not reported again"


def test_the_log_is_read_in_windows(done: Path) -> None:
    assert len(matching(done, ())) == matching(done, ())[-1]
    places = matching(done, ("scored", "g1/"))
    assert [type(entry.fact).__name__ for entry in window(done, places[:2])] == ["EpisodeScored", "EpisodeScored"]
    assert matching(done, ("candidate%scored",)) != []
    assert matching(done, ("nothing of the kind",)) == []


def test_runs_are_read_again_only_where_they_grew(live: LiveRun, done: Path) -> None:
    known = read_runs(live.folder.parent, {})
    again = read_runs(live.folder.parent, known)
    assert all(again[folder] is known[folder] for folder in known)
    live.store.append([RunPaused()])
    grown = read_runs(live.folder.parent, known)
    assert grown[done] is known[done]
    assert grown[live.folder].snapshot.run.status == "paused"


# ------------------------------------------------------------------------------------------- the note


class Attending(Silence):
    def __init__(self) -> None:
        self.heard: list[object] = []

    def on_begin(self, order: str) -> None:
        self.heard.append(order)

    def on_retry(self, order: str, why: str) -> None:
        self.heard.append(why)

    def observe(self, activity: object) -> None:
        self.heard.append(activity)


def test_the_note_tells_what_is_under_way_and_is_taken_away(tmp_path: Path) -> None:
    now = [BEGAN]
    inner = Attending()
    doing = WorkerActivity(worker=0, phase="working", doing="roll", order="g1_hill_0_e0", steps=40)
    with with_notes(inner, tmp_path, clock=lambda: now[0]) as display:
        assert isinstance(display, Attentive)
        display.on_begin("g1/hill/0/e0")
        display.on_begin("g1/macro/0")
        display.observe(doing)
        display.tick()
        note = read_note(tmp_path, now=now[0])
        assert note is not None
        assert dict(note.orders) == {"g1/hill/0/e0": BEGAN, "g1/macro/0": BEGAN}
        assert (note.workers[0].order, note.workers[0].steps) == ("g1_hill_0_e0", 40)
        display.show(EpisodeEnded(order="g1/hill/0/e0", episode=Episode(
            index=0, seed=0, steps=9, ended_by="horizon", success=False)))
        display.tick()
        assert len(read_note(tmp_path, now=now[0]).orders) == 2, "not more than once a second"
        now[0] += 1.5
        display.tick()
        assert dict(read_note(tmp_path, now=now[0]).orders) == {"g1/macro/0": BEGAN}
        assert read_note(tmp_path, now=now[0] + 60) is None, "an old note is ignored"
        display.show(StageEntered(stage="final"))
        now[0] += 1.5
        display.tick()
        assert read_note(tmp_path, now=now[0]).orders == ()
    assert inner.heard == ["g1/hill/0/e0", "g1/macro/0", doing]
    assert not (tmp_path / NOTE).exists()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"at": "soon"}', json.dumps({"at": BEGAN, "orders": [], "workers": []})]
)
def test_a_note_of_another_kind_is_no_note(text: str, tmp_path: Path) -> None:
    (tmp_path / NOTE).write_text(text)
    assert read_note(tmp_path, now=BEGAN) is None
