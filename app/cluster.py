"""The machines that roll out: this one, or the nodes of a cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from ..agents.rollout_agents import remake
from ..core.errors import MementoError, RecordingLost, UsageError
from ..core.events import EpisodeEnded
from ..core.operators import OPERATORS
from ..core.order_ids import RANDOM, SEARCH, owner_of, parse
from ..core.ports import RollTask
from ..core.recording_file import trajectory_key
from ..core.values import JSON, Episode
from ..memory.lookup import find
from ..memory.store import RunStore
from ..runtime.cluster.about import About, about_here, why_unfit
from ..runtime.cluster.link import ClusterLink, NodeFound, NodeReport
from ..runtime.cluster.members import NodeTerms
from ..runtime.cluster.pool import ClusterPool
from ..runtime.rollouts.pool import Observer, ProcessPool
from ..settings import Settings
from .isolation import live_layers, require_sandbox


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The address of a cluster, as given, and the most rollouts at once; None: as many as it has free CPUs.

    With `mixed` it may have nodes whose episodes differ in the last bit.
    """

    address: str
    workers: int | None = None
    mixed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Where programs run. `layers` isolate them there; without a `link` that is on this machine.

    `places` are the rollouts at once on a cluster at the start; None on this machine.
    """

    layers: tuple[str, ...]
    isolated: bool
    link: ClusterLink | None = None
    workers: int | None = None
    mixed: bool = False
    places: int | None = None

    def pool(
        self, *, domain: str, splits: Mapping[str, Mapping[str, JSON]], workers: int, trajectories: Path,
        observer: Observer | None = None, python: str | None = None, domains: Mapping[str, str] | None = None,
        stays: Callable[[RollTask], bool] | None = None, warm: str | None = None,
    ) -> ProcessPool | ClusterPool:
        """A pool on these machines; `workers` counts those of this machine, which `warm` concerns as well.

        See ProcessPool for `warm`, and ClusterPool for `stays`.
        """
        if self.link is None:
            return ProcessPool(
                domain=domain, splits=splits, workers=workers, trajectories=trajectories, observer=observer,
                python=python, domains=domains, warm=warm,
            )
        return ClusterPool(
            self.link, domain=domain, splits=splits, trajectories=trajectories, observer=observer, python=python,
            domains=domains, stays=stays, terms=NodeTerms(
                isolated=self.isolated, layers=self.layers, workers=self.workers, calibrate=True, mixed=self.mixed
            ),
        )


@asynccontextmanager
async def machines(cluster: Cluster | None, *, isolated: bool) -> AsyncIterator[Machines]:
    """This machine, or the nodes of a connected cluster. With `isolated` programs must be isolated there.

    Raises UsageError if no cluster answers, if none of its nodes can be used, or if programs are not isolated.
    """
    if cluster is None:
        layers = live_layers()
        if isolated:
            require_sandbox(layers)
        yield Machines(layers=layers, isolated=isolated)
        return
    async with ClusterLink(cluster.address) as link:
        fit = await _fit(link, isolated=isolated)
        cpus = sum(node.cpus for node, _ in fit)
        yield Machines(
            layers=tuple(layer for layer in fit[0][1].layers if all(layer in about.layers for _, about in fit)),
            isolated=isolated, link=link, workers=cluster.workers, mixed=cluster.mixed,
            places=cpus if cluster.workers is None else min(cpus, cluster.workers),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """A node, and why it cannot be used from here; None if it can."""

    report: NodeReport
    why: str | None


async def survey(address: str, *, isolated: bool) -> list[Surveyed]:
    """Every node of the cluster at an address. With `isolated` a node must isolate programs. Raises UsageError."""
    async with ClusterLink(address) as link:
        return await _surveyed(link, isolated=isolated)


async def _surveyed(link: ClusterLink, *, isolated: bool) -> list[Surveyed]:
    here = await asyncio.to_thread(about_here)
    return [
        Surveyed(
            report=report,
            why=report.why if report.about is None else why_unfit(report.about, here, isolated=isolated),
        )
        for report in await link.survey()
    ]


async def _fit(link: ClusterLink, *, isolated: bool) -> list[tuple[NodeFound, About]]:
    """The nodes that can be used, and what they say about themselves. Raises UsageError if none can."""
    nodes = await _surveyed(link, isolated=isolated)
    fit = [
        (node.report.node, node.report.about) for node in nodes if node.why is None and node.report.about is not None
    ]
    if not fit:
        reasons = "; ".join(f"{node.report.node.name}: {node.why}" for node in nodes) or "it has no node"
        raise UsageError(f"the cluster at {link.address} has no node that can be used: {reasons}")
    return fit


# Recordings that stay on the nodes of a cluster: which ones, and how they come here, or are made again if lost.


END_S: Final = 20.0     # for recordings that are still to come when a run ends
TRIES: Final = 3
SPLIT: Final = "search"

_log = structlog.get_logger("memento.cluster")


def staying(settings: Settings) -> Callable[[RollTask], bool]:
    """Which recordings may stay on their nodes: those of candidates, unless the run keeps or looks at all of them."""
    if settings.keep_trajectories or settings.looks or settings.proposer_turns:
        return lambda _: False
    return lambda task: _made_by(task.order)


def _made_by(order: str) -> bool:
    """Whether an order is the rollout of a candidate that can be made again from the log."""
    found = parse(order)
    written = found.branch == RANDOM or OPERATORS[OPERATORS.of_word(found.branch)].needs_model  # so the log has it
    return (
        found.stage == SEARCH and written and found.vector is None and found.episode is not None
        and not found.part
    )


class Rollouts:
    """The rollouts of candidates in a run's log, by the keys of their recordings."""

    def __init__(self, store: RunStore) -> None:
        self._store = store

    def again(self, key: str) -> RollTask:
        """The task that made a recording. Raises RecordingLost if the log does not have it."""
        return self._found(key)[0]

    def steps(self, key: str) -> int:
        """The length of the episode. Raises RecordingLost if the log does not have it."""
        return self._found(key)[1].steps

    def _found(self, key: str) -> tuple[RollTask, Episode]:
        order = key.replace("_", "/")
        if trajectory_key(order) == key and _made_by(order):
            owner = owner_of(order)
            made = find(self._store, owner)
            ended = [
                fact.episode for fact in self._store.facts(only=(EpisodeEnded,), about=owner)
                if isinstance(fact, EpisodeEnded) and fact.order == order
            ]
            if made is not None and made.program is not None and ended:
                [episode] = ended
                return RollTask(
                    order=order, program=made.program, split=SPLIT, index=episode.index, seed=episode.seed
                ), episode
        raise RecordingLost(f"the recording {key} is lost, and the log cannot make it again: start the run again")


