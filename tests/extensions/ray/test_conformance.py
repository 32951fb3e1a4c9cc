"""The pool of a cluster satisfies the port's contract on a real Ray cluster of two nodes."""

import pytest

from ...conformance.pool import OpenPool, PoolContract
from ...support.ray_cluster import needs_ray

pytestmark = [needs_ray, pytest.mark.slow, pytest.mark.nightly, pytest.mark.asyncio(loop_scope="module")]


class TestClusterPool(PoolContract):
    @pytest.fixture
    def open_pool(self, make_pool) -> OpenPool:
        return make_pool
