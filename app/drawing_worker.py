"""The worker that draws the sheets of a run, and the check that it can."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from ..core.errors import UsageError
from ..core.ports import Domain, Drawable, interpreter_of
from ..domains import import_string
from ..runtime.rollouts.pool import ProcessPool
from ..settings import Settings
from .gate_twin import SPLIT


@asynccontextmanager
async def sheet_worker(settings: Settings, domain: Domain, trajectories: Path) -> AsyncIterator[ProcessPool]:
    """A worker for drawing alone: what a graphics library does to its process cannot reach a rollout."""
    async with ProcessPool(
        domain=import_string(settings.domain), splits={SPLIT: settings.options}, workers=1, trajectories=trajectories,
        python=interpreter_of(domain, settings.options, settings.provenance),
    ) as pool:
        yield pool


async def require_drawing(settings: Settings, domain: Domain) -> None:
    """Raise UsageError if a run needs pictures of episodes and this machine cannot draw them."""
    if not settings.looks:
        return
    if not isinstance(domain, Drawable):
        raise UsageError(
            f"a critic needs pictures, and the domain {domain.name!r} draws none: it has no method renderer(options)"
        )
    with tempfile.TemporaryDirectory(prefix="memento-drawing-") as text:
        async with sheet_worker(settings, domain, Path(text)) as pool:
            try:
                await pool.require_drawing(SPLIT)
            except UsageError as error:
                raise UsageError(f"a critic needs pictures: {error}") from None
