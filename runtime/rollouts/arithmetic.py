"""The same arithmetic on every processor, as far as an environment variable can choose it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_NEEDED: Final = frozenset({"avx2", "fma"})     # by OpenBLAS's kernels for Haswell, which newer processors run too


@cache
def common_kernels() -> Mapping[str, str]:
    """Variables that make every OpenBLAS of a process use the same kernels; none on processors without them.

    numpy and scipy each bring an OpenBLAS, and the newer one has kernels for newer processors, whose last bits differ.
    robosuite calls numpy's, the compiled physics scipy's. To be set before either is loaded.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    return {"OPENBLAS_CORETYPE": "Haswell"} if {*flags} >= _NEEDED else {}
