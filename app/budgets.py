"""A run's budgets: what may be spent, what was spent already, and what is refused before anything is."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches

import structlog

from ..core.errors import BudgetSpent, UsageError
from ..core.events import Fact, RunContinued, RunPaused
from ..core.ports import Ask, Model, Reply
from ..runtime.models.budget import Budget, BudgetedModel, Ledger, Purse, require_room, spent_in
from ..runtime.models.prices import Price, require_prices
from ..runtime.models.spec import ModelSpec, parse_specs
from ..settings import ALL, RoleBudget, Settings, asked

_log = structlog.get_logger("memento.budgets")


def models_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The models that each role of this run asks, as the user named them; no role that is never asked."""
    named = {
        "proposer": (settings.model,),
        "evaluator-writer": (settings.evaluator_model or settings.model,),
        "judge": settings.judges or (settings.model,),
    }
    return {role: named[role] for role in named if role in asked(settings.evaluator)}


def prices_of(settings: Settings) -> dict[str, Price]:
    """The user's own prices, by model name."""
    return {
        name: Price(input_usd_per_mtok=price.input, output_usd_per_mtok=price.output)
        for name, price in settings.prices.items()
    }


def ledger_of(settings: Settings, history: Iterable[Fact] = ()) -> Ledger:
    """The run's budgets, and what its facts say was spent."""
    run = RoleBudget(
        calls=settings.budget_calls, tokens=settings.budget_tokens, usd=settings.budget_usd,
        wall_s=settings.budget_wall_s,
    )
    return Ledger(
        run=_budget(run),
        roles={role: _budget(limits) for role, limits in settings.budget.items()},
        spent=spent_in(history),
    )


def _budget(limits: RoleBudget) -> Budget:
    return Budget(calls=limits.calls, tokens=limits.tokens, cost_usd=limits.usd, wall_s=limits.wall_s)


# --------------------------------------------------------------------------------- before anything is spent


def require_usable(settings: Settings) -> None:
    """Raise UsageError for a price that nobody knows under a money budget, and for what would have no effect."""
    specs = {
        role: {spec.name: spec for text in texts for spec in parse_specs(text)}
        for role, texts in models_of(settings).items()
    }
    every = {name: spec for role in specs.values() for name, spec in role.items()}
    _require_known_prices(settings, specs, every)
    _refuse_without_effect(settings, specs, every)


Specs = Mapping[str, ModelSpec]


def _require_known_prices(settings: Settings, specs: Mapping[str, Specs], every: Specs) -> None:
    prices = prices_of(settings)
    for role, limits in settings.budget.items():
        if limits.usd is not None:
            require_prices(specs[role].values(), prices)
    if settings.budget_usd is not None:
        require_prices(every.values(), prices)


def _refuse_without_effect(settings: Settings, specs: Mapping[str, Specs], every: Specs) -> None:
    """The offline model takes no tokens, no money and no sampling settings; calls and time count for it too."""
    where = {ALL: every, **specs}
    limits: dict[str, RoleBudget] = {ALL: RoleBudget(tokens=settings.budget_tokens, usd=settings.budget_usd)}
    limits |= dict(settings.budget.items())
    for role, limit in limits.items():
        for name in ("tokens", "usd"):
            if getattr(limit, name) is not None and _all_offline(where[role]):
                key = f"budget_{name}" if role == ALL else f"budget.{role}.{name}"
                raise UsageError(f"{key!r} has no effect with the offline model, which costs nothing: leave it out")
    for role in settings.sampling:
        if _all_offline(where[role]):
            key = "sampling" if role == ALL else f"sampling.{role}"
            raise UsageError(f"{key!r} has no effect with the offline model: leave it out")
    for name in settings.prices:
        if name not in every or name == "offline":
            near = get_close_matches(name, every, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"the run asks {', '.join(sorted(every))}"
            raise UsageError(f"the price of {name!r} has no effect: {meant}")


def _all_offline(specs: Specs) -> bool:
    return all(spec.scheme == "offline" for spec in specs.values())


def require_budget_left(ledger: Ledger, elapsed_s: float) -> None:
    """Raise UsageError where a resumed run could not ask anything."""
    refusal = ledger.refusal("", elapsed_s)
    if refusal is not None:
        raise UsageError(f"{refusal} Resume with a larger one.")
    require_room(ledger, elapsed_s)


# ------------------------------------------------------------------------------------------- while it runs


class ActiveTime:
    """Seconds that a run is worked on: stands still during a pause. Listens to the run's facts."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._paused_s = 0.0
        self._paused_at: float | None = None

    def heed(self, fact: Fact) -> None:
        """Take a committed fact in."""
        if isinstance(fact, RunPaused) and self._paused_at is None:
            self._paused_at = self._elapsed()
        elif isinstance(fact, RunContinued) and self._paused_at is not None:
            self._paused_s += self._elapsed() - self._paused_at
            self._paused_at = None

    def __call__(self) -> float:
        """The time so far."""
        return (self._elapsed() if self._paused_at is None else self._paused_at) - self._paused_s


class Till:
    """The purse of a run, and word of when no call is under way."""

    def __init__(self, purse: Purse) -> None:
        self.purse = purse
        self._under_way = 0
        self._told = False
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def call(self) -> Iterator[None]:
        """A call is under way."""
        self._under_way += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._under_way -= 1
            if self._under_way == 0:
                self._idle.set()

    def tell(self, spent: BudgetSpent) -> None:
        """Say, once, which budget is spent."""
        if not self._told:
            self._told = True
            _log.warning("budget-spent", what=str(spent))

    async def idle(self) -> None:
        """Wait until no call is under way; each of them has a deadline of its own."""
        await self._idle.wait()


class FrugalModel:
    """A Model within the run's budgets.

    A refusal is held back until the calls that are under way have come home: they are paid for, and a run
    that is left drops what is unfinished.
    """

    def __init__(self, model: Model, till: Till) -> None:
        self.name = model.name
        self._model = BudgetedModel(model, till.purse)
        self._till = till

    async def complete(self, ask: Ask) -> Reply:
        """The model's answer. Raises BudgetSpent, without having sent anything, where there is no budget."""
        try:
            with self._till.call():
                return await self._model.complete(ask)
        except BudgetSpent as spent:
            self._till.tell(spent)
            await self._till.idle()
            raise

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def require_time(purse: Purse) -> None:
    """Raise BudgetSpent once the run's wall time is spent, whatever the run is doing."""
    limit_s = purse.ledger.run.wall_s
    if limit_s is not None and purse.elapsed_s >= limit_s:
        spent = BudgetSpent(f"The run's budget of {limit_s:g} s is spent. What the run has is kept.")
        _log.warning("budget-spent", what=str(spent))
        raise spent
