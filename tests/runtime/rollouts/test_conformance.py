"""The pool of worker processes satisfies the port's contract, and leaks nothing (checked by a fixture)."""

from functools import partial

import pytest

from ...conformance.pool import OpenPool, PoolContract

pytestmark = pytest.mark.quick


class TestProcessPool(PoolContract):
    @pytest.fixture
    def open_pool(self, make_pool, short_limits) -> OpenPool:
        return partial(make_pool, limits=short_limits(silence_s=2.0))
