"""The kitchen's inner loops give the same without numba, as plain Python."""

import importlib.util
import sys
from types import ModuleType

import numpy as np
import pytest
from memento.domains.kitchen.embedded import loops
from memento.domains.kitchen.embedded.sight import agent_view
from memento.domains.kitchen.scene import Stance


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The same source, imported where numba is missing."""
    spec = importlib.util.spec_from_file_location("plain_loops", loops.__file__)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "numba", None)
        spec.loader.exec_module(module)
    return module


def test_the_results_are_the_same(plain: ModuleType) -> None:
    rng = np.random.default_rng(1)
    seen = found = 0
    for index in range(25):
        n, b = 12, 10
        low = rng.uniform((-2, 0, -2), (2, 1.5, 2), (b, 3))
        high = low + rng.uniform(0.05, 0.8, (b, 3))
        points = rng.uniform((-2, 0, -2), (2, 2, 2), (n, 5, 3))
        shown, clear, glass = rng.random(n) < 0.9, rng.random((n, b)) < 0.2, rng.random(b) < 0.3
        view = agent_view(Stance(cell=(0, 0), yaw=index % 4, horizon_deg=30), 0.9)
        lens = (view.tan_up, view.tan_right, view.within_m, 0.1, 0.05)
        marked = []
        for module in (loops, plain):
            flags = np.zeros((2, n), dtype=bool)
            module.look(points, shown, low, high, clear, glass, index % n, view.eye, view.forward, view.right, view.up,
                        lens, flags[0], flags[1])
            marked.append(flags)
        assert np.array_equal(*marked)
        seen += int(marked[0].sum())
        place = (rng.uniform(-1, 1, (30, 3)), rng.uniform(0.05, 0.2, 3), low, high, np.full(3, -0.9), np.full(3, 0.9))
        first = loops.first_free(*place)
        assert first == plain.first_free(*place)
        found += first >= 0
    assert seen > 20 and found > 0, "the cases are not trivial"
