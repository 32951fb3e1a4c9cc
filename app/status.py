"""What a headless run tells of itself over HTTP: its progress, spend and workers, and its facts as they come."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from ..core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    Fact,
    ProposalFailed,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStopped,
    StageEntered,
)
from ..core.methods import candidates_expected
from ..core.values import JSON
from ..memory.codec import encode
from ..memory.spending import RoleSpending, Spending, add_calls
from ..memory.store import RunStore
from ..runtime.models.budget import Purse
from ..runtime.rollouts.pool import Activity
from ..runtime.status_server import Line, Source, StatusServer, open_status, require_free
from ..runtime.supervisor import Agent, Lane
from ..settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAddress:
    """Where to serve a run's status (port 0: any free one), and whom to tell the URL."""

    host: str
    port: int
    tell: Callable[[str], None]

    def require_free(self) -> None:
        """Raise UsageError where it cannot be had, before anything is begun."""
        require_free(self.host, self.port)


class Progress:
    """Counts a run's facts, so that its status can be told at any moment. `heed` takes constant time."""

    def __init__(self, settings: Settings, history: Iterable[Fact] = ()) -> None:
        self.settings = settings
        self.status = "running"
        self.stage: str | None = None
        self.elite: EliteChanged | None = None
        self.counts: Counter[str] = Counter()
        self.spending = Spending()
        for fact in history:
            self.heed(fact)

    def heed(self, fact: Fact) -> None:
        """Take a committed fact in."""
        self.spending = add_calls(self.spending, fact)
        match fact:
            case StageEntered():
                self.stage = fact.stage
                self.status = "done" if fact.stage == "done" else "running"
            case RunPaused():
                self.status = "paused"
            case RunContinued() | RunResumed():
                self.status = "running"
            case RunStopped():
                self.status = fact.reason
            case EliteChanged():
                self.elite = fact
            case CandidateScored():
                self.counts["candidates"] += 1
                self.counts["failed"] += fact.candidate.fault is not None
            case EpisodeEnded():
                self.counts["episodes"] += 1
            case ProposalFailed():
                self.counts["unusable"] += 1

    @property
    def candidates_expected(self) -> int:
        """The slots of the whole search."""
        return candidates_expected(self.settings.as_json())

    def told(self) -> dict[str, JSON]:
        """The progress as plain values."""
        settings, elite = self.settings, self.elite
        return {
            "domain": settings.domain, "method": settings.method, "model": settings.model, "seed": settings.seed,
            "status": self.status, "stage": self.stage,
            "generation": 0 if elite is None else elite.generation, "generations": settings.generations,
            "elite": None if elite is None else {
                "candidate": elite.candidate, "fitness": elite.fitness, "success": elite.success_rate,
            },
            "candidates": self.counts["candidates"], "candidates_expected": self.candidates_expected,
            "candidates_failed": self.counts["failed"], "episodes_run": self.counts["episodes"],
            "replies_unusable": self.counts["unusable"],
        }


