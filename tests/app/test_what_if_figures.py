"""The figures of what-ifs: what a slot is worth, and arms against the first one, from hand-made draws."""

from collections.abc import Sequence

import pytest
from memento.app.what_if_arms import differences, value_of, welch_interval
from memento.app.what_if_rows import MEASURES, ArmDifference, ArmRow, DrawRow, StateRow


def row(gain: float | None, *, same: str | None = None, tokens: int = 0) -> DrawRow:
    return DrawRow(
        name="g1/hill/0/draw0", summary="", fitness=None if gain is None else 0.5 + gain, gain=gain,
        gain_interval=None, success_rate=None, mean_return=None, failure="no-program: no" if gain is None else None,
        same_as=same, rejected=False, calls=1, tokens=tokens, per_episode=(),
    )


def arm(name: str, gains: Sequence[float | None]) -> ArmRow:
    return ArmRow(
        arm=name, model="offline", changed={}, status="done", draws=len(gains), failures=0, known=0, rejected=0,
        better=0, fitness=None, gain=None, gain_interval=None, best_gain=None, improvement=None,
        improvement_interval=None, recorded_difference=None, recorded_interval=None, same_prompt=True, calls=0,
        tokens=0, cost_usd=0.0, rows=tuple(row(gain) for gain in gains),
    )


def state(*arms: ArmRow) -> StateRow:
    return StateRow(
        run="runs/one", candidate="g1/hill/0", operator="hill-climb", parent="init/0", parent_fitness=0.5, episodes=2,
        recorded=row(0.1), arms=arms,
    )


def found(states: Sequence[StateRow]) -> dict[str, ArmDifference]:
    return {each.measure: each for each in differences(states)}


def test_a_failure_and_a_loss_are_worth_nothing_and_a_failure_has_no_gain() -> None:
    assert [value_of(row(gain), "improvement") for gain in (0.2, -0.2, None)] == [0.2, 0.0, 0.0]
    assert [value_of(row(gain), "gain") for gain in (0.2, -0.2, None)] == [0.2, -0.2, None]
    assert [value_of(row(gain), "better") for gain in (0.2, 0.0, None)] == [1.0, 0.0, 0.0]
    assert [value_of(row(gain), "failed") for gain in (0.2, 0.0, None)] == [0.0, 0.0, 1.0]
    assert (value_of(row(0.0, same="init/0"), "known"), value_of(row(0.0, tokens=7), "tokens")) == (1.0, 7.0)


def test_states_are_paired() -> None:
    states = [state(arm("a", [level, level]), arm("b", [level + 0.1, level + 0.3])) for level in (0.0, 0.3, 0.6)]
    figures = found(states)
    assert {*figures} == {*MEASURES}
    gain = figures["gain"]
    assert (gain.arm, gain.against, gain.states) == ("b", "a", 3)
    assert gain.difference == pytest.approx(0.2)
    assert gain.interval == pytest.approx((0.2, 0.2)), "what the states differ by is no spread of the difference"
    assert gain.p_value == pytest.approx(2 / 2**3)


def test_a_state_without_a_value_is_left_out_and_one_state_is_compared_by_draws() -> None:
    states = [state(arm("a", [None]), arm("b", [0.1])), state(arm("a", [0.0, 0.2]), arm("b", [0.3, 0.5]))]
    gain = found(states)["gain"]
    assert (gain.states, gain.p_value) == (1, None)
    assert gain.difference == pytest.approx(0.3)
    assert gain.interval == welch_interval([0.3, 0.5], [0.0, 0.2])
    assert found(states)["improvement"].states == 2
    assert not [*differences([state(arm("a", [0.1]))])] and not [*differences([])]
    assert "gain" not in found([state(arm("a", [None]), arm("b", [0.1]))])


def test_welch_s_interval_is_the_published_one() -> None:
    # Two groups of n = 4 with equal variances are Student's case: t with 6 degrees of freedom is 2.447.
    low, high = welch_interval([1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 2.0, 3.0]) or (0.0, 0.0)
    half = 2.446912 * (2 * (5 / 3) / 4) ** 0.5
    assert (low, high) == pytest.approx((1 - half, 1 + half), abs=1e-5)
    assert welch_interval([1.0], [0.0, 1.0]) is None
    assert welch_interval([1.0, 1.0], [0.5, 0.5]) == (0.5, 0.5)
