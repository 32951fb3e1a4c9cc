"""The checks of `memento doctor --cluster`: every node of a cluster, and whether it can be used from here."""

import asyncio
from collections.abc import Iterator

from ..app.cluster import Surveyed, survey
from ..runtime.rollouts import sandbox
from .doctor_checks import CLUSTER, Finding


def examine_cluster(address: str, *, isolated: bool) -> Iterator[Finding]:
    """One finding for each node. With `isolated` one that cannot isolate programs is "missing". Raises UsageError."""
    for node in asyncio.run(survey(address, isolated=isolated)):
        yield _finding(node, address)


def _finding(found: Surveyed, address: str) -> Finding:
    report = found.report
    words = f"{report.node.host}, {report.node.cpus} CPUs"
    if report.node.free >= 0:
        words += f" ({report.node.free} free)"
    fix = "" if found.why is None else f"not used: {found.why}"
    if report.about is not None:
        versions = ", ".join(f"{name} {version}" for name, version in report.about.versions.items())
        missing = [layer for layer in sandbox.ISOLATING if layer not in report.about.layers]
        isolation = f"NOT ISOLATED ({', '.join(missing)} missing)" if missing else "isolates programs"
        words += f", {report.about.cpu}; {isolation}: {', '.join(report.about.layers)}; {versions}"
    return Finding(
        topic=f"{CLUSTER} at {address}", name=report.node.address, state="ok" if found.why is None else "missing",
        words=words, fix=fix,
    )
