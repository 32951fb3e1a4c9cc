"""The status of a headless run over HTTP: its progress, spending and workers, and a stream of its facts."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from ..core.events import Fact
from ..core.ports import NodeLoad
from ..core.values import JSON
from ..memory.codec import encode
from ..memory.run_status import RunStatus
from ..memory.spending import RoleSpending
from ..memory.store import RunStore
from ..models.budget import Ledger
from ..runtime.lanes import Lane
from ..runtime.rollouts.worker_slots import WorkerActivity
from ..runtime.servers import require_free
from ..runtime.status_server import FactLine, StatusServer, StatusSource, open_status
from ..settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAddress:
    """The address of a run's status (port 0: any free port), and the callback that receives the URL."""

    host: str
    port: int
    tell: Callable[[str], None]

    def require_free(self) -> None:
        """Raise UsageError if the address cannot be used, before the run starts."""
        require_free(self.host, self.port, "--status-port")


def progress_of(status: RunStatus, settings: Settings) -> dict[str, JSON]:
    """The progress of a run as plain values."""
    elite = status.elite
    return {
        "domain": settings.domain, "method": settings.method, "model": settings.model, "seed": settings.seed,
        "status": status.status, "stage": status.stage or None,
        "generation": status.generation, "generations": settings.generations,
        "elite": None if elite is None else {
            "candidate": elite.candidate, "fitness": elite.fitness, "evaluator_version": elite.version,
            "success": elite.success_rate,
            "return": elite.mean_return,
        },
        "candidates": status.candidates, "candidates_expected": status.candidates_expected,
        "candidates_failed": status.failed, "episodes_run": status.episodes,
        "search_episodes": status.search_episodes, "budget_episodes": settings.budget_episodes,
        "confirmations": status.confirmations, "refuted": status.refuted, "replies_unusable": status.unusable,
    }


class StatusFeed:
    """The status of a live run, and its facts for clients that follow them."""

    def __init__(self, store: RunStore, settings: Settings, run: RunStatus, ledger: Ledger) -> None:
        self._store = store
        self._settings = settings
        self._run = run
        self._ledger = ledger
        self._seq = store.last_seq
        self._server: StatusServer | None = None
        self._workers: dict[int, WorkerActivity] = {}
        self.lanes: Sequence[Lane] = ()         # those of the supervisor
        self.load: Callable[[], Sequence[NodeLoad]] = tuple     # of the nodes of a cluster

    def on_fact(self, fact: Fact) -> None:
        """Apply a committed fact, and send it to the clients."""
        at = self._store.now()
        self._run.apply(fact, at)
        self._seq += 1
        if self._server is not None:
            self._server.on_fact(_line(self._seq, at, fact))

    def observe(self, activity: WorkerActivity) -> None:
        """Note the new activity of a worker."""
        self._workers[activity.worker] = activity

    def status(self) -> dict[str, JSON]:
        """The object of /status."""
        balance, spending = self._ledger.balance, self._run.spending
        spent: dict[str, JSON] = _spent(spending.total)
        spent["in_flight"] = balance.total.in_flight
        spent["by_role"] = {role: _spent(each) for role, each in spending.by_role.items()}
        spent["left"] = {**balance.left(self._ledger.elapsed_s)}
        return {
            "run": str(self._store.folder), **progress_of(self._run, self._settings), "spend": spent,
            "workers": [asdict(activity) for _, activity in sorted(self._workers.items())],
            "nodes": self._nodes(),
            "lanes": {lane.name: {"busy": lane.busy, "limit": lane.most} for lane in self.lanes},
            "wall_s": round(self._ledger.elapsed_s, 3), "facts": self._seq,
        }

    def _nodes(self) -> list[JSON]:
        """The nodes of a cluster: those that are there with their load, and those that were."""
        load = {each.node: each for each in self.load()}
        done = self._run.nodes
        return [
            {
                "node": node, "workers": load[node].workers if node in load else 0,
                "busy": load[node].busy if node in load else 0, "episodes": done[node].episodes if node in done else 0,
                "wall_s": round(done[node].wall_s, 3) if node in done else 0.0,
            }
            for node in dict.fromkeys([*load, *done])
        ]

    def metrics(self) -> dict[str, float]:
        """The numbers of /metrics. An unknown cost is omitted, because it is not 0."""
        run = self._run
        values: dict[str, float] = {
            "memento_candidates_total": run.candidates,
            "memento_candidates_failed_total": run.failed,
            "memento_candidates_expected": run.candidates_expected,
            "memento_episodes_total": run.episodes,
            "memento_facts_total": self._seq,
            "memento_wall_seconds": self._ledger.elapsed_s,
            "memento_calls_in_flight": self._ledger.balance.total.in_flight,
        }
        if run.elite is not None:
            values["memento_generation"] = run.elite.generation
            values["memento_elite_fitness"] = run.elite.fitness
            if run.elite.success_rate is not None:
                values["memento_elite_success"] = run.elite.success_rate
            if run.elite.mean_return is not None:
                values["memento_elite_return"] = run.elite.mean_return
        for node in self.load():
            values[f'memento_node_workers{{node="{node.node}"}}'] = node.workers
            values[f'memento_node_busy{{node="{node.node}"}}'] = node.busy
        for name, pick in _ROLE_METRICS.items():
            for role, spent in run.spending.by_role.items():
                value = pick(spent)
                if value is not None:
                    values[f'{name}{{role="{role}"}}'] = value
        for lane in self.lanes:
            values[f'memento_lane_busy{{lane="{lane.name}"}}'] = lane.busy
            values[f'memento_lane_limit{{lane="{lane.name}"}}'] = lane.most
        return dict(sorted(values.items()))

    def after(self, seq: int) -> Iterator[FactLine]:
        """The facts of the log with a larger sequence number."""
        return (_line(entry.seq, entry.at, entry.fact) for entry in self._store.facts_after(seq))

    @asynccontextmanager
    async def serve(self, address: StatusAddress | None) -> AsyncIterator[None]:
        """Serve the status during the block if `address` is given. Raises UsageError if the port cannot be used."""
        if address is None:
            yield
            return
        source = StatusSource(status=self.status, metrics=self.metrics, after=self.after)
        async with open_status(source, host=address.host, port=address.port) as server:
            self._server = server
            address.tell(server.url)
            yield


_ROLE_METRICS: Mapping[str, Callable[[RoleSpending], float | None]] = {
    "memento_model_calls_total": lambda spent: spent.calls,
    "memento_model_tokens_total": lambda spent: spent.tokens,
    "memento_model_cost_usd_total": lambda spent: spent.cost_usd,
}


def _spent(spent: RoleSpending) -> dict[str, JSON]:
    return {
        "calls": spent.calls, "attempts": spent.attempts, "tokens": spent.tokens,
        "cached_tokens": spent.cached_tokens, "cost_usd": spent.cost_usd,
    }


def _line(seq: int, at: float, fact: Fact) -> FactLine:
    """A fact for the clients: with the hashes of programs, prompts and replies, as in the log."""
    encoded = encode(fact)
    head = json.dumps({"seq": seq, "at": round(at, 3), "kind": encoded.kind, "order": encoded.order})
    return FactLine(seq=seq, kind=encoded.kind, json=f'{head[:-1]}, "fact": {encoded.body}}}')
