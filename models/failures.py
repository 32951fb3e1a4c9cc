"""Failed requests: whether and when to retry. This module holds all handling of a provider's Retry-After.

    requested_wait_s    reads it from the client library's error
    wait_s              the wait of the failed call
    shared_wait_s       the wait of all calls of the account, at most a call's deadline
    wait_note           its mention in the error message
"""

from dataclasses import dataclass
from random import Random

from ..core.values import Usage
from .call_limits import CallLimits


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that was not answered.

    `retry`: sending it again may help. `fatal`: no other request to this model would be answered either.
    `form`: the request itself was refused, not the key, the account or the name of the model; `of_pictures`: it had
    a picture. `outage`: it says nothing about this prompt, and another one would have failed as well. `unreachable`:
    the service never got the request. `foreign`: what came is no answer of such a service at all.
    """

    problem: str                        # what happened, as the end of a sentence; contains no key
    retry: bool = False
    fatal: bool = False
    form: bool = False
    of_pictures: bool = False
    overloaded: bool = False
    outage: bool = False
    unreachable: bool = False
    foreign: bool = False
    timed_out: bool = False             # by the limit of the whole call
    adapted: bool = False               # the next request goes without what the service refused
    room: int | None = None             # the prompt was too long: at most this many characters should do
    usage: Usage | None = None          # of an answer that cannot be used, and is paid for
    retry_after_s: float | None = None  # the provider's requested wait


def requested_wait_s(error: Exception) -> float | None:
    """The provider's Retry-After in seconds, from an error of pydantic-ai; None if there is none."""
    wait: float | None = getattr(error, "retry_after", None)
    return wait


def wait_s(failures: int, failure: Failure, limits: CallLimits, draw: Random) -> float:
    """Seconds to wait after the `failures`-th failure of a call (1, 2, …).

    The provider's Retry-After is respected, plus up to 10 % so that waiting calls do not all return at once;
    otherwise the wait doubles each time, with a jitter of ±50 %.
    """
    if failure.retry_after_s is not None:
        return failure.retry_after_s * (1 + 0.1 * draw.random())
    mean_s = min(limits.backoff_cap_s, limits.backoff_s * 2.0 ** min(failures - 1, 60))
    return mean_s * (0.5 + draw.random())


def shared_wait_s(failure: Failure, limits: CallLimits) -> float | None:
    """Seconds for which no call of the account is sent; None if only the failed call waits.

    A wait beyond a call's deadline must not hold all calls back, since they would never fail.
    """
    wait = failure.retry_after_s
    return wait if wait is not None and wait < limits.total_s else None


def wait_note(failure: Failure) -> str:
    """The wait that the provider requested, for the end of an error message; empty if it requested none."""
    if failure.retry and failure.retry_after_s is not None and failure.retry_after_s > 1:
        return f"; it asks to wait {failure.retry_after_s:.0f} s"
    return ""
