"""Budgets of calls, tokens, money and wall time, for a run and for each role, and the model that respects them.

`Balance` is the pure part: budgets, spending, and whether the next call may start. `Ledger` holds the balance of
a live run, `BudgetedModel` wraps each of its models.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..core.errors import BudgetSpent, UsageError
from ..core.events import Fact
from ..core.ports import Ask, Model, Reply
from ..core.text import cost, plural
from ..core.values import Usage
from .call_limits import Elapsed
from .opening import close_model, open_model
from .prices import tokens_in
from .recorded_calls import CallReader, Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The maximum spending. None means no limit."""

    calls: int | None = None
    tokens: int | None = None           # input and output together
    cost_usd: float | None = None
    wall_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "cost_usd", "wall_s"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise UsageError(f"the model budget {name!r} must be above 0, not {limit}; omit it for no limit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The spending so far. `calls` counts every started call, `in_flight` those still open.

    `unpriced` counts answers whose cost is unknown; they are not in `cost_usd`.
    """

    calls: int = 0
    in_flight: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0

    def plus(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            calls=self.calls + other.calls,
            in_flight=self.in_flight + other.in_flight,
            tokens=self.tokens + other.tokens,
            cost_usd=self.cost_usd + other.cost_usd,
            unpriced=self.unpriced + other.unpriced,
        )

    @property
    def expected_usd(self) -> float | None:
        """Dollars, with the mean cost for open calls and answers of unknown cost; None without a known cost."""
        known = self.calls - self.in_flight - self.unpriced
        if self.unpriced and (known <= 0 or not self.cost_usd):
            return None
        return self.cost_usd + ((self.in_flight + self.unpriced) * self.cost_usd / known if known > 0 else 0.0)

    @property
    def expected_tokens(self) -> float:
        """Tokens, with the mean of the finished calls for each open call."""
        finished = self.calls - self.in_flight
        return self.tokens + (self.in_flight * self.tokens / finished if finished else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """The budgets of a run and the spending of its roles. Decides whether the next call may start. Immutable.

    The usage of a call is unknown in advance, so calls in flight can exceed a budget of tokens or money. The
    estimate for them is the mean of the finished calls, and so it is for an answer without a reported usage, such
    as that of a content filter. A budget of calls is never exceeded.
    """

    run: Budget = Budget()
    roles: Mapping[str, Budget] = field(default_factory=dict)
    spent: Mapping[str, Spent] = field(default_factory=dict)

    @property
    def total(self) -> Spent:
        """The spending of all roles together."""
        total = Spent()
        for spent in self.spent.values():
            total = total.plus(spent)
        return total

    def refusal(self, role: str, elapsed_s: float) -> str | None:
        """The reason why the next call of `role`, `elapsed_s` seconds into the run, may not start; None if it may."""
        own = _refusal(self.roles.get(role, Budget()), self.spent.get(role, Spent()), elapsed_s)
        if own is not None:
            return f"the {role} budget of {own}"
        whole = _refusal(self.run, self.total, elapsed_s)
        return None if whole is None else f"the run's model budget of {whole}"

    def left(self, elapsed_s: float, role: str | None = None) -> dict[str, float]:
        """The rest of each limit, of the run or of one role; limits that are not set are omitted."""
        budget = self.run if role is None else self.roles.get(role, Budget())
        spent = self.total if role is None else self.spent.get(role, Spent())
        used = {
            "calls": spent.calls, "tokens": spent.tokens, "cost_usd": spent.cost_usd, "wall_s": elapsed_s,
        }
        limits = {name: getattr(budget, name) for name in used}
        return {name: max(0, limit - used[name]) for name, limit in limits.items() if limit is not None}

    def with_call(self, role: str) -> "Balance":
        """The balance after a call of `role` started."""
        spent = self.spent.get(role, Spent())
        return self._with(role, replace(spent, calls=spent.calls + 1, in_flight=spent.in_flight + 1))

    def after_call(self, role: str, taken: Spent = Spent()) -> "Balance":
        """The balance after a call of `role` ended with the usage `taken`; the usage of a failed call is unknown."""
        spent = self.spent.get(role, Spent())
        return self._with(role, replace(spent, in_flight=spent.in_flight - 1).plus(taken))

    def _with(self, role: str, spent: Spent) -> "Balance":
        return replace(self, spent={**self.spent, role: spent})


def _refusal(budget: Budget, spent: Spent, elapsed_s: float) -> str | None:
    if budget.calls is not None and spent.calls >= budget.calls:
        return f"{budget.calls} calls is spent"
    if budget.tokens is not None and spent.expected_tokens >= budget.tokens:
        return f"{budget.tokens:,} tokens is spent ({spent.tokens:,} used{_open_words(spent)})"
    if budget.cost_usd is not None:
        expected = spent.expected_usd
        if expected is None:
            return f"${budget.cost_usd:g} cannot be kept: {spent.unpriced} answers came without a known price"
        if expected >= budget.cost_usd:
            unknown = f", {spent.unpriced} of unknown cost" if spent.unpriced else ""
            used = f"{cost(spent.cost_usd)} used{_open_words(spent)}{unknown}"
            return f"{cost(budget.cost_usd)} is spent ({used})"
    if budget.wall_s is not None and elapsed_s >= budget.wall_s:
        return f"{budget.wall_s:g} s is spent"
    return None


def _open_words(spent: Spent) -> str:
    return f", {plural(spent.in_flight, 'call')} open" if spent.in_flight else ""


def spent_by(usage: Usage, *texts: str) -> Spent:
    """The usage of an answered call; tokens are estimated from prompt and reply if the service reports none."""
    tokens = usage.input_tokens + usage.output_tokens
    if tokens == 0 and usage.cost_usd is None:
        tokens = tokens_in(sum(map(len, texts)))
    return Spent(tokens=tokens, cost_usd=usage.cost_usd or 0.0, unpriced=int(usage.cost_usd is None))


class PastSpending:
    """The spending of a run's roles, fact by fact: the initial balance of a resumed run."""

    def __init__(self) -> None:
        self._calls = CallReader()
        self._spent: dict[str, Spent] = {}

    def apply(self, fact: Fact) -> None:
        """Apply a fact of the log."""
        recorded = self._calls.read(fact)
        if recorded is not None:
            _add(self._spent, recorded)

    def asked_again(self) -> frozenset[str]:
        """The open orders of which an unusable answer is known."""
        return self._calls.asked_again()

    def by_role(self) -> dict[str, Spent]:
        """The spending of each role, including withdrawn calls and the unusable answers of open orders."""
        spent = dict(self._spent)
        for recorded in self._calls.open_calls():
            _add(spent, recorded)
        return spent


def _add(spent: dict[str, Spent], recorded: Recorded) -> None:
    taken = Spent(calls=len(recorded.calls) + (recorded.unanswered or recorded.withdrawn))
    for call in recorded.calls:
        taken = taken.plus(spent_by(call.usage, call.prompt.text, call.reply.text))
    spent[recorded.role] = spent.get(recorded.role, Spent()).plus(taken)


def require_room(balance: Balance, elapsed_s: float = 0.0) -> None:
    """Raise UsageError if a budget is below the spending so far; for the start of a resumed run."""
    for role in ("", *balance.roles, *balance.spent):
        refusal = balance.refusal(role, elapsed_s)
        if refusal is not None:
            raise UsageError(f"{refusal}; resume with a larger one")


class Ledger:
    """The balance of a live run, for all its models. `before_s` is the wall time of earlier sessions in seconds."""

    def __init__(self, balance: Balance, *, elapsed: Elapsed = time.monotonic, before_s: float = 0.0) -> None:
        self.balance = balance
        self._elapsed = elapsed
        self._began = elapsed() - before_s
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def elapsed_s(self) -> float:
        """The duration of the run so far in seconds."""
        return self._elapsed() - self._began

    def left(self, role: str) -> dict[str, float]:
        """What a role may still spend of each limit, its own and the run's; limits that are not set are omitted."""
        own, whole = self.balance.left(self.elapsed_s, role), self.balance.left(self.elapsed_s)
        return {name: min(own.get(name, whole.get(name, 0)), whole.get(name, own.get(name, 0))) for name in whole | own}

    def begin(self, role: str) -> None:
        """Count a new call of `role`. Raises BudgetSpent if it may not start."""
        refusal = self.balance.refusal(role, self.elapsed_s)
        if refusal is not None:
            raise BudgetSpent(f"{refusal}; the results so far are kept")
        self.balance = self.balance.with_call(role)
        self._idle.clear()

    def end(self, role: str, taken: Spent = Spent()) -> None:
        """Count the end of a call and its usage."""
        self.balance = self.balance.after_call(role, taken)
        if self.balance.total.in_flight == 0:
            self._idle.set()

    async def idle(self) -> None:
        """Wait until no call is in flight; each of them has its own deadline."""
        await self._idle.wait()

    def require_time(self) -> None:
        """Raise BudgetSpent as soon as the run's wall time is spent."""
        limit_s = self.balance.run.wall_s
        if limit_s is not None and self.elapsed_s >= limit_s:
            raise BudgetSpent(f"the run's budget of {limit_s:g} s is spent; the results so far are kept")


class BudgetedModel:
    """A Model within the budgets of a run: it checks the ledger before a call, and enters the usage after it.

    A spent budget is reported only when no call of the run is in flight: these calls are paid for, and ending the
    run earlier would discard their answers.
    """

    def __init__(self, model: Model, ledger: Ledger) -> None:
        self.name = model.name
        self.model = model
        self._ledger = ledger

    async def complete(self, ask: Ask) -> Reply:
        """The model's answer. Raises BudgetSpent before anything is sent, if the budget does not allow the call."""
        try:
            self._ledger.begin(ask.role)
        except BudgetSpent:
            await self._ledger.idle()
            raise
        taken = Spent()
        try:
            reply = await self.model.complete(ask)
            taken = spent_by(reply.usage, ask.prompt, reply.text)
        finally:  # a withdrawn or failed call ends too
            self._ledger.end(ask.role, taken)
        return reply

    async def open(self) -> None:
        """Open the model. Raises UsageError."""
        await open_model(self.model)

    async def close(self) -> None:
        """Close the model."""
        await close_model(self.model)
