"""`memento report`: what it refuses before it reads anything."""

import pytest
from memento.cli import exit_code

pytestmark = pytest.mark.quick

REFUSED = {
    "report x": "nothing to write: give --out FILE.html",
    "report x --out page.txt": "--out page.txt is not a page: name it *.html",
    "report x --archive a.zip": "--archive a.zip is not an archive: name it *.json.xz",
    "report none --out x.html": "none",
    "report a.json.xz x --csv rows": "omit x",
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_outputs_are_refused(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(line.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert REFUSED[line] in printed.err
