"""The settings of `memento evaluate`: the limit on the time of a call."""

from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.settings.evaluate import EvaluateSettings, build_evaluate_settings

pytestmark = pytest.mark.quick


def settings(domain: str, limit: str | float | None) -> EvaluateSettings:
    return build_evaluate_settings(
        Path("policy.py"), domain, flags={}, episodes=1, seed=0, salt="none", evaluator="reference", workers=1,
        step_limit_ms=limit,
    )


def test_the_limit_is_a_number_or_the_control_step_of_the_domain() -> None:
    assert settings("hanoi-kinematic", None).step_limit_ms is None
    assert settings("hanoi-kinematic", "12.5").step_limit_ms == 12.5
    assert settings("hanoi-kinematic", "real-time").step_limit_ms == 200.0


@pytest.mark.parametrize(
    ("domain", "limit", "words"),
    [
        ("kitchen", "real-time", r"'kitchen' has no known duration.*\(--step-limit-ms\)"),
        ("hanoi-kinematic", "fast", "--step-limit-ms cannot be 'fast'"),
        ("hanoi-kinematic", "0", "--step-limit-ms cannot be '0'"),
        ("hanoi-kinematic", "inf", "--step-limit-ms cannot be 'inf'"),
        ("hanoi-kinematic", "nan", "--step-limit-ms cannot be 'nan'"),
    ],
)
def test_what_is_no_limit_is_refused(domain: str, limit: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        settings(domain, limit)
