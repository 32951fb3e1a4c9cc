"""Changed physics: draws that repeat, factors that reach the simulator and leave with their episode, late actions."""

from typing import Any

import numpy as np
import pytest
from memento.core.errors import UsageError
from memento.core.ports import conditions_for
from memento.core.provenance import GIVEN
from memento.domains import load
from memento.domains.gym.loading import Simulator
from memento.domains.gym.names import FRESH, KEPT, parse_id
from memento.domains.gym.perturbing import HEAVY, LIGHT, RANGES, Draw, changing, draw, sentence


def test_a_draw_follows_from_the_seed_and_stays_in_its_range() -> None:
    for level, ranges in RANGES.items():
        drawn = [draw(level, seed) for seed in range(200)]
        assert drawn == [draw(level, seed) for seed in range(200)]
        for name in ("mass", "friction", "damping", "strength"):
            low, high = getattr(ranges, name)
            found = [getattr(each, name) for each in drawn]
            assert low <= min(found) < low + 0.1 * (high - low) and high - 0.1 * (high - low) < max(found) <= high
        assert {each.delay for each in drawn} == set(range(ranges.delay + 1))
    assert "0.92 to 1.08" in sentence(LIGHT) and "late" in sentence(HEAVY) and "late" not in sentence(LIGHT)


def rolled(name: str, seed: int, *, perturb: str, mode: str = KEPT, steps: int = 40) -> tuple[list[Any], Simulator]:
    simulator = Simulator(parse_id(name), {}, max_episode_steps=None, mode=mode, perturb=perturb)
    rng = np.random.default_rng(0)
    simulator.begin(seed)
    size = simulator.env.action_space.shape
    return [simulator.step(rng.uniform(-0.3, 0.3, size).astype(np.float32))[0] for _ in range(steps)], simulator


def test_the_factors_reach_mujocos_model_and_leave_with_the_episode() -> None:
    nominal, plain = rolled("InvertedPendulum-v5", 3, perturb="none")
    light, simulator = rolled("InvertedPendulum-v5", 3, perturb=LIGHT)
    mass = plain.env.unwrapped.model.body_mass.copy()
    factors = draw(LIGHT, 3)
    assert simulator.drawn == factors
    assert np.allclose(simulator.env.unwrapped.model.body_mass, mass * factors.mass)
    assert not np.allclose(nominal[-1], light[-1])
    again, other = rolled("InvertedPendulum-v5", 3, perturb=LIGHT)
    assert np.array_equal(light, again), "an episode repeats"
    other.begin(4)
    other.begin(3)
    assert np.allclose(other.env.unwrapped.model.body_mass, mass * factors.mass), "factors do not add up"
    for each in (plain, simulator, other):
        each.close()


def test_late_actions_take_effect_one_step_later() -> None:
    simulator = Simulator(parse_id("InvertedPendulum-v5"), {}, max_episode_steps=None, mode=KEPT, perturb=HEAVY)
    seed = next(seed for seed in range(50) if draw(HEAVY, seed).delay == 1)
    simulator.begin(seed)
    done: list[Any] = []

    class Noting:
        def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            done.append(action)
            return action, 0.0, False, False, {}

    simulator.env = Noting()
    for number in range(4):
        simulator.step(np.array([number], dtype=np.float32))
    assert [float(each[0]) for each in done] == [0, 0, 1, 2]


@pytest.mark.slow
def test_what_has_no_such_physics_is_refused_and_the_prompt_says_what_differs() -> None:
    with pytest.raises(UsageError, match="physics of MuJoCo and of Box2D"):
        Simulator(parse_id("CartPole-v1"), {}, max_episode_steps=None, mode=KEPT, perturb=LIGHT)
    domain = load("gym:InvertedPendulum-v5", GIVEN)
    assert [each["perturb"] for each in conditions_for(domain, domain.options({}, preset="smoke")).values()] == [
        LIGHT, HEAVY
    ]
    options = domain.options({"perturb": "light"}, preset="smoke")
    assert domain.options(options, preset="smoke") == options
    assert "all masses are 0.92 to 1.08 times" in domain.brief(options).uncertainties
    environment = domain.environment(options)
    environment.reset(index=0, seed=5)
    assert environment.recording().info["perturbed"] == draw(LIGHT, 5).as_json()
    environment.close()


@pytest.mark.slow
def test_an_environment_without_such_physics_is_refused_before_a_worker_has_it() -> None:
    other = load("gym:CartPole-v1", GIVEN)
    with pytest.raises(UsageError, match=r"gym.perturb = 'light' .* gym:CartPole-v1 has neither: leave it at 'none'"):
        other.options({"perturb": "light"}, preset="smoke")
    with pytest.raises(UsageError, match=r"robust = 'on' .* gym:CartPole-v1 has neither: remove it"):
        conditions_for(other, other.options({}, preset="smoke"))


@pytest.mark.slow
def test_the_factors_reach_box2ds_world() -> None:
    pytest.importorskip("Box2D", reason="the extra `suites` is not installed")
    nominal, plain = rolled("BipedalWalker-v3", 3, perturb="none")
    heavy, simulator = rolled("BipedalWalker-v3", 3, perturb=HEAVY)
    again, other = rolled("BipedalWalker-v3", 3, perturb=HEAVY, mode=FRESH)
    factors = draw(HEAVY, 3)
    masses = [each.env.unwrapped.hull.mass for each in (plain, simulator)]
    assert masses[1] == pytest.approx(masses[0] * factors.mass, rel=1e-3)
    assert not np.allclose(nominal[-1], heavy[-1]) and np.array_equal(heavy, again)
    way = changing(plain.env, "BipedalWalker-v3")
    weak = Draw(mass=1.0, friction=1.0, damping=1.0, strength=0.5, delay=0)
    assert np.allclose(way.scaled_action(np.ones(4, np.float32), weak), 0.5) and way.scaled_action(3, weak) == 3
    for each in (plain, simulator, other):
        each.close()
