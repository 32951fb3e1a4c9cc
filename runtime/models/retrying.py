"""Why a request to a model gave no answer, and how long to wait before it is sent again."""

from dataclasses import dataclass
from random import Random

from .gate import CallLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that was not answered.

    `retry`: sending it again may help. `fatal`: no other request to this model would be answered either.
    """

    problem: str                        # what happened, as the end of a sentence; holds no key
    retry: bool = False
    fatal: bool = False
    overloaded: bool = False
    retry_after_s: float | None = None  # what the provider asked for


def wait_s(failures: int, failure: Failure, limits: CallLimits, draw: Random) -> float:
    """Seconds to wait after the `failures`-th failure of a call (1, 2, …).

    The provider's own Retry-After is kept to, with up to a tenth more so that waiting calls do not come
    back all at once; else the wait doubles each time, with a jitter of half its length either way.
    """
    if failure.retry_after_s is not None:
        return failure.retry_after_s * (1 + 0.1 * draw.random())
    mean_s = min(limits.backoff_cap_s, limits.backoff_s * 2.0 ** min(failures - 1, 60))
    return mean_s * (0.5 + draw.random())
