"""The feedback on mature programs of real domains, at 2 and at 10 episodes, word for word, and complete.

The episodes come from `record_episodes`. `hanoi` has the evaluator and the recorded arrays of `hanoi-kinematic`.
After an intended change, run `MEMENTO_GOLDEN=write pytest tests/prompts` and review the difference.
"""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from memento.agents.feedback import policy_feedback
from memento.core.metrics import aggregate, flat_metrics, mean
from memento.core.values import Candidate

from ..support.prompt_samples import candidate
from .record_episodes import OPTIONS, recorded

GOLDEN = Path(__file__).parent / "golden" / "feedback"
DETAILS = ("stories", "metrics")
MOST_TOKENS = {"stories": 3600, "metrics": 1200}  # four characters each
REAL = pytest.mark.parametrize(("domain", "episodes"), [(domain, count) for domain in OPTIONS for count in (2, 10)])


def mature(domain: str, episodes: int) -> Candidate:
    rows = recorded(domain)[:episodes]
    scores = tuple(score for _, score in rows)
    return replace(
        candidate(), episodes=tuple(episode for episode, _ in rows), scores=scores, metrics=aggregate(scores),
        fitness=mean([score.fitness for score in scores]),
    )


@pytest.mark.parametrize("detail", DETAILS)
@REAL
def test_the_feedback_is_the_golden_one(domain: str, episodes: int, detail: str) -> None:
    file = GOLDEN / f"{domain}-{episodes}-{detail}.md"
    text = policy_feedback(mature(domain, episodes), detail) + "\n"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")
    assert len(text) <= 4 * MOST_TOKENS[detail]


@pytest.mark.parametrize("detail", DETAILS)
@REAL
def test_no_metric_of_the_reference_evaluator_is_lost(domain: str, episodes: int, detail: str) -> None:
    whole = mature(domain, episodes)
    text = policy_feedback(whole, detail)
    for name in {name for score in whole.scores for name in flat_metrics(score.metrics)}:
        assert len(re.findall(rf"(?:^|: |, ){re.escape(name)}(?=[ ,]|$)", text, re.MULTILINE)) == 1, name
