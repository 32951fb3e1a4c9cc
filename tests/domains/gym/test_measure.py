"""What is measured is what is wanted: success before return, random actions that are random, whole episodes."""

import json
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import UsageError
from memento.core.ports import InvalidAction
from memento.core.provenance import GIVEN
from memento.domains import load, require_same_simulator
from memento.domains.gym import options as options_module
from memento.domains.gym.evaluator import Evaluator
from memento.domains.gym.options import settings
from memento.domains.gym.reward_shape import PlayedRewards, shape_of

from ...conformance.playing import play

HERE = "gym:memento.tests.support.measured_environments"


def name_of(kind: str) -> str:
    return f"{HERE}:Measured{kind}-v0"


def completed(kind: str, **given: Any) -> dict[str, Any]:
    return load(name_of(kind), GIVEN).options(given, preset="smoke")


def graded(kind: str, action: float, steps: int, **given: Any) -> tuple[float, float, bool]:
    """F under the reference evaluator, the return, and S of an episode with one action, then none."""
    environment = load(name_of(kind), GIVEN).environment(completed(kind, **given))
    actions = [np.array([action if step < steps else 0.0]) for step in range(50)]
    played = play(environment, actions, seed=3)
    environment.close()
    fitness, _ = Evaluator().evaluate(dict(played.recording.arrays()))
    return fitness, float(str(played.recording.info["return"])), played.success


@pytest.mark.parametrize("kind", ["Cover", "Cost", "Toll", "Found"])
def test_a_success_is_worth_more_than_any_return(kind: str) -> None:
    """A program that stops short of 95 % collects the reward of every step; it has the lower fitness all the same."""
    early, late, short = graded(kind, 0.1, 50), graded(kind, 0.03, 50), graded(kind, 0.1, 7)
    assert early[2] and late[2] and not short[2]
    assert early[0] > late[0] > 0.94 > 0.5 > short[0]
    if kind == "Cover":
        assert short[1] > early[1], "what the return alone asks for"
        by_return = [graded(kind, 0.1, steps, measure="return")[0] for steps in (50, 7)]
        assert by_return[0] < by_return[1], "unless the user asks for it"


def fitness_of(total: float) -> float:
    """F where random actions have a return of 0 and a good one is 1."""
    return Evaluator().evaluate({
        "reward": np.array([total]), "return_low": np.zeros(1), "return_high": np.ones(1), "action": np.zeros((1, 1)),
        "action_low": np.array([-1.0]), "action_high": np.array([1.0]),
    })[0]


@given(st.floats(-1e6, 1e9), st.floats(0.01, 1e6))
def test_the_fitness_grows_with_the_return(total: float, more: float) -> None:
    assert 0.0 <= fitness_of(total) < fitness_of(total + more + 0.01 * abs(total)) < 1.0


@given(st.floats(0.5, 900.0))
def test_a_guess_that_was_much_too_low_hides_no_difference(total: float) -> None:
    """A return that is a tenth higher differs in a digit that displays show."""
    assert fitness_of(1.1 * total) - fitness_of(total) > 0.001
    assert fitness_of(0.0) == 0.25 and fitness_of(1.0) == 0.75


def test_the_look_says_that_return_and_success_contradict_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[bool] = []
    monkeypatch.setattr(
        options_module, "_say_what_counts", lambda name, found, measure: warned.append(found.shape.contradicts)
    )
    domain = load(name_of("Cover"), GIVEN)
    brief = domain.brief(completed("Cover"))
    assert "The policy should succeed in as many episodes as possible" in brief.task
    assert "Return and success contradict each other" in brief.task and "Success counts first here." in brief.task
    assert "(a guess: nothing names a good return)" in brief.reference_fitness
    assert "f_e is 1 - 0.05 (t - 1) / 50 for an episode that succeeds from step t on" in brief.reference_fitness
    assert "Sooner is better, also where the return is lower." in brief.reference_fitness and brief.has_top
    by_return = domain.brief(completed("Cover", measure="return"))
    assert not by_return.has_top and "1 - 0.25 / y^(1/4) with y = (R " in by_return.reference_fitness
    assert "as large as possible" in by_return.task and "The return alone counts here." in by_return.task
    assert "contradict" not in load(name_of("Cost"), GIVEN).brief(completed("Cost", high=-10)).task
    assert "guess" not in load(name_of("Cost"), GIVEN).brief(completed("Cost", high=-10)).reference_fitness
    assert warned == [True, True, False, False]


