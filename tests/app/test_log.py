"""Log lines of the controller."""

import pytest
import structlog
from memento.app.log import log_to_stderr


def test_log_lines_never_go_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        log_to_stderr()
        structlog.get_logger("memento.test").info("quiet")
        structlog.get_logger("memento.test").warning("very-loud", node="alpha", why="no\x1banswer")
        structlog.get_logger("memento.test").warning("no-reading", environment="gym:Sonar-v0", what="it has NaN")
    finally:
        structlog.reset_defaults()
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "   warning: very loud: node=alpha, why=no?answer", "   warning: no reading: gym:Sonar-v0: it has NaN",
    ]
