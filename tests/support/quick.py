"""`--quick` and `--rest`: the tests that prove each part once, and all others.

A quick test has the mark `quick`, of its own or of its module, and not the mark `slow`.
"""

from pathlib import Path

import pytest

MARK = "mark.quick"     # a module without this text has no quick test, and need not be imported


def add_options(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="run the tests that prove each part once")
    parser.addoption("--rest", action="store_true", help="run the tests that --quick leaves out")


def is_left_out(module: Path, config: pytest.Config) -> bool:
    """Whether this run needs no test of a module."""
    return bool(config.getoption("--quick")) and MARK not in module.read_text(encoding="utf-8")


def is_asked_for(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether this run is to run a test."""
    is_quick = item.get_closest_marker("quick") is not None and item.get_closest_marker("slow") is None
    return not config.getoption("--rest" if is_quick else "--quick")
