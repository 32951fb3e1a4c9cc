"""How soon a search has a good program, by the wall clock, where replies take as long as those of language models.

    python -m memento.tests.benchmarks.wall_clock [--domain NAME] [--seeds 5] [--in-flight 4 16] [--median 30] [--json]

The offline model proposes, real workers roll out, and the clock is virtual: a reply takes a time from a log-normal
distribution (median 30 s, sigma 0.6: nine of ten take 11 to 80 s) that the seed and the slot draw, an episode 2 s on
one of four workers, all else nothing. So the figures do not depend on how busy the machine is, and searches of one
seed are paired. Another median changes no result, only its time, so several cost no more rollouts than one.

Two generations of 6 climbs, 6 macro-mutations and 2 crossovers, or of 14 candidates of other methods, with 2 episodes
each. All searches begin with the same p_0 and use the reference evaluator.

    reached     the share of the searches with a program of the target F; by default the median of the F that the first
                half of the seeds ended with, over all methods
    target_s    the median time from the first order of the search until then, in virtual seconds; null if most did not
    area        the mean over the first 20 medians of the best F so far: the area under its curve
    fitness     the mean F at the end
    candidates  the mean number of candidates until the target; calls: of model calls begun, those for nothing included
    end_s       the mean time of the last candidate

Each as [mean or median, lower, upper] with a 95 % bootstrap interval over the seeds, where it is a mean.
"""

import argparse
import asyncio
import heapq
import json
import math
import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from memento.app.plan import plan_of
from memento.app.wiring import Models, make_lanes
from memento.core.events import (
    CandidateScored,
    EpisodeEnded,
    Fact,
    Order,
    Propose,
    Roll,
    ScoreEpisode,
    StageEntered,
    Withdraw,
)
from memento.core.order_ids import slot_of
from memento.core.ports import shelf_of
from memento.core.provenance import GIVEN
from memento.core.values import JSON
from memento.domains import import_string, load
from memento.models.offline import OfflineModel
from memento.runtime.lanes import Lane
from memento.runtime.rollouts.pool import ProcessPool
from memento.search.sequencer import Sequencer
from memento.settings import Settings, build_settings

SIGMA, EPISODE_S, WORKERS = 0.6, 2.0, 4
WITHIN = 20  # medians: what the area is taken over
BUDGET: Mapping[str, JSON] = {
    "generations": 2, "k_hc": 6, "k_macro": 6, "k_cross": 2, "n_roll": 2, "final_episodes": 1, "salt": "none",
    "evaluator": "reference", "confirm_episodes": 0, "choice_episodes": 0, "stop_when": "never", "k_tune": 0,
    "proposer_turns": 0, "workers": WORKERS,
}
ARMS: Mapping[str, Mapping[str, JSON]] = {
    "memento, w = 1": {"climb_width": 1}, "memento, w = auto": {"climb_width": "auto"},
    "memento, w = auto, head start": {"climb_width": "auto", "head_start": True},
    "memento, 4 islands": {"islands": 4}, "eureka-elite": {"method": "eureka-elite"}, "revolve": {"method": "revolve"},
    "random": {"method": "random"},
}
# What other methods do not know.
OTHERS = ("k_hc", "k_macro", "k_cross", "k_tune", "stop_when", "proposer_turns")


@dataclass(frozen=True)
class Curve:
    """The best F so far: the time of each candidate since the search began, and the F of the best until then."""

    first: float
    points: tuple[tuple[float, float], ...]
    calls: int = 0  # that were begun

    def when(self, target: float) -> float:
        """The seconds until a program of this F; infinite for none."""
        if self.first >= target:
            return 0.0
        return next((at for at, best in self.points if best >= target), math.inf)

    def tried(self, target: float) -> int:
        """The candidates until then."""
        at = self.when(target)
        return sum(time <= at for time, _ in self.points)

    def area(self, within: float) -> float:
        """The mean of the best F over the first `within` seconds."""
        total, last, best = 0.0, 0.0, self.first
        for at, value in self.points:
            total, last, best = total + best * (min(at, within) - last), min(at, within), value
        return (total + best * (within - last)) / within

    @property
    def final(self) -> float:
        """The F of the best program."""
        return self.points[-1][1] if self.points else self.first


