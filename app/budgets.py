"""The budgets of a run from its settings, the checks before anything is spent, and the active time."""

import time
from collections.abc import Callable, Mapping, Set
from typing import Final

from ..core.errors import UsageError, no_such
from ..core.events import Fact, RunContinued, RunPaused
from ..core.text import duration
from ..models.budget import Balance, Budget, Spent
from ..models.prices import Price, require_prices
from ..models.providers import COMMAND
from ..models.spec import ModelSpec, parse_specs
from ..settings import ALL, ATTACKER, CRITIC, RoleBudget, Settings, roles_of

OFFLINE: Final = "offline"


def models_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The models of each role in use, by the names that the user gave."""
    writer = settings.evaluator_model or settings.model
    named = {
        "proposer": (settings.model,),
        "evaluator-writer": (writer,),
        "judge": settings.judges or (settings.model,),
    }
    roles = {role: named[role] for role in named if role in roles_of(settings.evaluator)}
    attacker = settings.attacker_model or writer
    if settings.evaluator_attacks and attacker != OFFLINE:      # whose part of an attack is breeding
        roles[ATTACKER] = (attacker,)
    return roles if settings.critic is None else {**roles, CRITIC: (settings.critic,)}


def prices_of(settings: Settings) -> dict[str, Price]:
    """The user's own prices, by model name."""
    return {
        name: Price(
            input_usd_per_mtok=price.input, output_usd_per_mtok=price.output,
            cached_usd_per_mtok=price.cached, cache_written_usd_per_mtok=price.cache_written,
        )
        for name, price in settings.prices.items()
    }


def left_in_words(left: Mapping[str, float]) -> str:
    """What is left of budgets (`Ledger.left`), for a prompt; "" without budgets."""
    forms: Mapping[str, Callable[[float], str]] = {
        "calls": "{:,.0f} calls".format, "tokens": "{:,.0f} tokens".format, "cost_usd": "${:.2f}".format,
        "wall_s": duration,
    }
    return ", ".join(form(left[name]) for name, form in forms.items() if name in left)


def balance_of(settings: Settings, spent: Mapping[str, Spent]) -> Balance:
    """The run's budgets, and the spending of its roles so far."""
    run = RoleBudget(
        calls=settings.budget_calls, tokens=settings.budget_tokens, usd=settings.budget_usd,
        wall_s=settings.budget_wall_s,
    )
    return Balance(
        run=_budget(run),
        roles={role: _budget(limits) for role, limits in settings.budget.items()},
        spent=spent,
    )


def _budget(limits: RoleBudget) -> Budget:
    return Budget(calls=limits.calls, tokens=limits.tokens, cost_usd=limits.usd, wall_s=limits.wall_s)


# --------------------------------------------------------------------------------- before anything is spent


def require_usable(settings: Settings) -> None:
    """Raise UsageError for an unknown price under a money budget, and for settings without effect."""
    specs = {
        role: frozenset(spec for text in texts for spec in parse_specs(text))
        for role, texts in {ATTACKER: (OFFLINE,), **models_of(settings)}.items()
    }
    every = frozenset(spec for role in specs.values() for spec in role)
    _refuse_asking_elsewhere(specs)
    _refuse_critic_of_offline(settings, specs)
    _require_known_prices(settings, specs, every)
    _refuse_without_effect(settings, specs, every)


Specs = Set[ModelSpec]      # never by name: two models of one name can have different addresses


def _refuse_critic_of_offline(settings: Settings, specs: Mapping[str, Specs]) -> None:
    """A critic serves writers that read prompts."""
    if settings.looks and _all_offline(specs["proposer"]):
        name = "'critic'" if settings.critic is not None else "critic_mode = 'pixels'"
        raise UsageError(f"{name} has no effect with the offline model, which reads no prompts: remove it")


