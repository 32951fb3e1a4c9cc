"""Seeds: the same names give the same draw everywhere, and nobody can guess those of a salted run."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.seeds import UNSALTED, derive_seed, salted_seed

pytestmark = pytest.mark.quick

seeds = st.integers(0, 2**63 - 1)
salts = st.text("0123456789abcdef", min_size=32, max_size=32)


@given(seeds, salts, salts)
def test_a_salt_decides_every_seed(seed: int, salt: str, other: str) -> None:
    assert salted_seed(seed, salt) == salted_seed(seed, salt)
    assert (salted_seed(seed, salt) == salted_seed(seed, other)) == (salt == other)


@given(seeds)
def test_without_a_salt_the_seed_is_as_it_was(seed: int) -> None:
    assert salted_seed(seed, None) == salted_seed(seed, UNSALTED) == seed


def test_a_derived_seed_is_the_same_on_every_platform() -> None:
    assert derive_seed(1, "search", 0) == 4626621009135626337
    assert salted_seed(1, "0" * 32) == 5958011687361761335
