"""A short version of the long run: the controller's memory does not grow, and no resources leak."""

import sys
from pathlib import Path

import pytest

from .long_run import SETTINGS, grow, slope, timed_resume, timed_show

CANDIDATES = 400

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc"),
]


def test_nothing_grows_with_a_run_but_its_log(tmp_path: Path) -> None:
    # Known programs are cached, up to a limit that a short run does not reach.
    settings = [*SETTINGS, "--set", "duplicates=false"]
    samples, left = grow(tmp_path, candidates=CANDIDATES, samples=16, settings=settings)
    assert left == 0
    late = samples[len(samples) // 3:]
    assert len({each.descriptors for each in late}) == 1
    assert len({each.processes for each in late}) == 1
    grown = slope(late, "controller_mb") * 1024     # after modules are loaded and caches have filled
    assert grown < 15, "kB per candidate; its program and prompt alone are 30"
    assert 10_000 < slope(samples, "store_mb") * 1e6 < 100_000, "bytes per candidate"
    timed_show(tmp_path)
    timed_resume(tmp_path)
