"""The hostile corpus against the default configuration: every program has exactly the outcome it must have."""

import platform
import sys

import pytest
from memento.runtime.rollouts import sandbox

from .arena import require_expected
from .attacks import ATTACKS

pytestmark = [
    pytest.mark.quick,
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
    require_expected(fought["outcomes"][name])


def test_no_target_was_touched(fought) -> None:
    assert fought["after"] == fought["before"]
    assert fought["visited"] == []


def test_no_process_is_left(fought) -> None:
    assert fought["left"] == set()
