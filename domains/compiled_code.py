"""Compiled code that numba kept and that cannot be read, as after a power failure: it is compiled again."""

from typing import Any

from numba.core.caching import IndexDataCacheFile


def recompile_damaged() -> None:
    """From now on a damaged file of numba's cache counts as none: numba itself fails at it in every process."""
    files: Any = IndexDataCacheFile
    if not hasattr(files, "numbas_load"):
        files.numbas_load, files.load = files.load, _load


def _load(self: Any, key: Any) -> Any:
    try:
        return self.numbas_load(key)
    except Exception:   # noqa: BLE001 - a damaged pickle can raise anything
        self.flush()
        return None
