"""Imports of a library without another one, which it would use if it were there."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hidden(name: str) -> Iterator[None]:
    """Let the package `name` seem not to be installed while a library is imported; not if it is imported already."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # how Python says that a module cannot be imported
    try:
        yield
    finally:
        del sys.modules[name]
