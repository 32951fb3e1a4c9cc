"""`memento report --follow`: the page of a run over HTTP, from the real program, until a signal."""

import re
import signal
import subprocess
import urllib.request

import pytest
from memento.cli import exit_code

from ..support.program import PROGRAM
from .conftest import Finished

pytestmark = pytest.mark.quick

DEADLINE_S = 60
REFUSED = {
    "report x --follow --out a.html": "--follow writes no files",
    "report x --port 80 --out a.html": "have an effect with --follow only",
    "report x.json.xz --follow": "an archive does not change",
    "report nowhere --follow": "no run 'nowhere'",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_cannot_be_followed_is_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(line.split()) == 2
    assert REFUSED[line] in capsys.readouterr().err


@pytest.mark.slow
def test_the_page_is_served_until_a_signal(finished: Finished) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "report", "one", "--follow", "--runs", str(finished.runs)],
        stderr=subprocess.PIPE, text=True,
    )
    try:
        assert process.stderr is not None
        url = re.search(r"http://127\.0\.0\.1:\d+/", process.stderr.readline())
        assert url is not None
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url[0], timeout=DEADLINE_S) as answer:
            page = answer.read().decode()
            assert answer.headers["Refresh"] is None, "the run is done"
        assert "<h1>one</h1>" in page
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=DEADLINE_S) == 130
    finally:
        process.kill()
        process.communicate()
