"""Budgets: which calls may start, what is left, and the initial balance of a resumed run."""

import asyncio
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import BudgetSpent, ModelError, UsageError
from memento.core.events import ProposalFailed, ProposalMade, VoteCast
from memento.core.faults import Fault, FaultKind
from memento.core.ports import Ask, Reply
from memento.core.values import Call, Document, Program, Usage
from memento.models.budget import Balance, Budget, BudgetedModel, Ledger, PastSpending, Spent, require_room, spent_by

from .asking import JumpingClock, ask

pytestmark = pytest.mark.quick


class Answering:
    """A model with given usage that can be made to fail."""

    name = "answering"

    def __init__(self, usage: Usage, *, fails: bool = False) -> None:
        self.usage = usage
        self.fails = fails
        self.asked = 0

    async def complete(self, ask: Ask) -> Reply:
        self.asked += 1
        await asyncio.sleep(0)
        if self.fails:
            raise ModelError("answering failed")
        return Reply(text="ok", model=self.name, usage=self.usage)


TAKES = Usage(input_tokens=60, output_tokens=40, cost_usd=0.5)


async def spend(model: BudgetedModel, *, role: str = "proposer") -> int:
    """The number of consecutive calls before the budget is spent."""
    for done in range(100):
        try:
            await model.complete(ask(role=role))
        except BudgetSpent:
            return done
    return 100


@pytest.mark.parametrize(
    ("budget", "calls", "says"),
    [
        (Budget(calls=3), 3, "the run's model budget of 3 calls is spent"),
        (Budget(tokens=250), 3, "the run's model budget of 250 tokens is spent (300 used)"),
        (Budget(cost_usd=1.0), 2, "the run's model budget of $1.00 is spent ($1.00 used)"),
        (Budget(), 100, ""),
    ],
)
async def test_one_call_after_the_other(budget: Budget, calls: int, says: str) -> None:
    inner = Answering(TAKES)
    ledger = Ledger(Balance(run=budget))
    model = BudgetedModel(inner, ledger)
    assert await spend(model) == calls == inner.asked
    if says:
        with pytest.raises(BudgetSpent) as caught:
            await model.complete(ask())
        assert says in str(caught.value)
        assert caught.value.fatal
        assert inner.asked == calls, "nothing is sent"


async def test_calls_at_once_never_pass_a_budget_of_calls() -> None:
    inner = Answering(TAKES)
    model = BudgetedModel(inner, Ledger(Balance(run=Budget(calls=5))))
    results = await asyncio.gather(*(model.complete(ask()) for _ in range(20)), return_exceptions=True)
    assert inner.asked == 5
    assert sum(isinstance(result, Reply) for result in results) == 5


async def test_open_calls_are_expected_to_take_the_mean() -> None:
    inner = Answering(TAKES)
    ledger = Ledger(Balance(run=Budget(tokens=450)))
    model = BudgetedModel(inner, ledger)
    await model.complete(ask())
    await asyncio.gather(*(model.complete(ask()) for _ in range(20)), return_exceptions=True)
    assert ledger.balance.total == Spent(calls=5, tokens=500, cost_usd=2.5)


async def test_roles_have_their_own() -> None:
    ledger = Ledger(Balance(run=Budget(calls=5), roles={"judge": Budget(calls=2)}))
    model = BudgetedModel(Answering(TAKES), ledger)
    assert await spend(model, role="judge") == 2
    with pytest.raises(BudgetSpent, match="the judge budget of 2 calls is spent"):
        await model.complete(ask(role="judge"))
    assert await spend(model, role="proposer") == 3
    assert ledger.balance.left(0.0) == {"calls": 0}
    assert ledger.balance.left(0.0, "judge") == {"calls": 0}


async def test_wall_time_counts_earlier_sessions() -> None:
    clock = JumpingClock()
    ledger = Ledger(Balance(run=Budget(wall_s=100.0)), elapsed=clock.elapsed, before_s=60.0)
    model = BudgetedModel(Answering(TAKES), ledger)
    await model.complete(ask())
    await clock.sleep(41.0)
    with pytest.raises(BudgetSpent, match="100 s is spent"):
        await model.complete(ask())


async def test_an_unknown_price_stops_a_money_budget_and_no_other() -> None:
    unknown = Usage(input_tokens=1, output_tokens=1)
    assert await spend(BudgetedModel(Answering(unknown), Ledger(Balance(run=Budget(cost_usd=5.0))))) == 1
    assert await spend(BudgetedModel(Answering(unknown), Ledger(Balance(run=Budget(calls=5))))) == 5


