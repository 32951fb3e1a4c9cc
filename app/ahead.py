"""Rolling ahead: whether a run does it, and what joins what a search expects to the idle workers of a pool."""

from collections.abc import Iterable
from operator import is_
from typing import Any

from ..core.errors import UsageError
from ..core.events import Fact, Order, Roll
from ..core.ports import Domain, RollTask
from ..domains import PREFIXES, is_ours
from ..runtime.rollouts.pool import ProcessPool
from ..search.ahead import basis, likely_rolls
from ..settings import Settings
from .wiring import workers_of


def rolls_ahead(settings: Settings, domain: Domain) -> bool:
    """Whether idle workers roll episodes out ahead: where a model takes its time, and an episode costs nothing else.

    That is known of the simulators of MEMENTO and of Gymnasium; a domain of the user's may drive a robot, so they say
    so with "on". Raises UsageError for "on" where there is a real arm.
    """
    if workers_of(settings, domain, 2) == 1:
        if settings.roll_ahead == "on":
            raise UsageError("roll_ahead = 'on' is never right on a real arm, which would move for nothing: remove it")
        return False
    family = settings.domain.partition(":")[0]
    simulated = is_ours(settings.domain) or family in PREFIXES
    waits = settings.model != "offline"
    return settings.roll_ahead == "on" or (settings.roll_ahead == "auto" and simulated and waits)


class LookAhead:
    """Has the idle workers of a pool roll out what the search will probably order next."""

    def __init__(self, pool: ProcessPool, *, generations: int) -> None:
        self._pool = pool
        self._generations = generations
        self._basis: tuple[Any, ...] = ()
        self._last = ""     # the rollout that was ordered last
        self._likely: tuple[RollTask, ...] = ()

    def look(self, state: Any, ordered: Iterable[Order]) -> None:
        """Tell the pool what is expected in this state, and what is ordered; with None nothing is expected."""
        found, rolls = basis(state), [each for each in ordered if isinstance(each, Roll)]
        last = rolls[-1].id if rolls else self._last
        changed = len(found) != len(self._basis) or not all(map(is_, found, self._basis))
        if changed:
            self._basis = found
            self._likely = _tasks(likely_rolls(state, self._generations))
        if changed or last != self._last:
            self._last = last
            self._pool.expect(self._likely, _tasks(rolls))
        self._pool.go_on()

    def account(self) -> tuple[Fact, ...]:
        """What was rolled out ahead since the last account."""
        found = self._pool.account()
        return () if found is None else (found,)


def _tasks(orders: Iterable[Roll]) -> tuple[RollTask, ...]:
    return tuple(
        RollTask(order=each.id, program=each.program, split=each.split, index=each.index, seed=each.seed)
        for each in orders
    )
