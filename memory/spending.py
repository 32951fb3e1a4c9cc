"""The usage of a run's model calls, and the calls themselves, from its facts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..core.events import Fact
from ..core.faults import Fault
from ..core.values import Call, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpending:
    """The calls of one role. `cost_usd` is None as soon as the price of one call is unknown."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0
    cached_tokens: int = 0  # of the input tokens
    cache_written_tokens: int = 0  # of the input tokens

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def plus(self, usages: Sequence[Usage]) -> "RoleSpending":
        """This spending plus the calls with these usages."""
        attempts, tokens_in, tokens_out = self.attempts, self.input_tokens, self.output_tokens
        cost_usd, latency_s = self.cost_usd, self.latency_s
        cached, written = self.cached_tokens, self.cache_written_tokens
        for usage in usages:    # one by one: sum() rounds differently, so that pieces would not add up to the whole
            attempts += usage.attempts
            tokens_in += usage.input_tokens
            tokens_out += usage.output_tokens
            cost_usd = None if cost_usd is None or usage.cost_usd is None else cost_usd + usage.cost_usd
            latency_s += usage.latency_s
            cached += usage.cached_tokens
            written += usage.cache_written_tokens
        return RoleSpending(
            calls=self.calls + len(usages), attempts=attempts, input_tokens=tokens_in, output_tokens=tokens_out,
            cost_usd=cost_usd, latency_s=latency_s, cached_tokens=cached, cache_written_tokens=written,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """All finished calls of a run, together and by role ("proposer", "evaluator-writer", "judge", "critic").

    `withdrawn` are the orders whose call was withdrawn before its answer: the usage of these calls is unknown.
    """

    total: RoleSpending = RoleSpending()
    by_role: Mapping[str, RoleSpending] = field(default_factory=dict)
    withdrawn: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One finished call, read from the log. `fault` is the problem with the reply, if any."""

    order: str | None
    role: str
    call: Call
    fault: Fault | None = None


@dataclass(slots=True)
class SpendingTally:
    """Adds up the calls of a run, fact by fact; `so_far` returns the sum."""

    _total: RoleSpending = field(default_factory=RoleSpending)
    _by_role: dict[str, RoleSpending] = field(default_factory=dict)
    _withdrawn: set[str] = field(default_factory=set)
    _asked_again: dict[str, int] = field(default_factory=dict)  # unusable answers of open orders that are added

    def apply(self, fact: Fact) -> None:
        """Add the calls that this fact reports, if it reports any."""
        order, calls = fact.order or "", fact.calls
        if fact.withdraws_call and order:
            self._withdrawn.add(order)
        elif fact.interim:
            self._add(fact.role, calls)
            self._asked_again[order] = self._asked_again.get(order, 0) + len(calls)
        elif calls:
            self._add(fact.role, calls[self._asked_again.pop(order, 0) :])
            self._withdrawn.discard(order)   # its answer arrived during the withdrawal

    def _add(self, role: str, calls: Sequence[Call]) -> None:
        usages = [call.usage for call in calls]
        self._total = self._total.plus(usages)
        self._by_role[role] = self._by_role.get(role, RoleSpending()).plus(usages)

    def so_far(self) -> Spending:
        """The sum of all calls added so far."""
        return Spending(total=self._total, by_role=dict(self._by_role), withdrawn=frozenset(self._withdrawn))

    def copy(self) -> "SpendingTally":
        """An independent copy."""
        return SpendingTally(self._total, dict(self._by_role), set(self._withdrawn), dict(self._asked_again))


def list_calls(facts: Iterable[Fact]) -> tuple[CallRow, ...]:
    """Every finished call, in commit order, with its prompt and reply."""
    return tuple(
        CallRow(order=fact.order, role=fact.role, call=call, fault=fact.reply_fault)
        for fact in facts if not fact.interim
        for call in fact.calls
    )