def test_a_measure_of_success_needs_a_success() -> None:
    with pytest.raises(UsageError, match=r"name it with gym\.success_key"):
        completed("Guess", measure="success")
    assert completed("Guess")["measure"] == "return"


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.floats(-1e9, 1e9))
def test_the_fitness_is_ordered_by_success_then_time_then_return(flags: list[bool], total: float) -> None:
    def fitness(flags: Sequence[bool], total: float) -> float:
        steps = len(flags)
        return Evaluator().evaluate({
            "reward": np.full(steps, total / steps), "return_low": np.zeros(1), "return_high": np.ones(1),
            "success": np.array([False, *flags]), "horizon": np.array([40]), "action": np.zeros((steps, 1)),
            "action_low": np.array([-1.0]), "action_high": np.array([1.0]),
        })[0]

    found = fitness(flags, total)
    assert (found >= 0.95) == flags[-1] and (found <= 0.5) == (not flags[-1])
    if flags[-1]:
        assert fitness([*flags, True], total) == found, "an episode that goes on after success loses nothing"
        assert fitness([False, *flags], total) == pytest.approx(found - 0.05 / 40) or all(flags)
    else:
        assert fitness(flags, total + abs(total) + 1) >= found


def test_the_shape_of_rewards() -> None:
    def shape(*episodes: tuple[list[float], list[bool], bool]) -> Any:
        return shape_of([PlayedRewards(rewards=r, flags=f, terminated=t) for r, f, t in episodes])

    living = ([0.5] * 5, [False] * 5, False)
    assert shape(living).contradicts and "If success ends an episode" in shape(living).conflict
    ended = ([0.5, 0.5], [False, True], True)
    assert "had a mean return of 1, the others 2.5" in shape(living, ended).conflict
    assert not shape(([0.5, 0.5, 9.0], [False, False, True], True), living).contradicts, "success pays for it"
    assert not shape(([1.0] * 9, [True] * 9, False)).contradicts, "an episode goes on after success"
    assert not shape(([-1.0] * 5, [False] * 5, False)).contradicts
    assert not shape(([0.0] * 4 + [1.0], [False] * 5, False)).contradicts, "a single event"


@pytest.mark.parametrize(("kind", "contradicts"), [("Toll", True), ("Found", False)])
def test_a_success_that_costs_return_is_told_from_one_that_pays(kind: str, contradicts: bool) -> None:
    shape = settings(completed(kind)).description.shape
    assert shape is not None and shape.succeeded and shape.contradicts == contradicts


@pytest.mark.parametrize("kind", ["Guess", "GuessGlobal", "GuessSpace"])
def test_random_actions_are_random(kind: str) -> None:
    """They draw from a stream of their own: in guessing one of 8 they are right in one of 8 steps."""
    found = settings(completed(kind)).description
    assert 3.0 < found.random_mean < 10.0