@dataclass
class Done:
    """What was proposed and measured before: the same at any number of calls in flight."""

    proposals: dict[tuple[str, str], Fact] = field(default_factory=dict)  # by the search and the order
    episodes: dict[tuple[str, int, int], EpisodeEnded] = field(default_factory=dict)  # by program, number and seed
    scores: dict[str, Fact] = field(default_factory=dict)  # by recording


class VirtualRun:
    """A search under a virtual clock: orders wait for a place in their lane, and are answered after their time."""

    def __init__(self, name: str, lanes: Sequence[Lane], done: Done, seed: int, median_s: float) -> None:
        self._name, self._done, self._seed, self._median_s = name, done, seed, median_s
        self._lanes = {kind: (lane, agent) for lane in lanes for kind, agent in lane.agents.items()}
        self._waiting: dict[str, list[Order]] = {lane.name: [] for lane in lanes}
        self._running: list[tuple[float, str, Order]] = []
        self._calls = 0
        self._real: dict[str, asyncio.Task[Fact]] = {}  # rollouts under way in the workers, which are not in order

    async def search(self, keeper: Sequencer) -> Curve:
        """The curve of the search."""
        now, began, first, points = 0.0, None, 0.0, list[tuple[float, float]]()
        decision = keeper.start()
        while True:
            for fact in decision.facts:
                if isinstance(fact, StageEntered) and fact.stage == "search":
                    began = now
                if isinstance(fact, CandidateScored):
                    best = points[-1][1] if points else first
                    one = fact.candidate
                    value = max(best, one.fitness if one.fault is None and one.bound is None else 0.0)
                    if began is None:
                        first = value
                    else:
                        points.append((now - began, value))
            self._enter(decision.orders, now)
            if not self._running:
                return Curve(first, tuple(points), self._calls)
            now, _, order = heapq.heappop(self._running)
            decision = keeper.decide(decision.state, await self._answer(order))

    def _enter(self, orders: Sequence[Order], now: float) -> None:
        for order in orders:
            if isinstance(order, Withdraw):
                if order.target in self._real:
                    self._real.pop(order.target).cancel()
                self._running = [each for each in self._running if each[2].id != order.target]
                heapq.heapify(self._running)
                for waiting in self._waiting.values():
                    waiting[:] = [each for each in waiting if each.id != order.target]
            elif isinstance(order, Propose | Roll):
                self._waiting[self._lanes[type(order)][0].name].append(order)
            else:
                heapq.heappush(self._running, (now, order.id, order))
        for lane in {lane.name: lane for lane, _ in self._lanes.values()}.values():
            waiting = self._waiting[lane.name]
            kinds = (Propose, Roll)
            busy = sum(isinstance(each, kinds) and self._lanes[type(each)][0] is lane for _, _, each in self._running)
            waiting.sort(key=lane.urgency)  # stable, so by age
            for order in waiting[: lane.most - busy]:
                heapq.heappush(self._running, (now + self._seconds(order), order.id, order))
                self._calls += isinstance(order, Propose)
                if isinstance(order, Roll) and _place(order) not in self._done.episodes:
                    self._real[order.id] = asyncio.ensure_future(self._lanes[Roll][1].carry_out(order))
            del waiting[: max(0, lane.most - busy)]

    def _seconds(self, order: Order) -> float:
        if isinstance(order, Roll):
            return EPISODE_S
        return random.Random(f"{self._seed} {slot_of(order.id)}").lognormvariate(math.log(self._median_s), SIGMA)

    async def _answer(self, order: Order) -> Fact:
        agent, done = self._lanes[type(order)][1], self._done
        if isinstance(order, Propose):
            key = self._name, order.id
            if key not in done.proposals:
                done.proposals[key] = await agent.carry_out(order)
            return done.proposals[key]
        if isinstance(order, Roll):
            if order.id in self._real:
                fact = await self._real.pop(order.id)
                assert isinstance(fact, EpisodeEnded)
                done.episodes.setdefault(_place(order), fact)
            return replace(done.episodes[_place(order)], order=order.id)
        if isinstance(order, ScoreEpisode):
            recording = order.episode.trajectory or order.id
            if recording not in done.scores:
                done.scores[recording] = await agent.carry_out(order)
            return replace(done.scores[recording], order=order.id)
        return await agent.carry_out(order)


def _place(roll: Roll) -> tuple[str, int, int]:
    """What an episode depends on."""
    return roll.program.text, roll.index, roll.seed


