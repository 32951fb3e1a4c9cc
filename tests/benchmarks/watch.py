"""The terminal UI on a run of ten thousand candidates: opening, scrolling, following, idling.

    python -m memento.tests.benchmarks.watch [--candidates 10000] [--rate 1000] [--json]

The store is made by the code that records runs; its programs and prompts are as long as real ones. Times
are those of this machine; the limit is printed next to each.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from memento.core import order_ids
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    InitialChosen,
    ProposalMade,
    RunStarted,
    StageEntered,
)
from memento.core.operators import OPERATORS
from memento.core.order_ids import CROSS, HILL, MACRO, episode_id, score_id
from memento.core.recording_file import trajectory_key
from memento.core.values import Call, CandidateState, Document, Episode, Operator, Program, Rejection, Score, Usage
from memento.memory.run_view import view_of
from memento.memory.store import RunStore
from memento.tui.watch.app import WatchApp
from memento.tui.watch.rows import Rows

EPISODES = 3
PER_GENERATION = {HILL: 4, MACRO: 4, CROSS: 2}
PROMPT_LETTERS, PROGRAM_LETTERS = 30_000, 9_000
METRICS = ("max_approach", "max_grasp_lift", "max_transport", "final_arrangement", "steps", "cubes_at_target_end")


class SystemClock:
    """Now."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def elapsed(self) -> float:
        """Seconds of a monotonic clock."""
        return time.monotonic()


