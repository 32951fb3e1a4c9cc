"""The focus of a macro-mutation depends on seed and place alone, and differs in every slot of a generation."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.foci import focus_of, losses_of, remedies
from memento.core.errors import UsageError
from memento.core.values import Focus
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import CRASH, candidate

KINDS = remedies(PromptFolder())


@given(st.integers(0, 2**63), st.integers(1, 40))
def test_all_foci_of_a_generation_differ(seed: int, of: int) -> None:
    parent = candidate()
    foci = [focus_of(Focus(seed=seed, place=place, of=of), parent, KINDS) for place in range(of)]
    assert len({tuple(focus.items()) for focus in foci}) == of
    assert len({focus["remedy"] for focus in foci}) == min(of, len(KINDS))
    assert foci[0] == focus_of(Focus(seed=seed, place=0, of=of), parent, KINDS)


def test_losses_are_missed_stages_and_the_worst_episodes() -> None:
    assert losses_of(candidate()) == [
        "reached: true in 33 % of the episodes",
        "episode 3: f_e = 0.0000, number 1 from below",
        "episode 2: f_e = 0.2000, number 2 from below",
        "episode 1: f_e = 0.4000, number 3 from below",
    ]
    nothing = focus_of(Focus(seed=1, place=0, of=1), candidate(fault=CRASH), KINDS)
    assert "none is measured" in nothing["loss"]


def test_a_list_of_foci_without_an_entry_is_refused(tmp_path: Path) -> None:
    (tmp_path / "macro-foci.md").write_text("---\npurpose: A test.\nvariables:\n---\nNo list.\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"macro-foci\.md lists no focus"):
        remedies(PromptFolder(tmp_path))
