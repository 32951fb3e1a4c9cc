"""The schedule of a search within a budget of episodes."""

import pytest
from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st
from memento.core.errors import UsageError
from memento.settings import build_settings, parse_budgets
from memento.settings.schedule import CONFIRM, FEWEST, TUNING, challenges, schedule
from memento.tui.words import shares_words


@given(st.integers(1, 5000), st.integers(1, 200), st.integers(1, 20), st.integers(1, 30))
def test_a_schedule_fits_its_budget_or_has_the_fewest_episodes(
    limit: int, candidates: int, generations: int, n_roll: int
) -> None:
    each, confirm = schedule(limit, candidates=candidates, meetings=generations, n_roll=n_roll)
    assert min(FEWEST, n_roll) <= each <= n_roll
    assert confirm in (*CONFIRM, 0)
    if n_roll * (candidates + 1) + challenges(CONFIRM[0], generations) <= limit:
        assert (each, confirm) == (n_roll, CONFIRM[0]), "an ample budget has room for both"
    elif each > min(FEWEST, n_roll):
        assert each * (candidates + 1) + challenges(confirm, generations) <= limit


def settings(**values: object):
    return build_settings({"domain": "hanoi-kinematic", **values}, environment={})


def test_a_small_budget_lowers_the_episodes_per_candidate_and_confirms() -> None:
    paper = settings(preset="paper", budget_episodes=600)
    assert (paper.n_roll, paper.confirm_episodes, paper.choice_episodes, paper.racing) == (3, 6, 100, False)
    small = settings(preset="paper", budget_episodes=128)
    assert (small.n_roll, small.confirm_episodes, small.choice_episodes) == (2, 6, 25)
    ample = settings(preset="quick", budget_episodes=128)
    assert (ample.n_roll, ample.confirm_episodes, ample.choice_episodes) == (2, 6, 25)
    walker = settings(preset="quick", budget_episodes=128, generations=3, k_hc=2, k_macro=2, k_cross=1)
    assert (walker.n_roll, walker.confirm_episodes, walker.choice_episodes) == (3, 12, 25)


def test_an_ample_budget_raises_the_episodes_per_candidate_and_says_what_stays_unspent() -> None:
    assert [settings(budget_episodes=limit).n_roll for limit in (128, 400, 1000, 3000)] == [2, 6, 10, 10]
    given = settings(budget_episodes=1000, n_roll=3)
    assert given.n_roll == 3 and "717 stay unspent: a larger n_roll" in shares_words(given.as_json())
    assert "unspent" not in shares_words(settings(budget_episodes=400).as_json())
    assert settings(preset="smoke", budget_episodes=100).n_roll == 1


def test_the_paper_and_methods_without_a_lasting_elite_have_no_fresh_episodes() -> None:
    for found in (settings(preset="paper"), settings(preset="smoke"), settings(method="zero-shot")):
        assert (found.confirm_episodes, found.choice_episodes, found.stop_when) == (0, 0, "never")
    found = settings(preset="quick")
    assert (found.confirm_episodes, found.choice_episodes, found.stop_when) == (9, 20, "saturated")
    assert settings(method="eureka").stop_when == "never", "which has no climb"


def test_the_offline_model_practises_where_the_user_decides_no_numbers() -> None:
    assert (settings().proposer_turns, settings().practice_on) == (20, "task")
    arm = build_settings({"domain": "hanoi"}, environment={})
    assert (arm.proposer_turns, arm.practice_on) == (20, "twin")
    cylinders = build_settings({"domain": "hanoi"}, assignments=["hanoi.variant=cylinder"], environment={})
    others = [settings(preset="quick"), settings(n_roll=2), settings(model="openai:m"), settings(method="eureka")]
    for found in (cylinders, *others, build_settings({"domain": "kitchen"}, environment={})):
        assert (found.proposer_turns, found.practice_on) == (0, "task")


def test_the_measure_grows_with_the_search() -> None:
    assert settings(budget_episodes=1200).final_episodes == 60
    assert settings(budget_episodes=1200, final_episodes=5).final_episodes == 5


def test_real_time_is_the_control_period_of_the_domain() -> None:
    assert settings(step_limit_ms="real-time").step_limit_ms == 200.0
    assert settings(domain="robosuite:Lift", step_limit_ms="real-time").step_limit_ms == 50.0
    assert settings(domain="gym:CartPole-v1", step_limit_ms="real-time").step_limit_ms == 20.0
    assert (settings().step_limit_ms, settings(step_limit_ms=7.5).step_limit_ms) == (None, 7.5)
    with pytest.raises(UsageError, match="the control step of 'kitchen' has no known duration"):
        settings(domain="kitchen", step_limit_ms="real-time")


def tuning(**values: object) -> tuple[int, int]:
    found = settings(**{"domain": "gym:Pusher-v5", **values})
    return found.k_tune, found.tune_episodes


