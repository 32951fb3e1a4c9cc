"""What a run's model calls took, and the calls themselves, from its facts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..core.events import Fact, ProposalFailed, ProposalMade, SpeculationEnded, VoteCast
from ..core.values import Call, Fault, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpending:
    """The calls of one role. `cost_usd` is None as soon as the price of one call is unknown."""

    calls: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    latency_s: float = 0.0

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.input_tokens + self.output_tokens

    def plus(self, usage: Usage) -> "RoleSpending":
        """With one more call."""
        unknown = self.cost_usd is None or usage.cost_usd is None
        return replace(
            self,
            calls=self.calls + 1,
            attempts=self.attempts + usage.attempts,
            input_tokens=self.input_tokens + usage.input_tokens,
            output_tokens=self.output_tokens + usage.output_tokens,
            cost_usd=None if unknown else (self.cost_usd or 0.0) + (usage.cost_usd or 0.0),
            latency_s=self.latency_s + usage.latency_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """All finished calls of a run, together and by role ("proposer", "evaluator-writer", "judge").

    `withdrawn` are the orders whose call was withdrawn before its answer: nobody knows what it took.
    """

    total: RoleSpending = RoleSpending()
    by_role: Mapping[str, RoleSpending] = field(default_factory=dict)
    withdrawn: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One finished call as it can be read back. `fault` is what was wrong with the reply, if anything."""

    order: str | None
    role: str
    call: Call
    fault: Fault | None = None


def add_calls(spending: Spending, fact: Fact) -> Spending:
    """With the calls that this fact reports, if it reports any."""
    if isinstance(fact, SpeculationEnded) and not fact.kept and not fact.answered and fact.order is not None:
        return replace(spending, withdrawn=spending.withdrawn | {fact.order})
    calls = calls_of(fact)
    if not calls:
        return spending
    role = role_of(fact)
    # The usage of a vote's last call holds that of its earlier ones too.
    usages = [call.usage for call in calls] if _last_of(fact) is None else [calls[-1].usage]
    more = len(calls) - len(usages)
    return Spending(
        total=_grown(spending.total, usages, more),
        by_role={**spending.by_role, role: _grown(spending.by_role.get(role, RoleSpending()), usages, more)},
        withdrawn=spending.withdrawn - {fact.order or ""},  # its answer came in the moment of the withdrawal
    )


def _grown(spending: RoleSpending, usages: Iterable[Usage], more_calls: int) -> RoleSpending:
    for usage in usages:
        spending = spending.plus(usage)
    return replace(spending, calls=spending.calls + more_calls)


def list_calls(facts: Iterable[Fact]) -> tuple[CallRow, ...]:
    """Every finished call, in the order in which it was committed, with its prompt and reply."""
    return tuple(
        CallRow(
            order=fact.order,
            role=role_of(fact),
            call=call,
            fault=fact.fault if isinstance(fact, ProposalFailed) else None,
        )
        for fact in facts
        for call in calls_of(fact)
    )


def calls_of(fact: Fact) -> tuple[Call, ...]:
    """The model calls that a fact reports, oldest first."""
    earlier = fact.earlier if isinstance(fact, VoteCast) else ()
    last = _last_of(fact)
    return earlier if last is None else (*earlier, last)


def _last_of(fact: Fact) -> Call | None:
    return fact.call if isinstance(fact, ProposalMade | ProposalFailed | VoteCast) else None


def role_of(fact: Fact) -> str:
    """Who was asked: the words of Ask.role."""
    if isinstance(fact, VoteCast):
        return "judge"
    return "evaluator-writer" if (fact.order or "").startswith("eval/") else "proposer"
