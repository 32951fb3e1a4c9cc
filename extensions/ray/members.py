"""The nodes that a pool uses: those of the cluster that fit, while they are there."""

import asyncio
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import structlog

from ...core.errors import UsageError
from .about import About, about_here, lost_layers, why_unfit
from .calls import Tasks
from .dispatch import Dispatcher, NodeJob
from .link import ClusterGone, ClusterLink, NodeFound, NodeLost

OPEN_S: Final = 150.0       # for a node to start its workers
BUSY_S: Final = 30.0        # after which a node is tried again whose CPUs another run took
NODELESS_S: Final = 600.0   # orders wait so long for a node to come (back)
CLOSE_S: Final = 8.0        # for a node to end its workers
MOST_OPENINGS: Final = 3    # of one node, which loses its host again and again

_log = structlog.get_logger("memento.cluster")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTerms:
    """What a run asks of nodes: `isolated` refuses those that cannot isolate programs, `layers` are those of the run.

    `workers` bounds the rollouts at once on all nodes; None: as many as the nodes have free CPUs. With `calibrate` a
    node whose episodes differ from the first one's in the last bits is refused; with `mixed` as well it is not.
    """

    isolated: bool = False
    layers: tuple[str, ...] = ()
    workers: int | None = None
    calibrate: bool = False
    mixed: bool = False


