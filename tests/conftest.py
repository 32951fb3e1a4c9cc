"""For every test."""

import signal
from collections.abc import Iterator

import pytest

from .support.processes import end_started

# A script's background job ignores SIGINT, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _processes_end_with_their_test() -> Iterator[None]:
    yield
    end_started()
