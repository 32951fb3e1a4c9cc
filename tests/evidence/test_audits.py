"""The audit of a run's evaluator, from its file to the page."""

from dataclasses import replace
from pathlib import Path

import pytest
from memento.core.audits import Audit, AuditedProgram, Offender, row_of, rows_of
from memento.core.errors import StoreError
from memento.core.programs.program_text import digest
from memento.core.values import Program
from memento.evidence import tables
from memento.evidence.archive import read_archive, write_archive
from memento.evidence.loading import Evidence, load_run
from memento.memory.audits import FILE, read_audit, write_audit

from .logs import HOSTILE, log, store


def audit_of(evaluator: Program) -> Audit:
    programs = [
        AuditedProgram(name="waits", kind="waiting", text="t", fitnesses=(fitness,), successes=(False,))
        for fitness in (0.95, 0.2, 0.1)
    ]
    worst = Offender(
        name=HOSTILE, kind="waiting", fitness=0.95, hack=True, best_episode=0, best_f=0.95, program=None
    )
    return Audit(
        domain="hanoi", evaluator=digest(evaluator), evaluator_name="r", episodes=1, seed=0, bred=0,
        rows=rows_of(programs), total=row_of("all", programs), worst=(worst,),
    )


def test_the_table_shows_the_share_also_after_a_trip_through_an_archive(tmp_path: Path) -> None:
    folder = store(tmp_path / "r", log())
    record = load_run(folder)
    assert record.audit is None
    assert tables.audits([record]) is None
    write_audit(folder, audit_of(record.evaluator))
    evidence = Evidence(title="r", records=(load_run(folder),))
    write_archive(evidence, {}, tmp_path / "a.json.xz")
    for records in (evidence.records, read_archive(tmp_path / "a.json.xz")[0].records):
        (row,) = tables.audits(records).rows
        assert row[0] == "r"
        assert row[3:] == ("3", "3", "1", "33.3 %", "0.950")


def test_an_audit_of_another_evaluator_is_left_out(tmp_path: Path) -> None:
    folder = store(tmp_path / "r", log())
    write_audit(folder, audit_of(Program("another")))
    assert load_run(folder).audit is None


@pytest.mark.parametrize("text", ["", "[]", '{"domain": 1}'])
def test_a_damaged_file_is_reported(text: str, tmp_path: Path) -> None:
    folder = store(tmp_path / "r", log())
    (folder / FILE).write_text(text)
    with pytest.raises(StoreError, match="make it again with memento audit"):
        load_run(folder)


def test_an_audit_can_be_read_back(tmp_path: Path) -> None:
    audit = audit_of(Program("e"))
    audit = replace(audit, worst=())
    write_audit(tmp_path, audit)
    assert read_audit(tmp_path) == audit
