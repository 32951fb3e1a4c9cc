"""Texts without the absolute paths of the machine that wrote them: pages and archives are sent to others. Pure."""

import re
from pathlib import Path, PureWindowsPath
from typing import Any, Final

_ABSOLUTE: Final = re.compile(r"(?:/|[A-Za-z]:[\\/])")
_INNER_PATH: Final = re.compile(r"(?<![\w./:])(?:/[^\s/'\",;:()]+){2,}/?")     # in a longer text


def without_paths(value: Any) -> Any:
    """A JSON value in which every absolute path is its last part."""
    if isinstance(value, str):
        if _ABSOLUTE.match(value):
            return PureWindowsPath(value).name      # which knows both separators
        return _INNER_PATH.sub(lambda found: Path(found[0]).name, value)
    if isinstance(value, list):
        return [without_paths(each) for each in value]
    if isinstance(value, dict):
        return {without_paths(key): without_paths(each) for key, each in value.items()}
    return value
