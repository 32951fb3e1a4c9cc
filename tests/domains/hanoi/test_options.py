"""Options are completed or refused with the nearest names, and briefs agree with them."""

import pytest
from memento.core.errors import UsageError
from memento.core.values import JSON
from memento.domains.hanoi import DOMAIN as HANOI
from memento.domains.hanoi.domain import HanoiDomain
from memento.domains.hanoi.options import settings
from memento.domains.hanoi.randomisation import LIGHT
from memento.domains.hanoi_kinematic import DOMAIN as KINEMATIC

BOTH = pytest.mark.parametrize("domain", [HANOI, KINEMATIC], ids=lambda domain: domain.name)


@BOTH
@pytest.mark.parametrize("preset", ["smoke", "quick", "paper"])
def test_every_preset_is_the_papers_task(domain: HanoiDomain, preset: str) -> None:
    options = domain.options({}, preset=preset)
    assert options["n_cubes"] == 4 and options["goal_update"] == "achieved" and options["rules"] == "strict"


def test_the_papers_horizon() -> None:
    options = HANOI.options({}, preset="paper")
    assert (options["horizon"], options["randomisation"]) == (12_000, "table")


@BOTH
def test_a_single_quantity_overrides_its_preset(domain: HanoiDomain) -> None:
    options = domain.options({"randomisation": "light", "noise_std_m": [0.0, 0.05], "bias_m": 0.01}, preset="quick")
    found = settings(options, domain=domain.name).randomisation
    assert found.noise_std_m == (0.0, 0.05)
    assert found.bias_m == (0.01, 0.01)
    assert found.cube_mass_scale == LIGHT.cube_mass_scale


def test_the_kinematic_task_keeps_hard_noise_equally_correlated_in_time() -> None:
    def coefficient(domain: HanoiDomain, given: dict[str, JSON]) -> float:
        options = domain.options({"randomisation": "hard", **given}, preset="paper")
        return settings(options, domain=domain.name).randomisation.noise_correlation[0]

    steps = KINEMATIC.motion.control_period_s / HANOI.motion.control_period_s
    assert coefficient(KINEMATIC, {}) == pytest.approx(coefficient(HANOI, {}) ** steps, abs=1e-3)
    assert coefficient(KINEMATIC, {"noise_correlation": 0.5}) == 0.5


@BOTH
@pytest.mark.parametrize(("given", "words"), [
    ({"noise_std": 0.1}, "'noise_std': did you mean 'noise_std_m'"),
    ({"randomisation": "tabel"}, "did you mean 'table'"),
    ({"randomisation": 3}, "known: hard, light, none, table"),
    ({"rules": "lenient"}, "paper, strict"),
    ({"goal_update": "desird"}, "did you mean 'desired'"),
    ({"variant": "pyramid"}, r"unknown hanoi\S*\.variant 'pyramid'"),
    ({"n_cubes": 7}, "from 1 to 6"),
    ({"n_cubes": True}, "whole number"),
    ({"horizon": 0}, "whole number from 1"),
    ({"horizon": 10.5}, "whole number"),
    ({"noise_std_m": [0.2, 0.1]}, "the lower one first"),
    ({"noise_std_m": [-0.2, 0.1]}, "must not be negative"),
    ({"noise_std_m": "much"}, r"\[low, high\] or one number"),
    ({"noise_std_m": [0.1]}, r"\[low, high\] or one number"),
    ({"noise_std_m": float("nan")}, "two finite numbers"),
    ({"noise_correlation": 1.0}, "below 1"),
])
def test_what_cannot_be_is_refused(domain: HanoiDomain, given: dict[str, JSON], words: str) -> None:
    with pytest.raises(UsageError, match=words) as refusal:
        domain.options(given, preset="quick")
    assert domain.name in str(refusal.value)


def test_simulator_options_exist_only_with_the_simulator() -> None:
    assert HANOI.options({"physics": "fast", "idle_stop_s": 20}, preset="paper")["physics"] == "fast"
    with pytest.raises(UsageError, match="did you mean 'exact'"):
        HANOI.options({"physics": "exat"}, preset="paper")
    with pytest.raises(UsageError, match="idle_stop_s"):
        HANOI.options({"idle_stop_s": -1}, preset="paper")
    with pytest.raises(UsageError, match="unknown option of hanoi-kinematic 'physics'"):
        KINEMATIC.options({"physics": "fast"}, preset="paper")


