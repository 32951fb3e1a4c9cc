"""The hostile corpus against the default configuration: every program has exactly the outcome it must have."""

import platform
import sys

import pytest
from memento.core.values import FaultKind
from memento.runtime.rollouts import sandbox

from .attacks import ATTACKS

pytestmark = [
    pytest.mark.skipif(
        (sys.platform, platform.machine()) != ("linux", "x86_64"),
        reason="not isolated here: the filter is written for Linux on x86-64",
    ),
    pytest.mark.timeout(300),   # the first test runs the whole corpus
]


def test_every_layer_is_live_here() -> None:
    assert [name for name, layer in sandbox.layers().items() if not layer.live] == []


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(ATTACKS) >= 120
    assert sum(not attack.is_policy for attack in ATTACKS) >= 20


@pytest.mark.parametrize("name", [attack.name for attack in ATTACKS])
def test_attack(fought, name) -> None:
    outcome = fought["outcomes"][name]
    attack, expected = outcome.attack, outcome.attack.expected
    result = outcome.episode or outcome.score
    if expected["fault"] == "none":
        assert result.fault is None
    else:
        assert result.fault is not None, "the attack succeeded"
        assert result.fault.kind is FaultKind(expected["fault"]), result.fault
        assert attack.says(result.fault.message), result.fault.message
    if outcome.episode is not None:
        assert outcome.episode.success == (expected.get("success", "no") == "yes")
        assert outcome.episode.ended_by == expected.get("ended", "fault")
        assert str(outcome.episode.steps) == expected.get("steps", str(outcome.episode.steps))
    elif expected["role"] == "evaluator" or expected["fault"] == "none":
        assert result.fitness == float(expected.get("fitness", 0))


def test_no_target_was_touched(fought) -> None:
    assert fought["after"] == fought["before"]
    assert fought["visited"] == []


def test_no_process_is_left(fought) -> None:
    assert fought["left"] == set()
