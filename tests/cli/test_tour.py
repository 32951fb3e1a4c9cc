"""`memento tour`: a small search in its place, to its film and the next commands."""

from pathlib import Path

import pytest
from memento.cli import drawing, exit_code, tour
from memento.core.errors import UsageError


@pytest.mark.slow
@pytest.mark.parametrize("can_draw", [True, False])
def test_it_ends_with_a_film_and_three_commands(
    can_draw: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*given: object) -> None:
        raise UsageError("this machine cannot draw")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tour, "PRESET", "smoke")
    if not can_draw:
        monkeypatch.setattr(drawing, "draw", broken)
    assert exit_code(["tour"]) == 0
    printed = capsys.readouterr()
    [run] = Path("runs").iterdir()
    assert printed.err.startswith("The tour: a Tower of Hanoi without physics")
    assert [line.split()[1] for line in printed.err.splitlines() if line.startswith("  memento ")] == [
        "show", "render", "report",
    ]
    if can_draw:
        assert f"  film             {run / 'elite.gif'}" in printed.out
        assert (run / "elite.gif").read_bytes().startswith(b"GIF8")
    else:
        assert "memento: no film: this machine cannot draw" in printed.err