@pytest.mark.slow
def test_a_quick_offline_search_tunes_where_the_shelf_needs_numbers_that_fit_one_another() -> None:
    assert (tuning(), tuning(domain="robosuite:Lift"), tuning(domain="robosuite:Door")) == ((1, 240), (1, 60), (0, 200))
    assert tuning(tune_episodes=50) == (1, 50) and tuning(k_tune=0)[0] == 0 and tuning(k_tune=2)[0] == 2
    for other in ({"preset": "smoke"}, {"preset": "paper"}, {"model": "openai:any"}, {"method": "random"},
                  {"budget_episodes": 300}, {"domain": "gym:CartPole-v1"}, {"domain": "hanoi"},
                  {"domain": "hanoi-kinematic"}):
        assert tuning(**other) == (0, 200), other


def test_a_budget_with_room_is_shared_with_tuning() -> None:
    """1,200 episodes: 3 for p_0 and for each of 40 candidates, 100 and 60 fresh ones, the rest for four tunings."""
    assert tuning(budget_episodes=1200) == (1, 229)
    assert tuning(budget_episodes=1002) == (0, 200), "three quarters of 240 episodes for each tuning are needed"
    assert tuning(budget_episodes=1200, k_tune=0)[0] == 0
    assert tuning(budget_episodes=1200, tune_episodes=100) == (1, 100)


def test_given_numbers_stay() -> None:
    chosen = settings(preset="paper", budget_episodes=128, n_roll=5, confirm_episodes=1)
    assert (chosen.n_roll, chosen.confirm_episodes) == (5, 1)
    assert settings(preset="paper", budget_episodes=128, confirm_episodes=0).confirm_episodes == 0
    assert settings(preset="paper", budget_episodes=128, method="zero-shot").confirm_episodes == 0


@pytest.mark.parametrize("values, message", [
    ({"budget_episodes": 128, "racing": True}, "'racing' has no effect with budget_episodes"),
    ({"budget_episodes": 5, "n_roll": 3}, "no room for the first policy and one candidate, which take 7 episodes"),
    ({"budget_episodes": 8, "n_roll": 3, "confirm_episodes": 2}, "which take 11 episodes"),
    ({"method": "zero-shot", "confirm_episodes": 2}, "'confirm_episodes' has no effect with the method 'zero-shot'"),
    ({"budget_episodes": 0}, "greater than or equal to 1"),
])
def test_what_is_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        settings(**values)


def test_the_budget_of_episodes_is_part_of_the_plan_and_cannot_change_in_a_resumed_run() -> None:
    with pytest.raises(UsageError, match="cannot change in a resumed run, because the search was planned with it"):
        parse_budgets({"budget_episodes": 9}, ())


def test_tuning_takes_a_part_of_the_budget_or_all_of_it() -> None:
    half = settings(preset="paper", budget_episodes=1200, k_tune=1)
    assert (half.tune_episodes, half.n_roll) == (80, 5)
    alone = settings(preset="paper", budget_episodes=1200, method="cma-es")
    assert (alone.tune_episodes, alone.n_roll) == (1180, 10)
    assert settings(preset="paper", budget_episodes=1200, k_tune=1, tune_episodes=50).tune_episodes == 50
    assert settings(preset="paper", budget_episodes=1200).tune_episodes == 200, "without a slot it has no effect"


def test_a_small_budget_has_one_tuning_with_enough_episodes_instead_of_one_in_each_generation() -> None:
    small = settings(preset="quick", budget_episodes=128, k_tune=1)
    assert (small.tune_generations, small.tune_episodes) == (1, 64)
    assert (small.n_roll, small.confirm_episodes, small.choice_episodes) == (2, 6, 25), "as without tuning"
    more = settings(preset="quick", budget_episodes=400, k_tune=1)
    assert (more.tune_generations, more.tune_episodes) == (2, 66)
    assert settings(preset="quick", budget_episodes=1200, k_tune=1).tune_generations == 0, "in all"
    mine = settings(preset="quick", budget_episodes=128, k_tune=1, tune_episodes=20)
    assert (mine.tune_generations, mine.tune_episodes) == (0, 20), "what a user sets stays"
    assert settings(preset="quick", budget_episodes=128, k_tune=1, tune_generations=2).tune_episodes == 32


@settings_of(deadline=None, max_examples=40)
@given(st.integers(40, 2000), st.integers(1, 12), st.integers(1, 2))
def test_a_tuning_is_planned_with_enough_episodes_or_alone(limit: int, generations: int, slots: int) -> None:
    found = settings(preset="quick", budget_episodes=limit, generations=generations, k_tune=slots)
    tuned = found.tune_generations or generations
    assert 1 <= tuned <= generations
    assert found.tune_episodes >= TUNING or tuned == 1
    in_all = tuned * slots * found.tune_episodes
    assert in_all + found.choice_episodes <= limit