def _require_known_prices(settings: Settings, specs: Mapping[str, Specs], every: Specs) -> None:
    prices = prices_of(settings)
    for role, limits in settings.budget.items():
        if limits.usd is not None:
            require_prices(specs[role], prices)
    if settings.budget_usd is not None:
        require_prices(every, prices)


def _refuse_asking_elsewhere(specs: Mapping[str, Specs]) -> None:
    for role, named in specs.items():
        if role != "judge" and _asks(named):
            raise UsageError(f"'ask' can be a judge, but no {role}: choose another model, and add --judge ask")


def _refuse_without_effect(settings: Settings, specs: Mapping[str, Specs], every: Specs) -> None:
    """The offline model uses no tokens, money or sampling settings; budgets of calls and time apply to it too."""
    where = {ALL: every, **specs}
    limits: dict[str, RoleBudget] = {ALL: RoleBudget(tokens=settings.budget_tokens, usd=settings.budget_usd)}
    limits |= dict(settings.budget.items())
    for role, limit in limits.items():
        for name in ("tokens", "usd"):
            if getattr(limit, name) is not None and _all_free(where[role]):
                key = f"budget_{name}" if role == ALL else f"budget.{role}.{name}"
                raise UsageError(f"{key!r} has no effect with {_names_of(where[role])}, which costs nothing: remove it")
    for role, asking in settings.sampling.items():
        if not any(spec.is_service for spec in where[role]):
            waits = any(spec.is_person or spec.is_command for spec in where[role])
            if not (waits and asking.model_dump(exclude_none=True).keys() <= {"total_s"}):
                key = "sampling" if role == ALL else f"sampling.{role}"
                also = ", except its 'total_s'" if waits else ""
                raise UsageError(f"{key!r} has no effect with {_names_of(where[role])}{also}: remove it")
    if settings.notes == "on" and _all_offline(specs["proposer"]):
        raise UsageError("notes = 'on' has no effect with the offline model, which leaves none: remove it")
    for role, asking in settings.sampling.items():
        if asking.tools is not None and (role not in (ALL, "proposer") or not settings.proposer_turns):
            key = "sampling.tools" if role == ALL else f"sampling.{role}.tools"
            raise UsageError(f"{key!r} has no effect but on proposers with proposer_turns: remove it")
    names = {spec.name for spec in every}
    for name in settings.prices:
        if name.startswith(f"{COMMAND}:"):
            raise UsageError(f"a price of {name!r} has no effect, since a program reports no tokens: remove it")
        if name not in names or name == "offline":
            raise no_such("model in the prices", name, names)


def _names_of(specs: Specs) -> str:
    """A role's models without settings of a service in a sentence."""
    if any(spec.is_command for spec in specs):
        return "a program as a model"
    return "the judge 'ask'" if _asks(specs) else "the offline model"


def _all_offline(specs: Specs) -> bool:
    return all(spec.is_offline for spec in specs)


def _asks(specs: Specs) -> bool:
    return any(spec.is_person for spec in specs)


def _all_free(specs: Specs) -> bool:
    return all(spec.free for spec in specs)


# ------------------------------------------------------------------------------------------- while it runs


class ActiveTime:
    """A stopwatch in seconds that stands still while the run is paused. It listens to the run's facts."""

    def __init__(self, elapsed: Callable[[], float] = time.monotonic) -> None:
        self._elapsed = elapsed
        self._paused_s = 0.0
        self._paused_at: float | None = None

    def on_fact(self, fact: Fact) -> None:
        """Apply a committed fact."""
        if isinstance(fact, RunPaused) and self._paused_at is None:
            self._paused_at = self._elapsed()
        elif isinstance(fact, RunContinued) and self._paused_at is not None:
            self._paused_s += self._elapsed() - self._paused_at
            self._paused_at = None

    def __call__(self) -> float:
        """The active time so far in seconds."""
        return (self._elapsed() if self._paused_at is None else self._paused_at) - self._paused_s