class Members:
    """Opens, refuses and closes nodes. `start` is what every node gets to know of the run; `names` gets their names.

    `on_joined` is called when a node can be used, `on_left` with the jobs that are given up when one is lost, and why,
    `on_none` with the reason when there has been no node for too long.
    """

    def __init__(
        self, link: ClusterLink, dispatcher: Dispatcher, tasks: Tasks, terms: NodeTerms, start: Mapping[str, Any], *,
        names: dict[str, str], on_joined: Callable[[], None], on_left: Callable[[Iterable[NodeJob], str], None],
        on_none: Callable[[str], None],
    ) -> None:
        self._link = link
        self._dispatcher = dispatcher
        self._tasks = tasks
        self._terms = terms
        self._start = start
        self._names = names
        self._on_joined, self._on_left, self._on_none = on_joined, on_left, on_none
        self._opening: dict[str, int] = {}          # workers that a node is starting
        self._openings: dict[str, int] = {}
        self._busy_until: dict[str, float] = {}
        self._refused: dict[str, str] = {}
        self._changed = asyncio.Event()
        self._nodeless_since: float | None = None
        self._here: About | None = None
        self._calibrated: tuple[str, str] | None = None     # the first node's calibration and its name
        self._closed = False

    async def first(self) -> None:
        """Open nodes until those that are there now are ready or refused, and one is ready. Raises UsageError."""
        self._here = await asyncio.to_thread(about_here)
        self.review()
        while self._opening or not self._dispatcher.nodes:
            if not self._opening and self._refused and all(node.id in self._refused for node in self._link.nodes):
                raise UsageError(self.why_none("none of them can be used"))
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._changed.wait()

    def review(self) -> None:
        """Compare the nodes of the cluster with those in use: open new ones, give up lost ones."""
        if self._closed or self._here is None:
            return
        alive = {node.id: node for node in self._link.nodes}
        for lost in [name for name in self._dispatcher.nodes if name not in alive]:
            self.lose(lost, "Ray reports that it is gone")
        for node in sorted(alive.values(), key=_turn):
            workers = self._workers_for(node)
            if workers > 0:
                self._names[node.id] = node.name
                self._opening[node.id] = workers
                self._openings[node.id] = self._openings.get(node.id, 0) + 1
                self._tasks.begin(self._open(node, workers))
        self._fail_nodeless()

    def lose(self, node: str, why: str) -> None:
        """A node is lost: others do its jobs."""
        if self._closed or node not in self._dispatcher.nodes:
            return
        given_up = self._dispatcher.leave(node)
        _log.warning("node-lost", node=self._names[node], why=why)
        self._tasks.begin(self._release(node))
        self._on_left(given_up, why)

    def why_none(self, what: str) -> str:
        """A sentence on why no node can be used."""
        reasons = "; ".join(self._refused.values()) or "none of them has a free CPU"
        return f"the cluster at {self._link.address} has {len(self._link.nodes)} nodes, and {what}: {reasons}"

    def leave(self) -> None:
        """Open no more nodes."""
        self._closed = True

    async def close(self) -> None:
        """End the workers of every node."""
        nodes = {*self._dispatcher.nodes, *self._openings} - {*self._refused}
        await asyncio.gather(*(self._release(node) for node in nodes))

    def _workers_for(self, node: NodeFound) -> int:
        """How many workers to start on a node now."""
        if node.id in self._opening or node.id in self._refused or node.id in self._dispatcher.nodes:
            return 0
        now = asyncio.get_running_loop().time()
        if self._openings.get(node.id, 0) >= MOST_OPENINGS or now < self._busy_until.get(node.id, now):
            return 0
        free = node.cpus if node.free < 0 else node.free
        if self._terms.workers is None:
            return free
        return min(free, self._terms.workers - self._dispatcher.slots - sum(self._opening.values()))

    async def _open(self, node: NodeFound, workers: int) -> None:
        """Start workers on a node and use it, if it fits."""
        why: str | None = None
        try:
            async with asyncio.timeout(OPEN_S):
                answer, _ = await self._link.ask({
                    "do": "open", "node": node.id, "workers": workers,
                    "start": json.dumps({**self._start, "workers": workers}),
                })
            if "busy" in answer:
                self._busy_until[node.id] = asyncio.get_running_loop().time() + BUSY_S
                self._openings[node.id] -= 1
                return
            why = self._why_unfit(node, About.of(answer["about"]), str(answer["calibration"]))
        except (NodeLost, TimeoutError, ClusterGone) as error:
            why = f"its workers could not be started: {error or f'not within {OPEN_S:g} s'}"
        finally:
            del self._opening[node.id]
        if self._closed:
            return
        if why is None:
            self._dispatcher.join(node.id, workers)
            _log.info("node-joined", node=node.name, workers=workers)
            self._on_joined()
        else:
            self._refused[node.id] = f"{node.name}: {why}"
            _log.warning("node-refused", node=node.name, why=why)
            await self._release(node.id)
        self._changed.set()

    def _why_unfit(self, node: NodeFound, about: About, calibration: str) -> str | None:
        assert self._here is not None
        why = why_unfit(about, self._here, isolated=self._terms.isolated)
        if why is None:
            self._calibrated = self._calibrated or (calibration, node.name)
            if calibration != self._calibrated[0]:
                differs = f"its episodes differ from those of {self._calibrated[1]} in the last bits"
                if not self._terms.mixed:
                    return f"{differs}, with the processor {about.cpu}: leave it out, or allow it with --mixed-nodes"
                _log.warning("node-differs", node=node.name, why=differs)
        if why is None and (lost := lost_layers(about, self._terms.layers)):
            _log.warning("isolation-lost", node=node.name, missing=", ".join(lost))
        return why

    async def _release(self, node: str) -> None:
        with suppress(NodeLost, ClusterGone, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._link.ask({"do": "close", "node": node})

    def _fail_nodeless(self) -> None:
        """Report if there has been no node for too long."""
        now = asyncio.get_running_loop().time()
        if self._dispatcher.nodes or self._opening:
            self._nodeless_since = None
        elif self._nodeless_since is None:
            self._nodeless_since = now
        elif now - self._nodeless_since > NODELESS_S:
            self._on_none(f"no node could be used for {NODELESS_S:g} s")


def _turn(node: NodeFound) -> str:
    """A different order of nodes for each controller, so that runs at the same time begin on different ones."""
    return hashlib.sha256(f"{os.getpid()} {node.id}".encode()).hexdigest()
