"""Budgets: refusals before anything is spent, and waiting for the last calls."""

import asyncio
import re
from collections.abc import Mapping, Sequence

import pytest
from memento.app import wiring
from memento.app.budgets import ActiveTime, balance_of, models_of, require_usable
from memento.app.plan import plan_of
from memento.app.wiring import asking_of, make_models
from memento.core.errors import BudgetSpent, UsageError
from memento.core.events import Order, ProposalMade, RunContinued, RunPaused, RunResumed, RunStarted
from memento.core.ports import Ask, Reply
from memento.core.values import JSON, Call, Document, Program, Usage
from memento.domains import load
from memento.models.budget import Balance, Budget, BudgetedModel, Ledger, PastSpending, require_room
from memento.settings import Settings, build_settings, parse_budgets, settings_in, with_budgets

pytestmark = pytest.mark.quick

LAB = "compatible:lab@http://127.0.0.1:9/v1#qwen3:8b"
OTHER = "compatible:other@http://127.0.0.1:9/v1#llama"


def build(*sets: str, **flags: JSON) -> Settings:
    return build_settings({"domain": "hanoi-kinematic", **flags}, assignments=sets, environment={})


def refusal(*sets: str, **flags: JSON) -> str:
    with pytest.raises(UsageError) as caught:
        require_usable(build(*sets, **flags))
    return str(caught.value)


@pytest.mark.parametrize(
    ("sets", "flags", "words"),
    [
        ((), {"model": LAB, "budget_usd": 5.0}, ["price of 'lab:qwen3:8b' is not known"]),
        (("budget.judge.usd=1",), {"judges": [LAB]}, ["price of 'lab:qwen3:8b' is not known"]),
        ((), {"model": "openai:gpt-99", "budget_usd": 5.0}, ["price of 'openai:gpt-99'"]),
        ((), {"budget_usd": 5.0}, ["'budget_usd'", "no effect", "offline"]),
        ((), {"budget_tokens": 5}, ["'budget_tokens'", "no effect", "offline"]),
        (("budget.judge.tokens=5",), {"model": LAB, "judges": ["offline"]}, ["'budget.judge.tokens'", "offline"]),
        (("sampling.temperature=0.5",), {}, ["'sampling'", "offline"]),
        (("sampling.judge.temperature=0",), {"model": LAB, "judges": ["offline"]}, ["'sampling.judge'", "offline"]),
        (("prices.lab:qwen3={input=1,output=2}",), {"model": LAB}, ["'lab:qwen3'", "did you mean 'lab:qwen3:8b'"]),
    ],
)
def test_what_cannot_be_kept_or_does_nothing_is_refused(
    sets: tuple[str, ...], flags: dict[str, JSON], words: list[str]
) -> None:
    sentence = refusal(*sets, **flags)
    assert all(word in sentence for word in words), sentence