class Watch:
    """All that a run's status is made of."""

    def __init__(self, store: RunStore, progress: Progress, purse: Purse) -> None:
        self._store = store
        self._progress = progress
        self._purse = purse
        self._seq = store.last_seq
        self._server: StatusServer | None = None
        self._workers: dict[int, Activity] = {}
        self._lanes: dict[str, tuple[Counter[str], int]] = {}

    def heed(self, fact: Fact) -> None:
        """Take a committed fact in, and tell it to whoever listens."""
        self._progress.heed(fact)
        self._seq += 1
        if self._server is not None:
            self._server.heed(_line(self._seq, self._store.now(), fact))

    def observe(self, activity: Activity) -> None:
        """A worker does something else."""
        self._workers[activity.worker] = activity

    def counted(self, lanes: Sequence[Lane]) -> tuple[Lane, ...]:
        """The same lanes, which count what they have in hand."""
        return tuple(self._counted(lane) for lane in lanes)

    def _counted(self, lane: Lane) -> Lane:
        busy: Counter[str] = Counter()
        self._lanes[lane.name] = (busy, lane.limit)
        return replace(lane, agents={kind: _Counting(agent, busy) for kind, agent in lane.agents.items()})

    def status(self) -> dict[str, JSON]:
        """The object of /status."""
        ledger = self._purse.ledger
        spent: dict[str, JSON] = _spent(self._progress.spending.total)
        spent["in_flight"] = ledger.total.in_flight
        spent["by_role"] = {role: _spent(each) for role, each in self._progress.spending.by_role.items()}
        spent["left"] = {**ledger.left(self._purse.elapsed_s)}
        return {
            "run": str(self._store.folder), **self._progress.told(), "spend": spent,
            "workers": [asdict(activity) for _, activity in sorted(self._workers.items())],
            "lanes": {name: {"busy": busy.total(), "limit": limit} for name, (busy, limit) in self._lanes.items()},
            "wall_s": round(self._purse.elapsed_s, 3), "facts": self._seq,
        }

    def metrics(self) -> dict[str, float]:
        """The numbers of /metrics. A cost that is not known is left out: it is not 0."""
        progress = self._progress
        values: dict[str, float] = {
            "memento_candidates_total": progress.counts["candidates"],
            "memento_candidates_failed_total": progress.counts["failed"],
            "memento_candidates_expected": progress.candidates_expected,
            "memento_episodes_total": progress.counts["episodes"],
            "memento_facts_total": self._seq,
            "memento_wall_seconds": self._purse.elapsed_s,
            "memento_calls_in_flight": self._purse.ledger.total.in_flight,
        }
        if progress.elite is not None:
            values["memento_generation"] = progress.elite.generation
            values["memento_elite_fitness"] = progress.elite.fitness
            values["memento_elite_success"] = progress.elite.success_rate
        for name, pick in _ROLE_METRICS.items():
            for role, spent in progress.spending.by_role.items():
                value = pick(spent)
                if value is not None:
                    values[f'{name}{{role="{role}"}}'] = value
        for lane, (busy, limit) in self._lanes.items():
            values[f'memento_lane_busy{{lane="{lane}"}}'] = busy.total()
            values[f'memento_lane_limit{{lane="{lane}"}}'] = limit
        return dict(sorted(values.items()))

    def after(self, seq: int) -> Iterator[Line]:
        """The facts of the log after a place."""
        return (_line(entry.seq, entry.at, entry.fact) for entry in self._store.facts_after(seq))

    @asynccontextmanager
    async def served(self, address: StatusAddress | None) -> AsyncIterator[None]:
        """Serve the status meanwhile, if it is wanted. Raises UsageError where the port cannot be had."""
        if address is None:
            yield
            return
        source = Source(status=self.status, metrics=self.metrics, after=self.after)
        async with open_status(source, host=address.host, port=address.port) as server:
            self._server = server
            address.tell(server.url)
            yield


_ROLE_METRICS: Mapping[str, Callable[[RoleSpending], float | None]] = {
    "memento_model_calls_total": lambda spent: spent.calls,
    "memento_model_tokens_total": lambda spent: spent.tokens,
    "memento_model_cost_usd_total": lambda spent: spent.cost_usd,
}


class _Counting:
    """An agent that counts the orders it has in hand."""

    def __init__(self, agent: Agent, busy: Counter[str]) -> None:
        self._agent = agent
        self._busy = busy

    async def carry_out(self, order: Any) -> Fact:
        kind = type(order).__name__
        self._busy[kind] += 1
        try:
            return await self._agent.carry_out(order)
        finally:
            self._busy[kind] -= 1


def _spent(spent: RoleSpending) -> dict[str, JSON]:
    return {"calls": spent.calls, "attempts": spent.attempts, "tokens": spent.tokens, "cost_usd": spent.cost_usd}


def _line(seq: int, at: float, fact: Fact) -> Line:
    """A fact as listeners get it: programs, prompts and replies by their hash, as the log holds them."""
    encoded = encode(fact)
    head = json.dumps({"seq": seq, "at": round(at, 3), "kind": encoded.kind, "order": encoded.order})
    return Line(seq=seq, kind=encoded.kind, json=f'{head[:-1]}, "fact": {encoded.body}}}')
