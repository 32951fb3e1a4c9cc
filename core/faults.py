"""Why a program, or a reply that should have held one, failed: data about a candidate, never an error of ours."""

from dataclasses import dataclass
from enum import StrEnum


class FaultKind(StrEnum):
    """How a generated program failed."""

    NOT_STARTED = "not-started"  # it did not load, or its class could not be instantiated or reset
    CRASHED = "crashed"  # it raised, or its process died
    TIMED_OUT = "timed-out"  # it used more CPU or wall time than its limit
    TOO_SLOW = "too-slow"  # its calls took more CPU time than the run's step limit
    INVALID_ACTION = "invalid-action"  # an action of the wrong type, shape or with NaN
    SIMULATOR_FAILED = "simulator-failed"  # the simulator raised or died twice in a state that the policy reached
    INVALID_RESULT = "invalid-result"  # an evaluator returned something that is not a fitness and metrics
    # Kinds of replies that are not a program:
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    NO_PROGRAM = "no-program"  # prose only
    MANY_PROGRAMS = "many-programs"
    BAD_PATCH = "bad-patch"  # cannot be merged into its parent
    NOT_PYTHON = "not-python"  # does not parse
    BROKEN_CONTRACT = "broken-contract"  # lacks the class or a method
    MODEL_FAILED = "model-failed"  # the call itself failed for good
    NO_CONSTANTS = "no-constants"  # nothing to tune: the program names no numbers
    NOT_TUNED = "not-tuned"  # too few episodes for its constants, or no other values proved better
    STOPPED = "stopped-at-the-gate"  # it failed, or was clearly below its parent, on the domain's cheap twin
    BAD_VALUES = "bad-values"  # not values within the bounds of the constants that are calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why a generated program failed: data about a candidate, never an error of MEMENTO. Text is bounded."""

    kind: FaultKind
    message: str
    traceback: str = ""


_STOPPED = {FaultKind.STOPPED: "stopped at the gate", FaultKind.NOT_TUNED: "not tuned"}


def is_stopped(fault: Fault | None) -> bool:
    """Whether a slot ended before its episodes without a failure: at the gate, or as a tuning that found no gain."""
    return fault is not None and fault.kind in _STOPPED


def kind_words(fault: Fault) -> str:
    """The kind of a fault, as people read it."""
    return _STOPPED.get(fault.kind, fault.kind.value)


def in_words(fault: Fault) -> str:
    """The kind of a fault and its message."""
    return f"{kind_words(fault)}: {fault.message}"


def is_service_failure(fault: Fault | None) -> bool:
    """Whether the service of a model failed, not what the model wrote."""
    return fault is not None and fault.kind is FaultKind.MODEL_FAILED