@BOTH
@pytest.mark.parametrize("n_cubes", [3, 4, 6])
def test_a_brief_has_the_shapes_that_hold(domain: HanoiDomain, n_cubes: int) -> None:
    brief = domain.brief(domain.options({"n_cubes": n_cubes, "horizon": 777}, preset="paper"))
    assert f"({3 * n_cubes},)" in brief.policy_interface
    assert f"(T+1, {n_cubes}, 3)" in brief.evaluator_interface
    assert "777 control steps" in brief.task
    assert f"{2 ** n_cubes - 1} moves" in brief.task
    assert f"every control step of {1000 * domain.motion.control_period_s:g} ms" in brief.policy_interface
    assert "$" not in brief.task + brief.policy_interface + brief.evaluator_interface + brief.uncertainties
    assert "$" not in str(brief.evaluator_uncertainties)


@BOTH
@pytest.mark.parametrize("rules", ["paper", "strict"])
def test_a_brief_of_one_cube_asks_for_one_move(domain: HanoiDomain, rules: str) -> None:
    brief = domain.brief(domain.options({"n_cubes": 1, "rules": rules}, preset="paper"))
    assert "one cube (small) stands in container A. Move it to container C: one move." in brief.task
    assert "tower of 1" not in brief.task and "1 moves" not in brief.task
    assert "(3,)" in brief.policy_interface and "(T+1, 1, 3)" in brief.evaluator_interface
    assert "One cube has no pairs: it is always 0." in brief.evaluator_interface


@BOTH
def test_a_brief_describes_the_goal_update(domain: HanoiDomain) -> None:
    texts = {
        mode: domain.brief(domain.options({"goal_update": mode}, preset="paper")).policy_interface
        for mode in ("achieved", "desired")
    }
    assert "computed again" in texts["achieved"] and "accumulate" not in texts["achieved"]
    assert "accumulate" in texts["desired"] and "computed again" not in texts["desired"]


@BOTH
def test_a_brief_lists_exactly_the_uncertainties(domain: HanoiDomain) -> None:
    def texts_of(given: dict[str, JSON]) -> str:
        brief = domain.brief(domain.options(given, preset="paper"))
        return brief.uncertainties + brief.policy_interface

    assert "[0.002, 0.025] m" in texts_of({}) and "**noisy**" in texts_of({})
    assert "are late" not in texts_of({})
    assert "late" in texts_of({"randomisation": "hard"}) and "AR(1)" in texts_of({"randomisation": "hard"})
    assert "noisy" not in texts_of({"randomisation": "none"})
    assert "Gaussian" in texts_of({"randomisation": "none", "noise_std_m": 0.01})


@BOTH
def test_writers_of_evaluators_read_only_what_shows_in_a_recording(domain: HanoiDomain) -> None:
    def differences(name: str) -> str:
        return str(domain.brief(domain.options({"randomisation": name}, preset="paper")).evaluator_uncertainties)

    for hidden in ("noise", "late", "friction", "mass", "strength"):
        assert hidden not in differences("hard")
    assert "turned about the vertical" in differences("hard") and "turned" not in differences("table")
    assert "shifted together" in differences("table")
    assert "A push of 0.1 m/s slides a cube by" in differences("hard")
    late = domain.brief(domain.options({"latency_steps": [4, 4]}, preset="paper")).uncertainties
    assert "late by a whole number of control steps, always 4;" in late
    assert "nearly the same way" in differences("none")


@BOTH
def test_a_brief_says_what_parking_is_worth(domain: HanoiDomain) -> None:
    def ranks(name: str) -> str:
        return domain.brief(domain.options({"rules": name}, preset="paper")).evaluator_interface

    assert "left on the bare table is illegal" in ranks("strict")
    assert "no rule forbids it" in ranks("paper") and "illegal moves, which end" not in ranks("paper")
    assert ("counts as still in the container from which it came: with all but the largest on the table, all moves "
            "are left; with the largest then in its place on C, 7.") in ranks("paper")
    for name in ("paper", "strict"):
        assert "one that is in the hand\n  at the end, or lies elsewhere, is still to be moved" in ranks(name)
    between = "has 15 moves between the containers."
    task = domain.brief(domain.options({"rules": "paper"}, preset="paper")).task
    assert between in task and between not in domain.brief(domain.options({"rules": "strict"}, preset="paper")).task


@BOTH
def test_a_brief_describes_strict_rules(domain: HanoiDomain) -> None:
    def rules(name: str) -> str:
        return domain.brief(domain.options({"rules": name}, preset="paper")).task

    assert "outside the gates" in rules("strict") and "outside the gates" not in rules("paper")
