"""What runs that the server starts may spend: nothing, or what the person who started the server allowed, in total."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ...app.budgets import models_of
from ...core.errors import UsageError
from ...memory.runs import is_run
from ...memory.tail import read_view
from ...models.spec import ModelSpec
from ...settings import Settings
from ...settings.effects import paid_specs

KINDS: Final[Mapping[str, type[int] | type[float]]] = {"calls": int, "tokens": int, "usd": float}
Amounts = Mapping[str, float]       # by kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The models that may be asked, and the most that all runs together may spend on them, by kind."""

    models: tuple[ModelSpec, ...]
    most: Amounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a run may spend beyond `before`, which it had spent when it was first granted something."""

    before: Amounts
    most: Amounts


@dataclass(slots=True)
class Allowance:
    """The bounds of a server, and what its runs were granted. Without bounds no run may ask a model that costs."""

    bounds: Bounds | None
    is_live: Callable[[Path], bool]     # whether a run may still spend
    _grants: dict[Path, Grant] = field(default_factory=dict)

    def left(self) -> dict[str, float]:
        """What may still be granted: a run that is live counts with all of its grant, another with what it spent."""
        most = {} if self.bounds is None else self.bounds.most
        return {kind: most[kind] - sum(self._used(folder, kind) for folder in self._grants) for kind in most}

    def budgets_for(self, settings: Settings, *, folder: Path | None = None) -> dict[str, float]:
        """The budgets, such as "budget_usd", with which a run may start, or continue in its folder; {} if it is free.

        Raises UsageError for a model that may not be asked, and for a budget above what is left.
        """
        paid = paid_models(settings)
        if not paid:
            return {}
        allowed = require_allowed(paid, self.bounds)
        before = {} if folder is None else spent_in(folder)
        asked = {kind: getattr(settings, f"budget_{kind}") for kind in KINDS}
        return granted(asked, left=self.left(), before=before, within=allowed)

    def require_may_go_on(self, settings: Settings, folder: Path) -> None:
        """Raise UsageError for a live run that would spend what this server did not grant it."""
        if paid_models(settings) and folder not in self._grants:
            raise UsageError(
                f"the run {folder.name!r} asks a model that may cost money, and another program started it: ask the "
                "person who did to continue it"
            )

    def grant(self, folder: Path, budgets: Amounts) -> None:
        """Record that the run in `folder` is about to go on with these budgets, which `budgets_for` gave."""
        if not budgets:
            return
        known = self._grants.get(folder)
        before = known.before if known is not None else spent_in(folder)
        totals = {kind: budgets[f"budget_{kind}"] for kind in KINDS if f"budget_{kind}" in budgets}
        self._grants[folder] = Grant(
            before=before, most={kind: total - before.get(kind, 0.0) for kind, total in totals.items()}
        )

    def _used(self, folder: Path, kind: str) -> float:
        grant = self._grants[folder]
        most = grant.most.get(kind, 0.0)
        if self.is_live(folder):
            return most
        spent = spent_in(folder).get(kind)
        return most if spent is None else spent - grant.before.get(kind, 0.0)


def paid_models(settings: Settings) -> frozenset[ModelSpec]:
    """The models that a run would ask at a service, each with its address. A replay asks none."""
    if settings.replay is not None:
        return frozenset()
    return paid_specs(text for texts in models_of(settings).values() for text in texts)


def require_allowed(paid: Set[ModelSpec], bounds: Bounds | None) -> Bounds:
    """The bounds under which all these models may be asked. Raises UsageError."""
    if bounds is None:
        raise UsageError(
            f"the model {min(map(_with_address, paid))!r} may cost money, and this server may spend nothing: use the "
            "offline model, or ask the person who started it to add --allow-spending"
        )
    for spec in sorted(paid, key=_with_address):
        if spec not in bounds.models:
            allowed = ", ".join(_with_address(each) for each in bounds.models)
            name = _with_address(spec)
            raise UsageError(f"this server may not ask the model {name!r}: it may ask offline, {allowed}")
    return bounds


def _with_address(spec: ModelSpec) -> str:
    """A model in a sentence: two of one name can have different addresses."""
    return f"{spec.name} at {spec.base_url}" if spec.base_url else spec.name


def granted(asked: Mapping[str, float | None], *, left: Amounts, before: Amounts, within: Bounds) -> dict[str, float]:
    """The budgets of a run by their full names: those asked for, at most what is left. Pure.

    A budget counts what the run spent `before` too. Raises UsageError for more than is left.
    """
    budgets = {}
    for kind in within.most:
        rest, spent = left[kind], before.get(kind, 0.0)
        if rest <= 0:
            raise UsageError(f"this server's {kind} are spent or promised to live runs: stop one, or use offline")
        wanted = asked[kind]
        if wanted is not None and wanted - spent > rest:
            raise UsageError(
                f"budget_{kind} = {wanted:g} is more than this server may still spend: ask for at most {spent + rest:g}"
            )
        budgets[f"budget_{kind}"] = KINDS[kind](spent + rest if wanted is None else wanted)
    return budgets


def spent_in(folder: Path) -> dict[str, float]:
    """What the run in `folder` spent so far, by kind; no money if a price is unknown. Raises StoreError."""
    if not is_run(folder):      # it never began
        return dict.fromkeys(KINDS, 0.0)
    total = read_view(folder).status.spending.total
    known = {"calls": float(total.calls), "tokens": float(total.tokens)}
    return known if total.cost_usd is None else {**known, "usd": total.cost_usd}