@pytest.mark.parametrize(
    ("sets", "flags", "words"),
    [
        (("budget.calls=3",), {}, ["budget_calls"]),
        (("budget.jugde.calls=3",), {}, ["'jugde'", "'judge'"]),
        (("budget.judge.cals=3",), {}, ["'cals'", "'calls'"]),
        (("budget.judge.calls=0",), {}, ["budget.judge.calls", "0", "--set"]),
        (("sampling.temprature=1",), {}, ["'temprature'", "'temperature'"]),
        (("sampling.judge.temperature=3",), {}, ["sampling.judge.temperature", "3"]),
        (("prices.x={input=1}",), {}, ["prices.x.output"]),
        (("budget.judge.calls=3",), {"evaluator": "reference"}, ["'budget.judge.calls'", "evaluator 'reference'"]),
        (("sampling.evaluator_writer.stream=true",), {"evaluator": "reference"}, ["evaluator 'reference'"]),
        ((), {"evaluator": "reference", "evaluator_model": "offline"}, ["evaluator_model", "no effect"]),
        ((), {"budget_usd": -1.0}, ["budget_usd", "-1", "--budget-usd"]),
    ],
)
def test_settings_of_models_name_what_is_wrong(
    sets: tuple[str, ...], flags: dict[str, JSON], words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        build(*sets, **flags)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_what_counts_is_taken() -> None:
    price = "prices.lab:qwen3:8b={input=1,output=2}"
    require_usable(build(price, "budget.judge.usd=1", model=LAB, budget_usd=5.0))
    require_usable(build("budget.proposer.calls=5", budget_calls=5, budget_wall_s=60.0))
    require_usable(build(model="openai:gpt-5.2", budget_usd=5.0))


PRICED = (
    "prices.lab:qwen3:8b={input=1,output=2.5}", "budget.judge.usd=1.5", "budget.evaluator-writer.calls=7",
    "sampling.temperature=0.7", "sampling.judge.temperature=0.0", "sampling.judge.stream=true",
)


@pytest.mark.parametrize("first", [
    build(*PRICED, model=LAB, evaluator_model=OTHER, judges=[LAB, f"{LAB},offline"], budget_calls=3, budget_wall_s=2.5),
    build("proposer_turns=3", "practice_episodes=0", model="openai:m"),
    build("critic=openai:gpt-5.2", "critic_judges=on", "budget.critic.calls=4", model="openai:m"),
    build("critic_mode=pixels", model="openai:m"),
], ids=["models", "turns", "critic", "pixels"])
def test_the_text_of_all_settings_repeats_them(tmp_path, first: Settings) -> None:
    config = tmp_path / "again.toml"
    config.write_text(first.as_toml())
    assert build_settings({}, config=config, environment={}) == first
    assert Settings.model_validate(first.as_json()) == first
    env = {"MEMENTO_BUDGET__EVALUATOR_WRITER__CALLS": "9"}
    assert build_settings({}, config=config, environment=env).budget["evaluator-writer"].calls == 9


def test_each_role_has_its_models_and_the_seats_are_dealt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "x")
    settings = build("sampling.judge.temperature=0.0", model=LAB, evaluator_model=OTHER, judges=[LAB, OTHER, LAB])
    models = make_models(settings, load("hanoi-kinematic"))
    assert models.proposer.name == "lab:qwen3:8b"
    assert models.evaluator_writer.name == "other:llama"
    assert [model.name for model in models.judges] == ["lab:qwen3:8b", "other:llama", "lab:qwen3:8b"]
    assert models.judges[0] is models.judges[2]
    assert models.judges[0] is not models.proposer, "it has other call settings"
    assert asking_of(settings, "judge").temperature == 0.0
    assert asking_of(settings, "proposer").temperature is None
    assert models_of(build(model=LAB, evaluator="reference")) == {"proposer": (LAB,)}


@pytest.mark.parametrize(("writer", "attacker", "asked"), [
    (None, None, "lab:qwen3:8b"), (OTHER, None, "other:llama"), (OTHER, LAB, "lab:qwen3:8b"), (OTHER, "offline", None),
])
def test_attacks_are_written_by_the_writer_of_evaluators_unless_another_model_is_named(
    writer: str | None, attacker: str | None, asked: str | None
) -> None:
    named = {"evaluator_model": writer, "attacker_model": attacker}
    settings = build("evaluator_attacks=2", model=LAB, **{key: value for key, value in named.items() if value})
    domain = load("hanoi-kinematic")
    plan = plan_of(settings, domain, None, None)
    assert plan.attacks is not None and plan.attacks.asks == (asked is not None)
    if asked is not None:
        assert make_models(settings, domain).attacker.name == asked
    assert ("attacker" in models_of(settings)) == (asked is not None)


@pytest.mark.parametrize(("given", "problem"), [
    (("attacker_model=offline",), "'attacker_model' has no effect without evaluator_attacks"),
    (("budget.attacker.calls=3",), "'budget.attacker.calls' has no effect without evaluator_attacks"),
    (("evaluator_attacks=1", "budget.attacker.usd=3.0"), "'budget.attacker.usd' has no effect with the offline model"),
    (("evaluator_attacks=1", "sampling.attacker.temperature=0.1"), "'sampling.attacker' has no effect with the off"),
    (("evaluator_attacks=1", "attacker_model=ask"), "'ask' can be a judge, but no attacker"),
])
def test_an_attacker_that_does_not_fit_is_refused(given: Sequence[str], problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)):
        require_usable(build(*given))


class Slow:
    """A model that waits for permission to answer."""

    name = "slow"

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def complete(self, ask: Ask) -> Reply:
        await self.go.wait()
        return Reply(text=ask.order.id, model=self.name, usage=Usage(cost_usd=0.0))


