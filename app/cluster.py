"""The machines that roll out: this one, or the nodes of a cluster that an extension connects to."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

import structlog

from ..core import extensions
from ..core.events import EnvironmentRemembered
from ..core.extras import replaced_packages, replaced_words
from ..core.ports import ClusterService, RemotePool, RollTask
from ..core.values import JSON
from ..runtime.rollouts.pool import ProcessPool
from ..runtime.rollouts.worker_slots import Observer
from .isolation import live_layers, require_sandbox

_log = structlog.get_logger("memento.rollouts")

RAY: Final = "ray"      # what an address without a scheme means


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The address of a cluster, as given, and the most rollouts at once; None: as many as it has free CPUs.

    With `mixed` it may have nodes whose episodes differ in the last bit.
    """

    address: str
    workers: int | None = None
    mixed: bool = False


def service_of(address: str) -> ClusterService:
    """The extension that connects to a cluster at this address. Raises UsageError if it cannot be loaded."""
    scheme, separator, _ = address.partition("://")
    known = separator and scheme in extensions.names(extensions.POOLS)
    return cast(ClusterService, extensions.load(extensions.POOLS, scheme if known else RAY))


@dataclass(frozen=True, slots=True, kw_only=True)
class Machines:
    """Where programs run. `layers` isolate them there; without a `remote` maker of pools that is on this machine.

    `places` are the rollouts at once on a cluster at the start; None on this machine.
    """

    layers: tuple[str, ...]
    isolated: bool
    remote: Callable[..., RemotePool] | None = None
    places: int | None = None

    def pool(
        self, *, domain: str, splits: Mapping[str, Mapping[str, JSON]], workers: int, trajectories: Path,
        observer: Observer | None = None, python: str | None = None, domains: Mapping[str, str] | None = None,
        stays: Callable[[RollTask], bool] | None = None, warm: str | None = None, compared: bool = False,
        alone: bool = False, remembers: Callable[[str, int, bool], None] | None = None,
    ) -> ProcessPool | RemotePool:
        """A pool on these machines; `workers` counts those of this machine, which `warm` concerns as well.

        See ProcessPool for `warm`, and for how rollouts are `compared` here; core.ports.Connected for `stays`.
        """
        if self.remote is None:
            return ProcessPool(
                domain=domain, splits=splits, workers=workers, trajectories=trajectories, observer=observer,
                python=python, domains=domains, warm=warm, compared=compared, alone=alone,
                remembers=remembers or noting_memory([]),
            )
        return self.remote(
            domain=domain, splits=splits, trajectories=trajectories, observer=observer, python=python, domains=domains,
            stays=stays,
        )


def noting_memory(found: list[bool]) -> Callable[[str, int, bool], None]:
    """What warns that the environment keeps something of earlier episodes, and adds to `found` what `alone` says."""
    def note(differs: str, before: int, alone: bool) -> None:
        _log.warning("environment-remembers",
                     what=EnvironmentRemembered(differs=differs, before=before, alone=alone).text)
        found.append(alone)

    return note


@asynccontextmanager
async def machines(cluster: Cluster | None, *, isolated: bool) -> AsyncIterator[Machines]:
    """This machine, or the nodes of a connected cluster. With `isolated` programs must be isolated there.

    Raises UsageError if no cluster answers, if none of its nodes can be used, or if programs are not isolated.
    """
    for name, (locked, here) in replaced_packages().items():
        _log.warning("package-replaced", what=replaced_words(name, locked, here))
    if cluster is None:
        layers = live_layers()
        if isolated:
            require_sandbox(layers)
        yield Machines(layers=layers, isolated=isolated)
        return
    service = service_of(cluster.address)
    async with service.connect(
        cluster.address, workers=cluster.workers, mixed=cluster.mixed, isolated=isolated
    ) as found:
        yield Machines(layers=found.layers, isolated=isolated, remote=found.pool, places=found.places)