@pytest.mark.parametrize("seed", [0, 1, 7, 2**31 - 1])
def test_no_two_generators_of_a_look_are_equal(seed: int) -> None:
    from memento.domains.gym.actions import ActionReader
    from memento.domains.gym.loading import Simulator
    from memento.domains.gym.names import KEPT, parse_id
    from memento.domains.gym.perturbing import STREAM
    from memento.domains.gym.playing import Player
    from memento.domains.gym.spaces import leaves_of

    simulator = Simulator(parse_id(name_of("Guess").removeprefix("gym:")), {}, max_episode_steps=1, mode=KEPT)
    first: list[Any] = []
    simulator_begin = simulator.begin

    def begin(seed: int) -> Any:
        begun = simulator_begin(seed)
        first.append(simulator.env.unwrapped.np_random.bit_generator.state["state"]["state"])
        return begun

    simulator.begin = begin     # type: ignore[method-assign]
    action = leaves_of(simulator.env.action_space, root="action", scalars=True)
    leaves = leaves_of(simulator.env.observation_space, root="observation")
    player = Player(simulator, leaves, ActionReader(action), 1, lambda: None)
    drawn: list[Any] = []
    draw = player._reader.random_vector

    def draw_once(rng: np.random.Generator, mask: Any) -> Any:
        drawn.append(rng.bit_generator.state["state"]["state"])
        return draw(rng, mask)

    player._reader.random_vector = draw_once    # type: ignore[method-assign]
    player.play(seed, limit_s=9.0, see=lambda observation, info: None)
    physics = np.random.default_rng([STREAM, seed]).bit_generator.state["state"]["state"]
    assert len({*first, *drawn, physics}) == 3


def test_a_look_of_another_version_is_refused_and_an_own_one_is_not_repeated() -> None:
    found = completed("Guess")
    old = json.loads(found["description"]) | {"format": 1}
    with pytest.raises(UsageError, match="remove it, and it is measured again"):
        completed("Guess", description=json.dumps(old))
    assert completed("Guess", **found) == found


@pytest.mark.parametrize("kind", ["Cover", "Late", "Limited", "Single", "Fleeting", "Guess"])
def test_an_episode_is_that_of_the_bare_loop(kind: str) -> None:
    """As many steps, and the rewards to the last digit; also where a property makes the action space."""
    own = completed(kind)
    known = settings(own).description
    assert known.repeatable
    bare = gymnasium.make(f"memento.tests.support.measured_environments:Measured{kind}-v0")
    bare.reset(seed=5)
    actions = [np.array([3.0 if kind == "Guess" else 0.01]) for _ in range(1_100)]
    rewards, over = [], False
    while not over:
        action = np.int64(3) if kind == "Guess" else actions[0].astype(bare.action_space.dtype)
        _, reward, terminated, truncated, _ = bare.step(action)
        rewards.append(float(reward))
        over = terminated or truncated
    environment = load(name_of(kind), GIVEN).environment(own)
    played = play(environment, actions, seed=5)
    environment.close()
    assert played.recording.actions["reward"].tolist() == rewards
    if kind == "Late":
        assert len(rewards) == 42 and known.truncated_after == 42 and known.horizon == 1_000
        assert "truncated after 42 steps" in load(name_of(kind), GIVEN).brief(own).task


def test_success_has_its_usual_names_and_others_are_named() -> None:
    assert completed("Solved")["success"] == "solved"
    assert completed("Solved", success_key="metrics.reached")["success"] == "metrics.reached"
    assert graded("Solved", 0.1, 50, success_key="metrics.reached")[2]
    with pytest.raises(UsageError, match="name two things"):
        completed("Solved", success_key="metrics.reached", success="solved")
    info = settings(completed("Solved")).recorded_info
    assert not [field.name for field in info if "solved" in field.name], "hidden from the search by default"


@pytest.mark.parametrize("key", ["task_success", "goal_reached", "reached_goal"])
def test_a_success_by_another_usual_name_counts(key: str) -> None:
    """Also at the step in which it ends the episode."""
    assert completed("Named", **{"kwargs.key": key})["success"] == key
    assert graded("Named", 0.1, 50, **{"kwargs.key": key})[2] and not graded("Named", 0.1, 2, **{"kwargs.key": key})[2]


def test_a_success_by_an_unknown_name_is_none_until_it_is_named() -> None:
    assert completed("Named", **{"kwargs.key": "docked"})["success"] == "none"
    assert graded("Named", 0.1, 50, **{"kwargs.key": "docked", "success_key": "docked"})[2]