def settings_of(domain: str, arm: Mapping[str, JSON], seed: int, in_flight: int) -> Settings:
    """The settings of one search."""
    own = {key: value for key, value in BUDGET.items() if "method" not in arm or key not in OTHERS}
    if "islands" in arm:
        del own["stop_when"]
    slots: dict[str, JSON] = {"k": 14} if "method" in arm else {}
    return build_settings(
        {"domain": domain, "preset": "quick", **own, **slots, **arm, "seed": seed, "calls_at_once": in_flight},
        environment={},
    )


Searched = tuple[str, int, float]
"""An arm, the calls in flight, and the median of a reply."""


async def searches_of(
    domain: str, seed: int, in_flight: Sequence[int], medians: Sequence[float] = (30.0,)
) -> dict[Searched, Curve]:
    """All searches of one seed."""
    found, task = Done(), load(domain, GIVEN)
    curves: dict[Searched, Curve] = {}
    options = settings_of(domain, {}, seed, 1).options
    shelf = shelf_of(task, options)
    assert shelf is not None
    with tempfile.TemporaryDirectory() as folder:
        async with ProcessPool(
            domain=import_string(domain), splits={"search": options, "final": options}, workers=2,
            trajectories=Path(folder),
        ) as pool:
            for number in in_flight:
                for arm, given in ARMS.items():
                    settings = settings_of(domain, given, seed, number)
                    model = OfflineModel(shelf, run_seed=seed)
                    models = Models(proposer=model, evaluator_writer=model, judges=(model,), attacker=model)
                    lanes = make_lanes(settings, task, models, pool, workers=WORKERS, trajectories=Path(folder))
                    plan = replace(
                        plan_of(settings, task, None, task.reference_evaluator()), final_seeds=()
                    )
                    search = f"{arm} {settings.climb_width}"
                    for median_s in medians:
                        run = VirtualRun(search, lanes, found, seed, median_s)
                        curves[arm, number, median_s] = await run.search(Sequencer(plan))
    return curves


def with_interval(values: Sequence[float]) -> list[float]:
    """The mean and a 95 % bootstrap interval over the seeds."""
    draw = random.Random(0)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(2000))
    return [round(each, 3) for each in (fmean(values), means[50], means[1949])]


def table(curves: Sequence[Mapping[Searched, Curve]], target: float | None) -> dict[str, JSON]:
    """The figures of all arms; `curves` has those of each seed."""
    half = curves[: max(1, len(curves) // 2)]
    aim = median(curve.final for each in half for curve in each.values()) if target is None else target
    rows: dict[str, Any] = {}
    for name in curves[0]:
        arm, number, median_s = name
        found = [each[name] for each in curves]
        times = [curve.when(aim) for curve in found]
        rows[f"{arm}, {number} in flight, {median_s:g} s"] = {
            "reached": round(fmean(time < math.inf for time in times), 2),
            "target_s": None if math.isinf(median(times)) else round(median(times), 1),
            "area": with_interval([curve.area(WITHIN * median_s) for curve in found]),
            "fitness": with_interval([curve.final for curve in found]),
            "candidates": round(fmean(curve.tried(aim) for curve in found), 1),
            "calls": round(fmean(curve.calls for curve in found), 1),
            "end_s": round(fmean(curve.points[-1][0] for curve in found), 1),
        }
    return {"target": round(aim, 4), "seeds": len(curves), "searches": rows}


def main() -> None:
    """Measure and print; each seed is noted once it is done, so that a measurement may be ended."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--domain", default="hanoi-kinematic")
    arguments.add_argument("--seeds", type=int, default=5)
    arguments.add_argument("--in-flight", type=int, nargs="+", default=[4, 16])
    arguments.add_argument("--median", type=float, nargs="+", default=[30.0], help="seconds that half the replies take")
    arguments.add_argument("--target", type=float, nargs="+", help="F that is to be reached")
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    curves = []
    for seed in range(1, given.seeds + 1):
        curves.append(asyncio.run(searches_of(given.domain, seed, given.in_flight, given.median)))
        figures = {
            "domain": given.domain, "sigma": SIGMA,
            "tables": [table(curves, target) for target in given.target or [None]],
        }
        print(json.dumps(figures, indent=None if given.json else 2), flush=True)


if __name__ == "__main__":
    main()
