"""What simulators raise, in a worker: a failure of theirs, not of MEMENTO and not of a policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ...core.errors import MementoError, StoreError
from ...core.ports import InvalidAction, SimulatorFailed
from ...core.text import error_words
from .program_process import Aborted
from .worker_messages import ControllerGone

OURS: Final = (StoreError, Aborted, ControllerGone)     # may pass through a simulator's methods


def failure_of(error: BaseException) -> SimulatorFailed:
    """What a simulator raised, or its attempt to end the process, in words. Raises what is ours again."""
    if isinstance(error, OURS):
        raise error
    if isinstance(error, MementoError):
        return SimulatorFailed(str(error))      # a sentence for the user already
    return error if isinstance(error, SimulatorFailed) else SimulatorFailed(error_words(error))


@contextmanager
def simulating() -> Iterator[None]:
    """What the simulator raises within, as SimulatorFailed; InvalidAction as it is."""
    try:
        yield
    except InvalidAction:
        raise
    except (Exception, SystemExit) as error:
        raise failure_of(error) from error
