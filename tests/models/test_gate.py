"""The gate, the waits and the allowance, as pure rules and with many calls at once."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.models.call_limits import SPACING_S, AdaptiveLimit, CallLimits, Gate
from memento.models.failures import Failure, wait_s

from .asking import JumpingClock

pytestmark = pytest.mark.quick

BUSY = Failure(problem="is overloaded", retry=True, overloaded=True)
LIMITS = CallLimits()


@given(st.integers(1, 64), st.lists(st.booleans(), max_size=200))
def test_the_allowance_stays_within_its_bounds(ceiling: int, answers: list[bool]) -> None:
    allowance = AdaptiveLimit(ceiling=ceiling, level=float(ceiling))
    for answered in answers:
        before = allowance.level
        allowance = allowance.after_answer() if answered else allowance.after_overload(allowance.epoch)
        assert 1 <= allowance.slots <= ceiling
        if not answered:
            assert allowance.level == max(1.0, before / 2)


def test_requests_refused_together_cut_once() -> None:
    allowance = AdaptiveLimit(ceiling=16, level=16.0)
    sent_in = allowance.epoch
    for _ in range(10):
        allowance = allowance.after_overload(sent_in)
    assert allowance.slots == 8
    assert allowance.after_overload(allowance.epoch).slots == 4


def test_it_grows_by_about_one_for_a_round_of_answers() -> None:
    allowance = AdaptiveLimit(ceiling=16, level=4.0)
    for _ in range(5):
        allowance = allowance.after_answer()
    assert 4.9 < allowance.level < 5.3


@given(st.integers(1, 500), st.integers(), st.floats(0, 1e6))
def test_waits(failures: int, seed: int, asked_s: float) -> None:
    free = wait_s(failures, BUSY, LIMITS, Random(seed))
    mean_s = min(60.0, 2.0 ** min(failures - 1, 10))
    assert mean_s * 0.5 <= free <= mean_s * 1.5
    assert free == wait_s(failures, BUSY, LIMITS, Random(seed)), "the jitter comes from the seed alone"
    failure = Failure(problem="is overloaded", retry=True, retry_after_s=asked_s)
    assert asked_s <= wait_s(failures, failure, LIMITS, Random(seed)) <= asked_s * 1.1


@pytest.mark.slow
@given(st.integers(1, 5), st.lists(st.integers(0, 3), min_size=1, max_size=30), st.data())
async def test_the_gate_loses_no_place(ceiling: int, steps: list[int], data: st.DataObject) -> None:
    gate = Gate(ceiling)
    most = 0

    async def call(length: int) -> None:
        nonlocal most
        async with gate.slot(first=length % 2 == 0):
            most = max(most, gate.in_flight)
            for _ in range(length):
                await asyncio.sleep(0)

    calls = [asyncio.create_task(call(length)) for length in steps]
    for victim in data.draw(st.lists(st.sampled_from(calls), max_size=5)):
        await asyncio.sleep(0)
        victim.cancel()
    await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20)
    assert most <= ceiling
    assert gate.in_flight == 0
    await asyncio.wait_for(call(1), 20)


async def test_a_retry_goes_before_calls_that_have_not_begun() -> None:
    gate = Gate(1)
    order: list[str] = []

    async def call(name: str, *, first: bool) -> None:
        async with gate.slot(first=first):
            order.append(name)

    async with gate.slot():
        calls = [asyncio.create_task(call(name, first=name != "retry")) for name in ("one", "two", "retry")]
        await asyncio.sleep(0)
    await asyncio.gather(*calls)
    assert order == ["retry", "one", "two"]


async def test_retry_after_holds_every_call_back() -> None:
    clock = JumpingClock()
    gate = Gate(4, elapsed=clock.elapsed, sleep=clock.sleep)
    async with gate.slot() as slot:
        slot.note_overload(30.0)
    assert gate.closed_for_s == pytest.approx(30.0, abs=1.0)
    async with gate.slot():
        assert gate.closed_for_s == 0.0
    assert sum(clock.waits_s) == pytest.approx(30.0, abs=1.0)


async def test_requests_start_apart() -> None:
    waits_s: list[float] = []

    async def sleep(wait_s: float) -> None:
        waits_s.append(wait_s)

    gate = Gate(5, elapsed=lambda: 100.0, sleep=sleep)

    async def call() -> None:
        async with gate.slot():
            pass

    await asyncio.gather(*(call() for _ in range(5)))
    assert waits_s == pytest.approx([SPACING_S * place for place in range(1, 5)]), "the first does not wait"
