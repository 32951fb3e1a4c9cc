"""What a calibration needs besides the settings of its run: a domain with a rig, and a policy with constants."""

from ..core.errors import UsageError
from ..core.methods import CALIBRATE
from ..core.ports import Calibrating, Domain, Rig
from ..core.programs.constants import calibrated
from ..core.values import Program
from ..settings import Settings


def rig_of(settings: Settings, domain: Domain) -> Rig:
    """The rig of a calibration. Raises UsageError for a domain that has none."""
    if not isinstance(domain, Calibrating):
        raise UsageError(f"the domain {settings.domain!r} has no robot to calibrate for: use memento cell calibrate")
    return domain.rig(settings.options)


def require_calibratable(settings: Settings, domain: Domain, initial: Program | None) -> None:
    """Raises UsageError for a calibration without a policy, or without constants to change."""
    if settings.method != CALIBRATE:
        return
    rig = rig_of(settings, domain)
    if initial is None:
        raise UsageError("a calibration needs a policy: give it with --initial FILE")
    calibrated(initial, rig.bounds)


def workers_of(settings: Settings, domain: Domain, wanted: int) -> int:
    """The trials at once: 1 where there is one arm, whatever was asked for."""
    if isinstance(domain, Calibrating) and domain.rig(settings.options).one_at_a_time:
        return 1
    return wanted
