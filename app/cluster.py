"""The machines that roll out: this one, or the nodes of a cluster."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import UsageError
from ..core.ports import RollTask
from ..core.values import JSON
from ..runtime.cluster.about import About, about_here, why_unfit
from ..runtime.cluster.link import ClusterLink, NodeFound, NodeReport
from ..runtime.cluster.members import Terms
from ..runtime.cluster.pool import ClusterPool
from ..runtime.rollouts.pool import Observer, ProcessPool
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
        stays: Callable[[RollTask], bool] | None = None,
    ) -> ProcessPool | ClusterPool:
        """A pool on these machines; `workers` counts those of this machine. See ClusterPool for `stays`."""
        if self.link is None:
            return ProcessPool(
                domain=domain, splits=splits, workers=workers, trajectories=trajectories, observer=observer,
                python=python, domains=domains,
            )
        return ClusterPool(
            self.link, domain=domain, splits=splits, trajectories=trajectories, observer=observer, python=python,
            domains=domains, stays=stays, terms=Terms(
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