def beginning(candidates: int) -> Iterator[Fact]:
    """A run up to its search."""
    of = {"k_hc": 4, "k_macro": 4, "k_cross": 2, "generations": candidates // 10, "n_roll": EPISODES}
    yield RunStarted(
        settings={"domain": "hanoi", "method": "memento", "model": "offline", "preset": "paper", "seed": 0,
                  "workers": 8, "final_episodes": 10, **of},
        versions={}, sandbox=("landlock", "seccomp"),
    )
    yield StageEntered(stage="initial")
    yield proposal(climb_of(0), 0)
    yield from (episode(climb_of(0), index) for index in range(EPISODES))
    yield InitialChosen(order=climb_of(0), program=program(0))
    yield StageEntered(stage="search")
    yield EliteChanged(
        generation=0, candidate=climb_of(0), origin=Operator.INITIAL, fitness=0.1, success_rate=0.0
    )


def generation(number: int, fitness: float) -> Iterator[Fact]:
    """One generation of a search: ten candidates, each with its episodes and scores."""
    serial = number * 100
    for branch, slots in PER_GENERATION.items():
        for slot in range(slots):
            serial += 1
            name = str(order_ids.candidate(number, branch, slot))
            yield proposal(name, serial)
            for index in range(EPISODES):
                yield episode(name, index)
                yield EpisodeScored(order=score_id(episode_id(name, index)), score=Score(
                    fitness=fitness, metrics=dict.fromkeys(METRICS, 0.123456789 + serial % 7)
                ))
            candidate = CandidateState(
                id=name, program=program(serial), operator=OPERATORS.of_word(branch), generation=number, slot=slot,
                parents=(climb_of(number - 1),), summary=summary(serial),
                fitness=fitness, metrics={metric: {"mean": 0.5, "min": 0.1, "max": 0.9} for metric in METRICS},
            )
            yield CandidateScored(order=name, candidate=candidate)
            if branch == HILL and slot:
                rejection = Rejection(summary=summary(serial), candidate=name, fitness_difference=-0.01, reason="lower")
                yield CandidateRejected(order=name, candidate=name, rejection=rejection)
            elif branch == HILL:
                yield CandidateAccepted(order=name, candidate=name, fitness=fitness, fitness_difference=0.001)
        yield BranchEnded(generation=number, operator=OPERATORS.of_word(branch), winner=name, fitness=fitness)
    yield EliteChanged(
        generation=number, candidate=climb_of(number), origin=Operator.HILL_CLIMB, fitness=fitness,
        success_rate=fitness,
    )


def climb_of(generation: int) -> str:
    """The first hill-climb proposal of a generation, which becomes its elite; p_0 of generation 0."""
    return str(order_ids.candidate(generation, HILL, 0) if generation else order_ids.initial(0))


def proposal(name: str, serial: int) -> ProposalMade:
    """A model's reply of realistic length."""
    prompt = Document(f"prompt {serial // 10} ".ljust(PROMPT_LETTERS, "p"))      # most hill-climb prompts are shared
    return ProposalMade(order=name, program=program(serial), summary=summary(serial), call=Call(
        model="offline", prompt=prompt, reply=Document(program(serial).text[:2000]),
        usage=Usage(input_tokens=9000, output_tokens=2500, cost_usd=0.02, latency_s=12.0),
    ))


def program(serial: int) -> Program:
    """A program that differs from all others."""
    return Program(f"# {serial}\nclass FrankaPolicy:\n" + "    x = 1\n" * (PROGRAM_LETTERS // 10))


def summary(serial: int) -> str:
    """The summary of an edit."""
    return f"RETREAT_HEIGHT: 0.05 -> {serial / 1000}; closed: When the fingers are closer than the cube is wide"


def episode(name: str, index: int) -> EpisodeEnded:
    """A rollout."""
    return EpisodeEnded(order=episode_id(name, index), episode=Episode(
        index=index, seed=index, steps=900, ended_by="horizon", success=False, wall_s=1.5,
        trajectory=trajectory_key(episode_id(name, index)),
        info={"goal_update": "achieved", "drawn": {f"friction_{k}": 0.9697289328057885 for k in range(8)}},
    ))


def make_run(folder: Path, candidates: int) -> int:
    """Write a finished search of this many candidates; returns the number of its facts."""
    generations = candidates // 10
    with RunStore.create(folder, clock=SystemClock()) as store:
        store.append(beginning(candidates))
        for first in range(1, generations + 1, 20):
            store.append(
                fact for number in range(first, min(first + 20, generations + 1))
                for fact in generation(number, 0.1 + 0.8 * number / generations)
            )
        return store.last_seq


class NoControls:
    """Controls without an effect."""

    def request(self, folder: Path, kind: str) -> None:
        """Nothing."""

    def check_hint(self, folder: Path) -> None:
        """Nothing."""

    def hint(self, folder: Path, text: str) -> None:
        """Nothing."""

    def export(self, folder: Path, candidate: str, out: Path) -> None:
        """Nothing."""

    def rendering(self, folder: Path, candidate: str, out: Path) -> list[str]:
        """Nothing."""
        return []


async def opening(folder: Path, candidates: int) -> dict[str, float]:
    """Seconds until the first display and until everything is read, then those of scrolling by one screen."""
    began, used_s = time.perf_counter(), time.process_time()
    app = WatchApp(folder=folder, runs_dir=folder.parent, controls=NoControls())
    async with app.run_test(size=(200, 60)) as pilot:
        while app.snapshot is None or not app.snapshot.slots.candidates:
            await asyncio.sleep(0.005)
        first_s = time.perf_counter() - began
        while app.snapshot.reading or app.snapshot.run.candidates < candidates:
            await asyncio.sleep(0.005)
        all_s, all_cpu_s = time.perf_counter() - began, time.process_time() - used_s
        await pilot.press("2")
        await pilot.pause()
        rows = app.screen.query_one(Rows)
        while rows.count < candidates:
            await asyncio.sleep(0.005)
        rows.cursor = 0
        pages = 200
        began, used_s = time.perf_counter(), time.process_time()
        for _ in range(pages):
            rows.action_page(1)
            await pilot.pause()
        page_ms, page_cpu_ms = ((now - then) / pages * 1000 for now, then in
                                ((time.perf_counter(), began), (time.process_time(), used_s)))
        began = time.perf_counter()
        await pilot.press("G")
        await pilot.pause()
        jump_ms = (time.perf_counter() - began) * 1000
        for key in ("3", "4", "5", "6", "7", "1"):
            await pilot.press(key)
            await pilot.pause()
    return {"first_sight_s": first_s, "all_s": all_s, "all_cpu_s": all_cpu_s, "page_ms": page_ms,
            "page_cpu_ms": page_cpu_ms, "jump_ms": jump_ms}


async def keeping_up(folder: Path, rate: float, seconds: float, first: int) -> dict[str, float]:
    """The delay of the UI while another process commits facts at a rate."""
    app = WatchApp(folder=folder, runs_dir=folder.parent, controls=NoControls())
    async with app.run_test(size=(200, 60)):
        while app.snapshot is None or app.snapshot.reading:
            await asyncio.sleep(0.01)
        before = app.snapshot.last_seq
        writer = subprocess.Popen(
            [sys.executable, "-m", "memento.tests.benchmarks.watch", "--write", str(folder), "--rate", str(rate),
             "--seconds", str(seconds), "--first", str(first)]
        )
        used_s, began, worst, slept = time.process_time(), time.perf_counter(), 0.0, 0.0
        while writer.poll() is None:
            before_sleep = time.perf_counter()
            await asyncio.sleep(0.05)
            slept = max(slept, time.perf_counter() - before_sleep - 0.05)
            newest = app.snapshot.run.last
            if newest is not None and app.snapshot.last_seq > before:
                worst = max(worst, time.time() - newest)
        took = time.perf_counter() - began
        used = time.process_time() - used_s
        deadline = time.monotonic() + 10
        with RunStore.read(folder) as store:
            last = store.last_seq
        while app.snapshot.seq < last - 2 and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        behind = time.time() - (app.snapshot.run.last or 0.0)
    return {
        "facts_per_s": (last - before) / seconds, "oldest_sight_s": worst, "caught_up_s": behind,
        "cpu_share": used / took, "longest_stall_s": slept,
    }


def write_facts(folder: Path, rate: float, seconds: float, first: int) -> None:
    """Commit facts at a rate, a tenth of a second's worth at a time."""
    def facts() -> Iterator[Fact]:
        number = first
        while True:
            yield from generation(number, 0.5)
            number += 1

    stream, batch = facts(), max(1, round(rate / 10))
    with RunStore.open(folder, clock=SystemClock()) as store:
        began = time.monotonic()
        for tenth in range(round(seconds * 10)):
            store.append([next(stream) for _ in range(batch)])
            time.sleep(max(0.0, began + (tenth + 1) / 10 - time.monotonic()))


async def idling(folder: Path, seconds: float) -> float:
    """The share of a core that the UI takes on a live run without new facts."""
    holder = subprocess.Popen(
        [sys.executable, "-m", "memento.tests.benchmarks.watch", "--write", str(folder), "--rate", "10",
         "--seconds", str(seconds + 10), "--first", "90000", "--silent"]
    )
    try:
        app = WatchApp(folder=folder, runs_dir=folder.parent, controls=NoControls())
        async with app.run_test(size=(200, 60)):
            while app.snapshot is None or app.snapshot.reading or not app.snapshot.live:
                await asyncio.sleep(0.05)
            await asyncio.sleep(3)
            before = resource.getrusage(resource.RUSAGE_SELF)
            began = time.perf_counter()
            await asyncio.sleep(seconds)
            after, took = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - began
    finally:
        holder.terminate()
        holder.wait(10)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / took


def hold(folder: Path, seconds: float) -> None:
    """Act as the live controller of a run without new facts."""
    with RunStore.open(folder, clock=SystemClock()):
        time.sleep(seconds)


def measure(candidates: int, rate: float) -> dict[str, object]:
    """All figures, on a run made for this purpose."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "large"
        facts = make_run(folder, candidates)
        began = time.perf_counter()
        with RunStore.read(folder) as store:
            view = view_of(store.facts_after(0))
        whole_s = time.perf_counter() - began
        assert view.status.candidates == candidates
        opened = asyncio.run(opening(folder, candidates))
        kept = asyncio.run(keeping_up(folder, rate, 10.0, candidates // 10 + 1))
        idle = asyncio.run(idling(folder, 15.0))
        size_mb = (folder / "run.sqlite").stat().st_size / 1e6
    return {
        "candidates": candidates, "facts": facts, "store_mb": size_mb, "cores": os.cpu_count(),
        "reading_everything_s": whole_s, "opening": opened, "keeping_up": kept, "idle_cpu_share": idle,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=10_000)
    parser.add_argument("--rate", type=float, default=1000.0)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=10.0, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--silent", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write is not None:
        if given.silent:
            hold(given.write, given.seconds)
        else:
            write_facts(given.write, given.rate, given.seconds, given.first)
        return
    found = measure(given.candidates, given.rate)
    if given.json:
        print(json.dumps(found))
        return
    opened, kept = found["opening"], found["keeping_up"]
    assert isinstance(opened, dict) and isinstance(kept, dict)
    print(f"{found['candidates']:,} candidates, {found['facts']:,} facts, {found['store_mb']:.0f} MB")
    print(f"  first sight         {opened['first_sight_s']:6.2f} s")
    print(f"  everything is in    {opened['all_s']:6.2f} s, {opened['all_cpu_s']:.2f} s of CPU     "
          f"(2 s; with all texts {found['reading_everything_s']:.1f} s)")
    print(f"  a screenful         {opened['page_ms']:6.1f} ms, {opened['page_cpu_ms']:.1f} ms of CPU")
    print(f"  to the last row     {opened['jump_ms']:6.1f} ms")
    print(f"  at {kept['facts_per_s']:,.0f} facts/s   {kept['oldest_sight_s']:6.2f} s behind at most, "
          f"{100 * kept['cpu_share']:.0f} % of a core")
    print(f"  idle on a live run  {100 * float(str(found['idle_cpu_share'])):6.2f} %     (3 %)")


if __name__ == "__main__":
    main()