class Closing(Slow):
    """A model with a socket, which can be set up so that it does not close in time."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__()
        self.hangs = hangs
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1
        if self.hangs:
            await asyncio.sleep(3600)


async def test_models_are_closed_once_each_whatever_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "CLOSING_S", 0.05)
    monkeypatch.setattr(wiring, "close_model", Closing.close)
    one, stuck = Closing(), Closing(hangs=True)
    models = wiring.Models(proposer=one, evaluator_writer=one, judges=(stuck, one, stuck), attacker=one)
    with pytest.raises(RuntimeError, match="the run failed"):
        async with asyncio.timeout(10), models:
            raise RuntimeError("the run failed")
    assert (one.closed, stuck.closed) == (1, 1)


def _resumed(budgets: Mapping[str, JSON]) -> list:
    started = RunStarted(settings=build("budget.judge.calls=5", budget_calls=3).as_json(), versions={})
    return [started, RunResumed(), RunResumed(budgets=budgets)]


def test_a_resumed_run_has_its_last_budgets() -> None:
    settings = settings_in(_resumed({"budget_calls": 9, "budget.judge.usd": 2.0, "budget.proposer.calls": 4}))
    assert settings is not None
    assert settings.budget_calls == 9
    assert (settings.budget["judge"].calls, settings.budget["judge"].usd) == (5, 2.0)
    balance = balance_of(settings, {})
    assert balance.run == Budget(calls=9)
    assert balance.roles == {"judge": Budget(calls=5, cost_usd=2.0), "proposer": Budget(calls=4)}


def test_only_budgets_change_in_a_resumed_run() -> None:
    assert parse_budgets({"budget_usd": 3.0, "budget_calls": None}, ["budget.judge.calls=2"]) == {
        "budget_usd": 3.0, "budget.judge.calls": 2,
    }
    with pytest.raises(UsageError, match="'k_hc' cannot change in a resumed run"):
        parse_budgets({}, ["k_hc=2"])
    with pytest.raises(UsageError, match=r"budget_call.*budget_calls"):
        with_budgets(build(), {"budget_call": 2})


def test_a_budget_below_what_is_spent_is_refused() -> None:
    call = Call(model="m", prompt=Document("p"), reply=Document("r"), usage=Usage(cost_usd=0.5))
    past = PastSpending()
    for _ in range(4):
        past.apply(ProposalMade(order="g1/macro/0", program=Program("x"), summary="", call=call))
    spent = past.by_role()
    require_room(balance_of(build(budget_calls=5), spent), 10.0)
    with pytest.raises(UsageError, match="4 calls is spent; resume with a larger one"):
        require_room(balance_of(build(budget_calls=4), spent), 10.0)
    with pytest.raises(UsageError, match="20 s is spent"):
        require_room(balance_of(build(budget_wall_s=20.0), {}), 21.0)


async def test_calls_in_flight_are_answered_before_a_spent_budget_is_reported() -> None:
    slow = Slow()
    model = BudgetedModel(slow, Ledger(Balance(run=Budget(calls=2))))
    seen: list[object] = []

    async def ask(name: str) -> None:
        try:
            reply = await model.complete(Ask(order=Order(id=name), attempt=0, role="proposer", prompt="?"))
        except BudgetSpent:
            seen.append("spent")
        else:
            seen.append(reply.text)

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        for name in ("a", "b", "c", "d"):
            group.create_task(ask(name))
        await asyncio.sleep(0.05)
        assert seen == [], "the run waits for calls that are paid for"
        slow.go.set()
    assert seen == ["a", "b", "spent", "spent"]


def test_time_stands_still_in_a_pause() -> None:
    now_s = 0.0
    active = ActiveTime(lambda: now_s)
    ledger = Ledger(Balance(run=Budget(wall_s=100.0)), elapsed=active, before_s=50.0)
    now_s = 30.0
    active.on_fact(RunPaused())
    now_s = 1000.0
    assert ledger.elapsed_s == 80.0
    active.on_fact(RunContinued())
    now_s = 1019.0
    ledger.require_time()
    now_s = 1021.0
    with pytest.raises(BudgetSpent, match="100 s is spent"):
        ledger.require_time()
