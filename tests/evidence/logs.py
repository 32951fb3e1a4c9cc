"""Runs of the real keepers with scripted replies, and comparisons of them on disk."""

import itertools
import json
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from memento.core.errors import SearchError
from memento.core.events import (
    CandidateScored,
    EvaluatorPoolScored,
    Fact,
    InitialChosen,
    ProposalMade,
    RunStarted,
    VoteCast,
)
from memento.core.values import Program
from memento.evidence.experiment import build_experiment
from memento.evidence.folder import ComparisonFolder, Measured
from memento.evidence.plan import list_jobs, measure_seed
from memento.evidence.records import RunRecord, read_record
from memento.memory.store import RunStore
from memento.search.evaluator_search import EvaluatorBudget
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..conformance.store import StoppedClock
from ..support.keeper_world import World, play

HOSTILE = """</pre><script>alert(1)</script><img src=x onerror=alert(2)>"'{{ 7*7 }}{% raw %}\x00\x1b]0\ud800"""
GENERATIONS = 3
SLOTS = GenerationBudget(generations=GENERATIONS, hill_climb=3, macro=3, crossover=2)
RANDOM = GenerationBudget(generations=GENERATIONS, hill_climb=0, macro=8, crossover=0)


def started(method: str = "memento", *, seed: int = 1, domain: str = "hanoi", model: str = "offline") -> RunStarted:
    """The first fact of a made-up run."""
    settings = {
        "domain": domain, "method": method, "model": model, "seed": seed, "preset": "paper", "evaluator": "evolve",
        "generations": GENERATIONS, "k_hc": 3, "k_macro": 3, "k_cross": 2, "k": 8, "n_roll": 3,
    }
    return RunStarted(settings=settings, versions={"memento": "0.1.0"}, sandbox=("landlock", "seccomp"))


def log(
    method: str = "memento", *, seed: int = 1, domain: str = "hanoi", model: str = "offline", levels: int = 9
) -> list[Fact]:
    """A whole run's facts."""
    plan = RunPlan(
        method=KEEPERS[method],
        slots=SLOTS if method == "memento" else RANDOM,
        search=RolloutPlan(split="search", seeds=(1, 2, 3), evaluator=None, racing=True),
        final_seeds=(91, 92),
        evaluator_budget=EvaluatorBudget(pool=3, judges=3, generations=2),
        reference=Program("reference"),
    )
    for world in itertools.count(seed, 10**6):      # some worlds have no valid evaluator at all
        with suppress(SearchError):
            facts, _ = play(Sequencer(plan), World(world, levels=levels), random.Random(seed).randrange)
            break
    return [started(method, seed=seed, domain=domain, model=model), *facts]


def record(facts: list[Fact], name: str = "r") -> RunRecord:
    """The record of these facts."""
    return read_record(facts, name=name, folder=f"/{name}", wall_s=1.0)


def hostile_log() -> list[Fact]:
    """A run in which everything that a model or a program can say is hostile."""
    found = []
    for fact in log(seed=5):
        match fact:
            case CandidateScored():
                program = Program(fact.candidate.program.text + HOSTILE)
                fact = replace(fact, candidate=replace(fact.candidate, summary=HOSTILE, program=program))
            case InitialChosen():
                fact = replace(fact, program=Program(HOSTILE))
            case ProposalMade():
                fact = replace(fact, summary=HOSTILE)
            case VoteCast():
                fact = replace(fact, reason=HOSTILE)
            case EvaluatorPoolScored():
                fact = replace(fact, pool=tuple(replace(entry, summary=HOSTILE) for entry in fact.pool))
        found.append(fact)
    return found


def store(folder: Path, facts: list[Fact]) -> Path:
    """The facts as a run on disk."""
    folder.mkdir(parents=True, exist_ok=True)
    with RunStore.create(folder, clock=StoppedClock()) as run:
        run.append(facts)
    return folder


def comparison(folder: Path, **table: object) -> ComparisonFolder:
    """A made-up comparison, all of it done and measured."""
    given = {"title": "Made up", "domains": ["hanoi"], "methods": ["memento", "random"], "seeds": "1-4",
             "measures": [{"name": "Cube", "episodes": 6}], **table}
    experiment = replace(build_experiment(given, name="made-up", origin="a test"))
    found = ComparisonFolder(folder)
    found.write_plan(experiment)
    for job in list_jobs(experiment):
        store(found.run_of(job), log(job.arm.method, seed=job.seed, domain=job.task.domain, model=job.model))
        for measure in experiment.measures_of(job.task.name, job.arm.name):
            found.append_measured(measured(job, measure))
    return found


def measured(job, measure) -> Measured:
    """A made-up measure: memento succeeds more often."""
    draw = random.Random(f"{job.name}/{measure.name}")
    first = measure_seed(job, measure)
    rate = 0.7 if job.arm.method == "memento" else 0.3
    episodes = [
        {"seed": first + index, "scene": None, "success": draw.random() < rate, "fitness": draw.random(),
         "steps": 10, "ended_by": "horizon", "error": None}
        for index in range(measure.episodes)
    ]
    result = json.loads(json.dumps({"per_episode": episodes}))
    return Measured(job=job.name, measure=measure.name, program="p", seed=first, skip=measure.skip, result=result)
