"""Wall time of the same recorded search without savings, with each saving alone and with all of them.

    python -m memento.tests.benchmarks.search [--rounds 2] [--latency 2.0] [--episode 0.5] [--workers 2] [--json]

One search on the kinematic domain is recorded with the offline model, real workers and no savings. It is
then replayed with each choice of savings: every reply comes after a latency that is drawn from its slot's name, and
every episode takes its recorded time, scaled to a mean, in a lane of as many workers. The replays only wait, so they
run at the same time and a busy machine hardly matters. Language models repeat themselves and the offline model hardly
does, so in the recording a share of the replies repeats an earlier one with another comment.

The gain depends on the bottleneck of the search: racing and duplicates save rollouts, and need an elite that is hard to
reach, or repeated programs; speculation saves waiting for the model, where the workers are not the bottleneck.

Every replay must reach the recording's conclusions: the same accepts, winners and elites; else this fails.

    wall_s              median over the rounds, from the first order of the search to its last
    saved               share of the time without savings: 1 - the median of the ratios
    episodes_run        of all stages, and how many of the search were saved
    calls               model calls that were answered, and how many were withdrawn
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median

from memento.app.plan import plan_of
from memento.app.wiring import Models, make_lanes
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorExamined,
    Fact,
    ProposalMade,
    Propose,
    SearchEnded,
    StageEntered,
)
from memento.core.order_ids import is_ahead, owner_of, score_id, slot_of
from memento.core.ports import Ask, Model, Pool, Reply, RollTask
from memento.core.seeds import derive_seed
from memento.core.values import JSON, Episode, Examination, Program, Score
from memento.domains import import_string, load
from memento.memory.run_view import view_of_facts
from memento.models.offline import OfflineModel
from memento.models.tape import ReplayModel, tape_of
from memento.runtime.bus import EventBus
from memento.runtime.rollouts.pool import ProcessPool
from memento.runtime.supervisor import Supervisor
from memento.search.parts.speculation import SpeculationSettings
from memento.search.sequencer import RunPlan, Sequencer
from memento.settings import Settings, build_settings

DOMAIN = "hanoi-kinematic"
REPEATED = 0.15     # share of replies that repeat an earlier one
SAVINGS = {
    "none": (False, False, False),
    "racing": (True, False, False),
    "duplicates": (False, True, False),
    "speculation": (False, False, True),
    "all": (True, True, True),
}
ONE_STREAM: Mapping[str, JSON] = {"confirm_episodes": 0, "choice_episodes": 0, "stop_when": "never"}
"""The tape has one episode for each program and number, so no fresh ones."""

BUDGET: Mapping[str, JSON] = {
    "generations": 4, "k_hc": 5, "k_macro": 4, "k_cross": 2, "n_roll": 4, "final_episodes": 1,
    "evaluator": "reference", "seed": 2,  # a long search: racing needs an elite that is hard to reach
    "memory_detail": "summary",  # with which climbs can be speculative
}


class Repeating:
    """A model that repeats an earlier reply, with another comment, for a share of the proposals."""

    def __init__(self, model: Model, *, seed: int, share: float) -> None:
        self.name = model.name
        self._model = model
        self._seed = seed
        self._share = share
        self._given: list[Reply] = []

    async def complete(self, ask: Ask) -> Reply:
        """A new reply, or an earlier one."""
        reply = await self._model.complete(ask)
        if not isinstance(ask.order, Propose) or ask.order.generation == 0:
            return reply
        number = derive_seed(self._seed, "repeat", ask.order.id)
        if self._given and number % 1000 < 1000 * self._share:
            earlier = self._given[number // 1000 % len(self._given)]
            return replace(earlier, text=earlier.text.replace("\n```\n", f"\n# {ask.order.id}\n```\n", 1))
        self._given.append(reply)
        return reply


class Delayed:
    """A model with a latency between half and three halves of the mean, by the slot."""

    def __init__(self, model: Model, *, latency_s: float) -> None:
        self.name = model.name
        self.withdrawn = 0
        self._model = model
        self._latency_s = latency_s

    async def complete(self, ask: Ask) -> Reply:
        """The reply, after its latency."""
        share = derive_seed(0, "latency", slot_of(ask.order.id)) % 1000 / 1000
        try:
            await asyncio.sleep(self._latency_s * (0.5 + share))
            return await self._model.complete(ask)
        except asyncio.CancelledError:
            self.withdrawn += is_ahead(ask.order.id)
            raise


class TapedPool:
    """A core.ports.Pool that gives the episodes and scores of a recorded run, each after its time in proportion."""

    def __init__(self, facts: Sequence[Fact], *, mean_s: float) -> None:
        programs = {fact.order: fact.program for fact in facts if isinstance(fact, ProposalMade)}
        scores = {fact.order: fact.score for fact in facts if isinstance(fact, EpisodeScored)}
        self._episodes: dict[tuple[Program, int], Episode] = {}
        self._scores: dict[str | None, Score] = {}
        for fact in facts:
            if isinstance(fact, EpisodeEnded) and fact.order is not None:
                self._episodes[programs[owner_of(fact.order)], fact.episode.index] = fact.episode
                if score_id(fact.order) in scores:
                    self._scores[fact.episode.trajectory] = scores[score_id(fact.order)]
        self._scale = mean_s / mean(episode.wall_s for episode in self._episodes.values())
        self._examination = next(fact.examination for fact in facts if isinstance(fact, EvaluatorExamined))

    async def roll(self, task: RollTask) -> Episode:
        """The recorded episode."""
        episode = self._episodes[task.program, task.index]
        await asyncio.sleep(self._scale * episode.wall_s)
        return episode

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """The recorded score."""
        return self._scores[episode.trajectory]

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """The recorded examination of the one evaluator."""
        return self._examination


@dataclass(slots=True)
class Log:
    """The facts of a run with the time of each, in memory."""

    kept: list[tuple[float, Fact]]

    def append(self, facts: Iterable[Fact]) -> None:
        """Store the facts."""
        now = time.perf_counter()
        self.kept += [(now, fact) for fact in facts]

    def facts(self) -> tuple[Fact, ...]:
        """All facts."""
        return tuple(fact for _, fact in self.kept)

    def search_s(self) -> float:
        """Seconds from the beginning of the search to its end."""
        begun = next(at for at, fact in self.kept if isinstance(fact, StageEntered) and fact.stage == "search")
        ended = next(at for at, fact in self.kept if isinstance(fact, SearchEnded))
        return ended - begun


def measure(
    *, rounds: int = 2, latency_s: float = 2.0, episode_s: float = 0.5, workers: int = 2,
    budget: Mapping[str, JSON] = BUDGET,
) -> dict[str, JSON]:
    """All figures. Raises RuntimeError if a saving changed a conclusion of the search."""
    settings = build_settings({"domain": DOMAIN, "preset": "quick", **ONE_STREAM, **budget}, environment={})
    work = _measure(settings, rounds=rounds, latency_s=latency_s, episode_s=episode_s, workers=workers)
    return asyncio.run(work)


async def _measure(
    settings: Settings, *, rounds: int, latency_s: float, episode_s: float, workers: int
) -> dict[str, JSON]:
    recorded = (await _record(settings, workers=workers)).facts()
    expected, tape, pool = conclusions(recorded), tape_of(recorded), TapedPool(recorded, mean_s=episode_s)
    logs: dict[str, list[Log]] = {name: [] for name in SAVINGS}
    models: dict[str, Delayed] = {}
    for _ in range(rounds):
        models = {name: Delayed(ReplayModel(tape), latency_s=latency_s) for name in SAVINGS}
        async with asyncio.TaskGroup() as group:
            tasks = {
                name: group.create_task(_search(settings, models[name], pool, saving, workers=workers))
                for name, saving in SAVINGS.items()
            }
        for name, task in tasks.items():
            if conclusions(task.result().facts()) != expected:
                raise RuntimeError(f"the search with the saving {name!r} reached other conclusions")
            logs[name].append(task.result())
    return {
        "unit": "seconds of wall time of the search",
        "domain": DOMAIN, "workers": workers, "rounds": rounds,
        "mean_latency_s": latency_s, "mean_episode_s": episode_s, "repeated_replies": REPEATED,
        **{key: getattr(settings, key) for key in ("generations", "k_hc", "k_macro", "k_cross", "n_roll")},
        "climbs_accepted": round(_accepted(recorded), 3),
        "elite_fitness": [round(fact.fitness, 3) for fact in recorded if isinstance(fact, EliteChanged)],
        "searches": {name: _figures(logs[name], logs["none"], models[name].withdrawn) for name in SAVINGS},
        "same_conclusions": True,
    }


async def _record(settings: Settings, *, workers: int) -> Log:
    """The run without savings, on real workers."""
    shelf = load(DOMAIN).shelf()
    assert shelf is not None
    model = Repeating(OfflineModel(shelf, run_seed=settings.seed), seed=settings.seed, share=REPEATED)
    options = {"search": settings.options, "final": settings.options}
    with tempfile.TemporaryDirectory() as folder:
        async with ProcessPool(
            domain=import_string(DOMAIN), splits=options, workers=workers, trajectories=Path(folder)
        ) as pool:
            return await _search(settings, model, pool, SAVINGS["none"], workers=workers)


async def _search(settings: Settings, model: Model, pool: Pool, saving: Sequence[bool], *, workers: int) -> Log:
    """One run from p_0 to the elite."""
    domain = load(DOMAIN)
    models = Models(proposer=model, evaluator_writer=model, judges=(model,), attacker=model)
    log = Log([])
    supervisor = Supervisor(
        keeper=Sequencer(_plan(settings, saving)),
        bus=EventBus(log),
        lanes=make_lanes(settings, domain, models, pool, workers=workers),
    )
    await supervisor.run()
    return log


def _plan(settings: Settings, saving: Sequence[bool]) -> RunPlan:
    domain = load(DOMAIN)
    plan = plan_of(settings, domain, None, domain.reference_evaluator())
    racing, duplicates, speculation = saving
    choices = plan.choices.but(SpeculationSettings(speculation=speculation))
    search = replace(plan.search, racing=racing, duplicates=duplicates)
    return replace(plan, search=search, choices=choices, final_seeds=())


def conclusions(facts: Iterable[Fact]) -> list[str]:
    """The decisions of a search, sorted. The fitness of a rejected candidate may be a bound, so it is left out."""
    kinds = (CandidateAccepted, BranchEnded, EliteChanged, SearchEnded)
    decided = [f"rejected {fact.candidate}" if isinstance(fact, CandidateRejected) else repr(fact)
            for fact in facts if isinstance(fact, (*kinds, CandidateRejected))]
    return sorted(decided)


def _accepted(facts: Sequence[Fact]) -> float:
    """The share of the climbs that were accepted: each wastes one speculative call."""
    accepted = sum(isinstance(fact, CandidateAccepted) for fact in facts)
    return accepted / max(1, accepted + sum(isinstance(fact, CandidateRejected) for fact in facts))


def _figures(logs: Sequence[Log], plain: Sequence[Log], withdrawn: int) -> dict[str, JSON]:
    run = view_of_facts(logs[-1].facts()).status
    ratios = [log.search_s() / other.search_s() for log, other in zip(logs, plain, strict=True)]
    return {
        "wall_s": round(median(log.search_s() for log in logs), 2),
        "saved": round(1 - median(ratios), 3),
        "episodes_run": run.episodes,
        "episodes_saved": run.episodes_saved,
        "duplicates": run.duplicates,
        "calls": run.spending.total.calls,
        "calls_withdrawn": withdrawn,
        "asked_ahead": run.speculative,
        "kept_ahead": run.speculative_kept,
    }


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--latency", type=float, default=2.0, help="mean seconds that a reply takes")
    arguments.add_argument("--episode", type=float, default=0.5, help="mean seconds that an episode takes")
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--json", action="store_true")
    given = arguments.parse_args()
    figures = measure(
        rounds=given.rounds, latency_s=given.latency, episode_s=given.episode, workers=given.workers
    )
    print(json.dumps(figures, indent=None if given.json else 2))


if __name__ == "__main__":
    main()
