"""The feedback on mature programs of real domains, at 2 and at 10 episodes: complete and bounded.

Metrics alone are compared word for word; the stories are a part of the golden prompts of `test_real_prompts`. After an
intended change, run `MEMENTO_GOLDEN=write pytest tests/prompts` and review the difference.
"""

import os
import re
from pathlib import Path

import pytest
from memento.agents.feedback import policy_feedback
from memento.core.metrics import flat_metrics

from .real_prompts import mature
from .record_episodes import OPTIONS, recorded

GOLDEN = Path(__file__).parent / "golden" / "feedback"
DETAILS = ("stories", "metrics")
MOST_TOKENS = {"stories": 3600, "metrics": 1200}  # four characters each
REAL = pytest.mark.parametrize(("domain", "episodes"), [(domain, count) for domain in OPTIONS for count in (2, 10)])


@REAL
def test_the_metrics_alone_are_the_golden_ones(domain: str, episodes: int) -> None:
    file = GOLDEN / f"{domain}-{episodes}-metrics.md"
    text = policy_feedback(mature(domain, recorded(domain), episodes), "metrics") + "\n"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("detail", DETAILS)
@REAL
def test_the_feedback_is_bounded(domain: str, episodes: int, detail: str) -> None:
    assert len(policy_feedback(mature(domain, recorded(domain), episodes), detail)) <= 4 * MOST_TOKENS[detail]


@pytest.mark.parametrize("detail", DETAILS)
@REAL
def test_no_metric_of_the_reference_evaluator_is_lost(domain: str, episodes: int, detail: str) -> None:
    whole = mature(domain, recorded(domain), episodes)
    text = policy_feedback(whole, detail)
    for name in {name for score in whole.scores for name in flat_metrics(score.metrics)}:
        assert len(re.findall(rf"(?:^|: |, ){re.escape(name)}(?=[ ,]|$)", text, re.MULTILINE)) == 1, name