class Bringing:
    """Brings recordings from nodes to this disk in the background; `arrived` is called with the key of each."""

    def __init__(self, pool: ClusterPool, rollouts: Rollouts, arrived: Callable[[str], None]) -> None:
        self._pool = pool
        self._rollouts = rollouts
        self._arrived = arrived
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, keys: Iterable[str]) -> None:
        """Bring these, each once at a time."""
        for key in keys:
            if key not in self._tasks:
                self._tasks[key] = asyncio.create_task(self._bring(key))

    async def end(self) -> None:
        """Wait for what is under way, for a time; what did not come can be rolled out again when somebody asks."""
        if self._tasks:
            _, late = await asyncio.wait([*self._tasks.values()], timeout=END_S)
            _missed([key for key, task in self._tasks.items() if task in late], "the run ended")
            for task in late:
                task.cancel()

    async def _bring(self, key: str) -> None:
        try:
            await self._brought(key)
            self._arrived(key)
        except MementoError as error:
            _missed([key], str(error))
        finally:
            del self._tasks[key]

    async def _brought(self, key: str) -> None:
        for _ in range(TRIES):
            try:
                return await self._pool.bring(key)
            except RecordingLost:
                await remake(self._pool, self._rollouts.again(key), steps=self._rollouts.steps(key))
        return await self._pool.bring(key)


def _missed(keys: Sequence[str], why: str) -> None:
    if keys:
        _log.warning("recordings-missed", keys=[*keys], why=why)
