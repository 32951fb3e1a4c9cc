"""For every test."""

from collections.abc import Iterator

import pytest

from .processes import end_started


@pytest.fixture(autouse=True)
def _processes_end_with_their_test() -> Iterator[None]:
    yield
    end_started()