def test_what_reset_alone_says_reaches_the_policy_or_is_named() -> None:
    domain = load(name_of("Solved"), GIVEN)
    own = completed("Solved")
    environment = domain.environment(own)
    environment.reset(index=0, seed=3)
    environment.step(np.array([0.1]))
    assert environment.observe().tolist()[1:] == [0.95, 1.0]
    environment.close()
    brief = domain.brief(own)
    assert "`at_reset_goal`: numbers, shape (2,)" in brief.policy_interface
    assert "the same at every step" in brief.policy_interface and "so that no policy sees it: who." in brief.task


def test_an_environment_gets_what_it_needs_and_may_fail_to_close() -> None:
    """Options of `reset`, a render mode, pictures with alpha."""
    domain = load(name_of("Told"), GIVEN)
    own = completed("Told", **{"reset.start": 0.5, "kwargs.render_mode": "rgb_array"})
    assert completed("Told", **own) == own
    environment = domain.environment(own)
    environment.reset(index=0, seed=3)
    assert environment.observe().tolist() == [0.5]
    recording = environment.recording()
    environment.close()
    renderer = domain.renderer(own)
    renderer.require()
    playback = renderer.playback(recording, camera="default", width=8, height=8)
    assert playback.picture(0).shape == (8, 8, 3)
    playback.close()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["raises", "hangs", "exits", "leaves"])
def test_a_look_counts_however_the_environment_closes(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from memento.domains.gym import description

    monkeypatch.setattr(description, "CLOSED_S", 1.0)
    found = settings(completed("Closing", **{"kwargs.how": how})).description
    assert found.repeatable and found.random_episodes == 16


def test_a_missing_reading_is_none_of_the_programs_faults(capsys: pytest.CaptureFixture[str]) -> None:
    own = completed("Sonar")
    assert own["nan"] == "reading" and settings(own).description.no_reading == ("observation",)
    assert "has NaN, which counts as no reading" in capsys.readouterr().err
    domain = load(name_of("Sonar"), GIVEN)
    assert "NaN in an observation stands for no reading" in domain.brief(own).task
    environment = domain.environment(own)
    environment.reset(index=0, seed=3)
    assert np.isnan(environment.observe()).all() and environment.step(np.array([0.1])) is None
    while not np.isfinite(environment.observe()).all():
        environment.step(np.array([0.1]))
    strict = domain.environment(own | {"nan": "diverged"})
    strict.reset(index=0, seed=3)
    with pytest.raises(InvalidAction, match="the environment diverged"):
        strict.step(np.array([0.1]))
    environment.close()
    strict.close()
    assert completed("Cover")["nan"] == "diverged"


@pytest.mark.parametrize("name", ["gymnasium", "numpy"])
def test_another_version_of_any_part_is_another_simulator(name: str) -> None:
    own = completed("Cost")
    known = json.loads(own["description"])
    older = known | {"versions": known["versions"] | {name: "0.0.1"}}
    with pytest.raises(UsageError, match=rf"another simulator than the run's: {name} was 0\.0\.1 and is "):
        require_same_simulator(load(name_of("Cost"), GIVEN), own | {"description": json.dumps(older)})


def test_another_simulator_is_refused_with_what_changed() -> None:
    own = completed("Cover")
    known = json.loads(own["description"])
    [name] = [each for each in known["versions"] if each.startswith("module ") or each == "memento-evolve"]
    versions = known["versions"] | {name: "1.0", "gymnasium": "0.1"}
    older = own | {"description": json.dumps(known | {"versions": versions})}
    with pytest.raises(UsageError, match=f"gymnasium was 0.1 and is .*{name} was 1.0 and is .*cannot be compared"):
        completed("Cover", **older)
    with pytest.raises(UsageError, match="cannot be compared"):    # and under other options of the run
        completed("Cover", **older | {"max_episode_steps": 40})
    domain = load(name_of("Cover"), GIVEN)
    require_same_simulator(domain, own)
    gone = own | {"description": json.dumps(known | {"versions": known["versions"] | {"module depot": "1.0"}})}
    with pytest.raises(UsageError, match=r"was made with module depot, which is not here$"):
        require_same_simulator(domain, gone)
    with pytest.raises(UsageError, match=r"gymnasium was 0\.1"):     # what rank, resume and what-if ask first
        require_same_simulator(domain, older)
