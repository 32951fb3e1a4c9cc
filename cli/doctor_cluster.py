"""Every node of a cluster, and whether it can be used from here, for `memento doctor --cluster`."""

import asyncio
from collections.abc import Iterator

from ..app.cluster import service_of
from .doctor_checks import CLUSTER, Diagnosis


def examine_cluster(address: str, *, isolated: bool) -> Iterator[Diagnosis]:
    """One finding for each node. With `isolated` one that cannot isolate programs is "missing". Raises UsageError."""
    service = service_of(address)
    service.require(address)
    for node in asyncio.run(service.survey(address, isolated=isolated)):
        yield Diagnosis(
            topic=f"{CLUSTER} at {address}", name=node.address, state="ok" if node.why is None else "missing",
            words=node.words, fix="" if node.why is None else f"not used: {node.why}",
        )
