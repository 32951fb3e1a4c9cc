"""What a run came to, read from its log."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from ..core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    FinalMeasured,
    ProposalFailed,
    ProposalMade,
    RunResumed,
    RunStarted,
    VoteCast,
)
from ..core.values import Call
from ..memory.store import Entry, RunStore
from ..results import RunResult


@dataclass(slots=True)
class _Counts:
    candidates: int = 0
    episodes: int = 0
    calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0

    def add(self, call: Call) -> None:
        usage = call.usage
        self.calls += usage.attempts
        self.tokens += usage.input_tokens + usage.output_tokens
        if usage.cost_usd is None:
            self.cost_usd = None
        elif self.cost_usd is not None:
            self.cost_usd += usage.cost_usd


def result_of(store: RunStore, *, status: str) -> RunResult:
    """The result of the run in `store`, which ended with `status`."""
    entries = tuple(store.facts_after(0))
    facts = [entry.fact for entry in entries]
    started = next(fact for fact in facts if isinstance(fact, RunStarted))
    elites = [fact for fact in facts if isinstance(fact, EliteChanged)]
    elite = elites[-1] if elites else None
    final = next((fact for fact in facts if isinstance(fact, FinalMeasured)), None)
    counts = _count(facts)
    settings = started.settings
    return RunResult(
        run=str(store.folder),
        domain=str(settings["domain"]),
        method=str(settings["method"]),
        model=str(settings["model"]),
        seed=int(str(settings["seed"])),
        status=status,
        generations=elite.generation if elite else 0,
        elite=elite.candidate if elite else None,
        fitness=elite.fitness if elite else None,
        success=elite.success_rate if elite else None,
        initial_fitness=elites[0].fitness if elites else None,
        reference_initial=final.initial_fitness if final else None,
        reference_fitness=final.elite_fitness if final else None,
        final_success=final.elite_success if final else None,
        candidates=counts.candidates,
        episodes_run=counts.episodes,
        episodes_saved=0,
        model_calls=counts.calls,
        tokens=counts.tokens,
        cost_usd=counts.cost_usd,
        wall_s=round(active_s(entries), 3),
        sandbox=started.sandbox,
    )


def active_s(entries: Iterable[Entry]) -> float:
    """Seconds that a controller worked on the run: the time between being left and being resumed is not counted."""
    return sum(
        later.at - earlier.at
        for earlier, later in pairwise(entries)
        if not isinstance(later.fact, RunResumed)
    )


def _count(facts: Iterable[Fact]) -> _Counts:
    counts = _Counts()
    for fact in facts:
        match fact:
            case CandidateScored():
                counts.candidates += 1
            case EpisodeEnded():
                counts.episodes += 1
            case ProposalMade() | ProposalFailed() | VoteCast() if fact.call is not None:
                counts.add(fact.call)
    return counts
