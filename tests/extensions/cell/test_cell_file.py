"""The cell's file: what is wrong in it is one sentence that names the place."""

from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.extensions.cell.cell_file import INCREMENTS, SHIPPED, Cell, cell_of, content_of, read_cell
from memento.extensions.cell.domain import DOMAIN, IMPORT_STRING, rig_of
from memento.memory.run_status import RunStatus
from memento.tui.lines import _is_ungraded
from memento.tui.words import ROBOT_CELL, domain_words

pytestmark = pytest.mark.quick


def test_the_shipped_file_is_complete() -> None:
    cell = read_cell(SHIPPED / "twin.toml")
    assert cell_of(content_of(cell), where="itself") == cell


@pytest.mark.parametrize(("text", "sentence"), [
    ("[segmenter]\nkind = 'truth'\n[limits]\nspeed = 1", "limits.speed"),
    ("[segmenter]\nkind = 'truth'\n[limits]\nspeed_m_s = -1", "limits.speed_m_s"),
    ("[segmenter]\nkind = 'truth'\n[limits]\nforce_n = nan", "limits.force_n"),
    ("[segmenter]\nkind = 'truth'\n[limits]\nlow_m = [0, 0, 2]", "low_m must be below high_m"),
    ("[segmenter]\nkind = 'colour'", "needs the colours of small"),
    ("[segmenter]\nkind = 'command'", "needs the command"),
    ("[arm]\nkind = 'ur5'\n[segmenter]\nkind = 'truth'", "arm.kind"),
    ("[arm]\nkind = 'franka'\n[segmenter]\nkind = 'truth'", "come together"),
    ("[arm]\nkind = 'franka'\n[camera]\nkind = 'a.b:C'\n[segmenter]\nkind = 'truth'", "for the twin's camera"),
    ("[segmenter", "is not TOML"),
])
def test_a_mistake_is_named(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "lab.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=sentence) as refused:
        DOMAIN.options({"cell": str(path)}, preset="paper")
    assert "lab.toml" in str(refused.value) and "\n" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.toml cannot be read"):
        read_cell(tmp_path / "none.toml")


def test_a_calibration_knows_where_the_fingertips_end_and_who_judges(cell: Cell) -> None:
    words = rig_of(cell, INCREMENTS).description
    assert "cannot go lower than 15 mm above it; the fingertips themselves reach about 12 mm below that point" in words
    task = DOMAIN.brief(DOMAIN.options({}, preset="quick")).task
    assert "on the true state in a simulated cell, as far as the camera sees in a real one" in task


def test_a_calibration_is_of_a_robot_cell_and_shows_no_fitness_that_nobody_gives() -> None:
    assert ROBOT_CELL == IMPORT_STRING and domain_words({"domain": IMPORT_STRING}) == "robot cell"
    run = {"domain": IMPORT_STRING, "method": "calibrate"}
    assert _is_ungraded(0.0, RunStatus(settings=run)) and not _is_ungraded(0.5, RunStatus(settings=run))
    assert not _is_ungraded(0.0, RunStatus(settings={**run, "method": "memento"}))
