"""What runs of a server may spend: decided from budgets, what is left, and what was spent before."""

from pathlib import Path
from typing import Any

import pytest
from memento.core.errors import UsageError
from memento.extensions.mcp.spending import Allowance, Bounds, granted, paid_models
from memento.models.spec import parse_spec, parse_specs
from memento.settings import Settings, build_settings

MODEL = "anthropic:claude-x"
BOUNDS = Bounds(models=(parse_spec(MODEL),), most={"usd": 5.0, "calls": 10.0})
NOTHING = {"calls": None, "tokens": None, "usd": None}


def settings(**given: object) -> Settings:
    return build_settings({"domain": "hanoi-kinematic", **given}, environment={})


def test_without_a_budget_a_run_gets_what_is_left_and_with_one_no_more() -> None:
    left = {"usd": 1.5, "calls": 3.0}
    assert granted(NOTHING, left=left, before={}, within=BOUNDS) == {"budget_usd": 1.5, "budget_calls": 3}
    asked = {**NOTHING, "usd": 1.0}
    assert granted(asked, left=left, before={}, within=BOUNDS) == {"budget_usd": 1.0, "budget_calls": 3}
    with pytest.raises(UsageError, match=r"budget_usd = 2 .* at most 1\.5"):
        granted({**NOTHING, "usd": 2.0}, left=left, before={}, within=BOUNDS)


def test_the_budget_of_a_continued_run_counts_what_it_spent() -> None:
    left, before = {"usd": 1.0, "calls": 2.0}, {"usd": 0.5, "calls": 7.0}
    found = granted(NOTHING, left=left, before=before, within=BOUNDS)
    assert found == {"budget_usd": 1.5, "budget_calls": 9}
    assert isinstance(found["budget_calls"], int)


@pytest.mark.parametrize("left", [{"usd": 0.0, "calls": 1.0}, {"usd": 1.0, "calls": -2.0}])
def test_nothing_is_granted_when_one_kind_is_spent(left: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="are spent"):
        granted(NOTHING, left=left, before={}, within=BOUNDS)


def test_a_live_run_counts_with_its_whole_grant_and_one_that_never_began_with_nothing(tmp_path: Path) -> None:
    live = {tmp_path / "one"}
    allowance = Allowance(BOUNDS, lambda folder: folder in live)
    allowance.grant(tmp_path / "one", allowance.budgets_for(settings(model=MODEL, budget_usd=4.0)))
    assert allowance.left() == {"usd": 1.0, "calls": 0.0}
    with pytest.raises(UsageError, match="calls are spent or promised"):
        allowance.budgets_for(settings(model=MODEL))
    live.clear()
    assert allowance.left() == {"usd": 5.0, "calls": 10.0}


def test_every_role_counts_and_what_is_free_needs_no_allowance(tmp_path: Path) -> None:
    none = Allowance(None, lambda folder: False)
    assert none.budgets_for(settings()) == {}
    for given in ({"judges": [MODEL]}, {"evaluator_model": MODEL}, {"model": f"{MODEL},offline"}):
        chosen = settings(**given)
        assert {spec.name for spec in paid_models(chosen)} == {MODEL}
        with pytest.raises(UsageError, match="may spend nothing"):
            none.budgets_for(chosen)
    other = settings(model="compatible:evil@http://127.0.0.1:1/v1#x")
    with pytest.raises(UsageError, match=r"may not ask the model 'evil:x at http://127\.0\.0\.1:1/v1'"):
        Allowance(BOUNDS, lambda folder: False).budgets_for(other)
    with pytest.raises(UsageError, match="another program started it"):
        Allowance(BOUNDS, lambda folder: True).require_may_go_on(other, tmp_path)


HERE, THERE = "compatible:lab@http://127.0.0.1:1/v1#m", "compatible:lab@http://127.0.0.1:2/evil#m"


@pytest.mark.parametrize("given", [
    {"model": THERE}, {"model": THERE, "judges": [HERE]}, {"model": HERE, "judges": [THERE]},
    {"model": f"{THERE},{HERE}"}, {"model": f"{HERE},{THERE}"}, {"model": HERE, "evaluator_model": THERE},
    {"judges": [HERE, THERE, HERE]}, {"model": HERE, "critic": THERE},
])
def test_the_label_of_an_allowed_model_lets_no_other_address_through(given: dict[str, Any]) -> None:
    """Two models of one name: the first was asked, and only the last was compared with what is allowed."""
    allowance = Allowance(Bounds(models=parse_specs(HERE), most={"calls": 10.0}), lambda folder: False)
    assert allowance.budgets_for(settings(model=HERE)) == {"budget_calls": 10}
    with pytest.raises(UsageError, match=r"may not ask the model 'lab:m at http://127\.0\.0\.1:2/evil'"):
        allowance.budgets_for(settings(**given))
