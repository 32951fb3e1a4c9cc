"""The twin for the gate and the practice of a run, and the check that programs run in it."""

import tempfile
from pathlib import Path

from ..core.errors import UsageError
from ..core.ports import Domain, Twin, interpreter_of, twin_for
from ..domains import import_string, load, require_installed
from ..runtime.rollouts.pool import ProcessPool
from ..search.gate import GATE_SPLIT
from ..settings import Settings

SPLIT = "search"


def twin_of(settings: Settings, domain: Domain) -> Twin | None:
    """The twin of a run; None if it needs none. Raises UsageError if the domain has none."""
    needed = settings.gate == "on" or (settings.proposer_turns and settings.practice_on == "twin")
    return twin_for(domain, settings.options) if needed else None


async def require_twin(settings: Settings, domain: Domain) -> None:
    """Raise UsageError if a run has a gate, and programs of its domain cannot run in the twin."""
    twin = twin_of(settings, domain)
    if twin is None or settings.gate == "off":
        return
    require_installed(twin.domain)
    other = load(twin.domain, settings.provenance)
    if (other.contract, other.evaluator_contract) != (domain.contract, domain.evaluator_contract):
        raise _misfit(settings, twin, "its programs have other classes or methods")
    with tempfile.TemporaryDirectory(prefix="memento-gate-") as text:
        async with ProcessPool(
            domain=import_string(settings.domain), domains={GATE_SPLIT: import_string(twin.domain)},
            splits={SPLIT: settings.options, GATE_SPLIT: twin.options}, workers=1, trajectories=Path(text),
            python=interpreter_of(domain, settings.options, settings.provenance),
        ) as pool:
            try:
                await pool.require_twin(SPLIT, GATE_SPLIT)
            except UsageError as error:
                raise _misfit(settings, twin, str(error)) from None


def _misfit(settings: Settings, twin: Twin, why: str) -> UsageError:
    return UsageError(
        f"the gate cannot try programs for {settings.domain!r} on {twin.domain!r}: {why}; remove gate = 'on'"
    )