async def test_an_answer_without_its_usage_counts_as_much_as_the_others() -> None:
    ledger = Ledger(Balance(run=Budget(cost_usd=5.0)))
    priced, silent = Answering(TAKES), Answering(Usage())
    await BudgetedModel(priced, ledger).complete(ask())
    await BudgetedModel(priced, ledger).complete(ask())
    await BudgetedModel(silent, ledger).complete(ask())
    assert ledger.balance.total.expected_usd == 1.5
    assert await spend(BudgetedModel(priced, ledger)) == 7
    with pytest.raises(BudgetSpent, match=r"\$5\.00 is spent \(\$4\.50 used, 1 of unknown cost\)"):
        await BudgetedModel(priced, ledger).complete(ask())


async def test_failed_and_withdrawn_calls_count_and_are_closed() -> None:
    ledger = Ledger(Balance(run=Budget(calls=3)))
    with pytest.raises(ModelError, match="answering failed"):
        await BudgetedModel(Answering(TAKES, fails=True), ledger).complete(ask())
    call = asyncio.create_task(BudgetedModel(Answering(TAKES), ledger).complete(ask()))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert ledger.balance.total == Spent(calls=2)


def test_tokens_are_guessed_only_where_none_are_reported() -> None:
    assert spent_by(Usage(), "x" * 40, "y" * 9) == Spent(tokens=13, unpriced=1)
    assert spent_by(Usage(input_tokens=2), "x" * 40).tokens == 2
    assert spent_by(Usage(cost_usd=0.0), "x" * 40) == Spent(), "the offline model costs nothing"


@given(st.lists(st.tuples(st.sampled_from(["judge", "proposer"]), st.integers(0, 1000)), max_size=40))
def test_the_total_is_the_sum_of_the_roles(calls: list[tuple[str, int]]) -> None:
    balance = Balance(run=Budget(tokens=10_000_000))
    for role, tokens in calls:
        balance = balance.with_call(role).after_call(role, Spent(tokens=tokens))
    assert balance.total == Spent(calls=len(calls), tokens=sum(tokens for _, tokens in calls))
    assert balance.left(0.0)["tokens"] == 10_000_000 - balance.total.tokens


def _call(usage: Usage = TAKES) -> Call:
    return Call(model="m", prompt=Document("p"), reply=Document("r"), usage=usage)


FACTS = (
    ProposalMade(order="g1/macro/0", program=Program("x"), summary="", call=_call()),
    ProposalFailed(order="g1/macro/1", fault=Fault(kind=FaultKind.EMPTY, message=""), call=_call(Usage())),
    ProposalFailed(order="g1/macro/2", fault=Fault(kind=FaultKind.MODEL_FAILED, message="down")),
    ProposalFailed(order="g1/macro/3", fault=Fault(kind=FaultKind.MODEL_FAILED, message="down"), earlier=(_call(),)),
    ProposalMade(order="eval/g0/1", program=Program("x"), summary="", call=_call(), earlier=(_call(),)),
    VoteCast(order="eval/g0/judge/1", generation=0, seat=1, choice=0, reason="", call=_call()),
    VoteCast(order="eval/g0/judge/2", generation=0, seat=2, choice=0, reason="", call=_call(), earlier=(_call(),)),
)


def test_a_resumed_run_begins_with_what_its_facts_say() -> None:
    past = PastSpending()
    for fact in FACTS:
        past.apply(fact)
    spent = past.by_role()
    assert spent == {
        "proposer": Spent(calls=5, tokens=201, cost_usd=1.0, unpriced=1),
        "evaluator-writer": Spent(calls=2, tokens=200, cost_usd=1.0),
        "judge": Spent(calls=3, tokens=300, cost_usd=1.5),
    }
    require_room(Balance(run=Budget(calls=11), spent=spent))
    with pytest.raises(UsageError, match="budget of 10 calls is spent; resume with a larger one"):
        require_room(Balance(run=Budget(calls=10), spent=spent))
    with pytest.raises(UsageError, match="the judge budget of 2 calls"):
        require_room(Balance(roles={"judge": Budget(calls=2)}, spent=spent))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Budget(calls=0),
        lambda: Budget(tokens=-1),
        lambda: Budget(cost_usd=float("nan")),
        lambda: Budget(wall_s=0.0),
    ],
)
def test_a_budget_is_above_zero(make: Callable[[], Budget]) -> None:
    with pytest.raises(UsageError, match="must be above 0"):
        make()
