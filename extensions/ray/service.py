"""Connects to a Ray cluster: which of its nodes can be used from here, and the pool on them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from ...core.errors import UsageError
from ...core.ports import Connected, NodeSeen
from ...runtime.rollouts import sandbox
from .about import About, about_here, why_unfit
from .link import ClusterLink, NodeFound, NodeReport, require_cluster
from .members import NodeTerms
from .pool import ClusterPool


class RayService:
    """A core.ports.ClusterService."""

    def require(self, address: str) -> None:
        """Raise UsageError for an address that no Ray cluster can have, or if Ray is not installed."""
        require_cluster(address)

    @asynccontextmanager
    async def connect(
        self, address: str, *, workers: int | None, mixed: bool, isolated: bool
    ) -> AsyncIterator[Connected]:
        """Connect, and find the nodes that can be used. Raises UsageError if no cluster answers, or none can."""
        async with ClusterLink(address) as link:
            fit = await _fit(link, isolated=isolated)
            layers = tuple(layer for layer in fit[0][1].layers if all(layer in about.layers for _, about in fit))
            cpus = sum(node.cpus for node, _ in fit)
            yield Connected(
                layers=layers, places=cpus if workers is None else min(cpus, workers),
                pool=partial(ClusterPool, link, terms=NodeTerms(
                    isolated=isolated, layers=layers, workers=workers, calibrate=True, mixed=mixed
                )),
            )

    async def survey(self, address: str, *, isolated: bool) -> list[NodeSeen]:
        """Every node of the cluster. With `isolated` a node must isolate programs. Raises UsageError."""
        async with ClusterLink(address) as link:
            nodes = await _survey(link, isolated=isolated)
        return [NodeSeen(address=report.node.address, words=_words(report), why=why) for report, why in nodes]


SERVICE = RayService()


async def _survey(link: ClusterLink, *, isolated: bool) -> list[tuple[NodeReport, str | None]]:
    """Every node, and why it cannot be used from here; None if it can."""
    here = await asyncio.to_thread(about_here)
    return [
        (report, report.why if report.about is None else why_unfit(report.about, here, isolated=isolated))
        for report in await link.survey()
    ]


async def _fit(link: ClusterLink, *, isolated: bool) -> list[tuple[NodeFound, About]]:
    """The nodes that can be used, and what they say about themselves. Raises UsageError if none can."""
    nodes = await _survey(link, isolated=isolated)
    fit = [(report.node, report.about) for report, why in nodes if why is None and report.about is not None]
    if not fit:
        reasons = "; ".join(f"{report.node.name}: {why}" for report, why in nodes) or "it has no node"
        raise UsageError(f"the cluster at {link.address} has no node that can be used: {reasons}")
    return fit


def _words(report: NodeReport) -> str:
    """What a person should know of a node: processors, isolation, versions."""
    words = f"{report.node.host}, {report.node.cpus} CPUs"
    if report.node.free >= 0:
        words += f" ({report.node.free} free)"
    if report.about is not None:
        versions = ", ".join(f"{name} {version}" for name, version in report.about.versions.items())
        missing = [layer for layer in sandbox.ISOLATING if layer not in report.about.layers]
        isolation = f"NOT ISOLATED ({', '.join(missing)} missing)" if missing else "isolates programs"
        words += f", {report.about.cpu}; {isolation}: {', '.join(report.about.layers)}; {versions}"
    return words
