"""A Ray cluster on this machine for tests; its nodes can import the toy modules."""

from importlib.util import find_spec

import pytest

from ..benchmarks.raylets import CLIENTS, TOKEN, RayCluster
from . import ON_PATH

__all__ = ["CLIENTS", "TOKEN", "RayCluster", "needs_ray", "new_cluster"]

needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: the extra `cluster`")


def new_cluster() -> RayCluster:
    """A cluster without nodes."""
    return RayCluster(on_path=(ON_PATH,))
