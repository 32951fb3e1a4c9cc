"""The messages for a run that is missing, damaged, full, or of another version."""

import sqlite3
from pathlib import Path

import pytest
from memento.core.errors import StoreError, UsageError
from memento.core.events import ProposalMade, StageEntered
from memento.core.values import Call, Document, Program
from memento.memory.store import RunStore
from memento.memory.tail import Follower, read_view

from ..conformance.store import StoppedClock, stages


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run-1"
    with RunStore.create(folder, clock=StoppedClock()) as store:
        for number in range(300):
            call = Call(model="m", prompt=Document(f"{number}" * 300), reply=Document(""))
            store.append([ProposalMade(program=Program(f"{number}\n" * 100), summary="", call=call)])
    return folder


def read_all(folder: Path) -> int:
    with RunStore.read(folder) as store:
        return sum(1 for _ in store.facts())


def both_say(folder: Path, error: type[Exception], match: str) -> None:
    """Reading and writing give the same sentence, and no lock stays behind."""
    with pytest.raises(error, match=match):
        read_all(folder)
    with pytest.raises(error, match=match), RunStore.open(folder, clock=StoppedClock()) as store:
        list(store.facts())


def test_missing(folder):
    both_say(folder.parent / "run-2", UsageError, r"^no run at .*run-2; runs here: run-1$")


def test_missing_and_alone(tmp_path):
    both_say(tmp_path / "deep" / "run-2", UsageError, r"^no run at .*run-2; no runs here$")


def test_not_a_run(folder):
    both_say(folder.parent, UsageError, r"is not a run; runs in it: run-1$")
    (folder / "empty").mkdir()
    both_say(folder / "empty", UsageError, r"is not a run: it has no run.sqlite$")


def test_a_file_is_not_a_run(folder):
    both_say(folder / "run.sqlite", UsageError, "is not a run")


def test_create_where_there_is_one(folder):
    with pytest.raises(UsageError, match="already a run in"):
        RunStore.create(folder, clock=StoppedClock())
    assert read_all(folder) == 300


def test_create_where_a_file_is(folder):
    with pytest.raises(StoreError, match="cannot make the run folder"):
        RunStore.create(folder / "run.sqlite", clock=StoppedClock())


def test_newer(folder):
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES (?, ?, ?)",
            ("memento.run", "0002 islands", "2030-01-01"),
        )
    db.close()
    both_say(folder, StoreError, r"'run-1' in .* made by a newer version of MEMENTO \(it has '0002 islands'\)")


def test_a_fact_of_a_newer_version(folder):
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute("INSERT INTO facts (at, kind, body) VALUES (0, 'Teleported', '{}')")
    db.close()
    both_say(folder, StoreError, r"fact 301: .*'Teleported' that this version")


def test_not_a_database(folder):
    (folder / "run.sqlite").write_bytes(b"Lorem ipsum dolor sit amet. " * 500)
    both_say(folder, StoreError, "'run-1' in .* is damaged: run.sqlite is not a database")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 0.99])
def test_cut_off(folder, share):
    path = folder / "run.sqlite"
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    both_say(folder, StoreError, "'run-1' in .* is damaged")


def test_emptied(folder):
    (folder / "run.sqlite").write_bytes(b"")
    both_say(folder, StoreError, "is not a run, or its database is damaged")


def test_overwritten_in_the_middle(folder):
    path = folder / "run.sqlite"
    whole = path.read_bytes()
    for start in range(8192, len(whole), 8192):
        whole = whole[:start] + b"\xff" * 200 + whole[start + 200 :]
    path.write_bytes(whole)
    both_say(folder, StoreError, "'run-1' in .* (is damaged|cannot be used)")


def test_a_lost_fact(folder):
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute("DELETE FROM facts WHERE seq = 17")
    db.close()
    both_say(folder, StoreError, "is damaged: fact 17 is missing")


def test_a_lost_blob(folder):
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute("DELETE FROM blobs WHERE id = 20")
    db.close()
    both_say(folder, StoreError, r"is damaged: fact \d+: a fact ProposalMade .* is damaged")


def test_a_changed_blob(folder):
    with sqlite3.connect(folder / "run.sqlite") as db:
        db.execute("UPDATE blobs SET content = content || ' ' WHERE id = 20")
    db.close()
    both_say(folder, StoreError, "is damaged: the (program|document) [0-9a-f]{12} is damaged: .* another hash")


def test_a_full_disk_loses_nothing_and_the_run_goes_on(folder):
    with RunStore.open(folder, clock=StoppedClock()) as store:
        pages = store._db.execute("PRAGMA page_count").fetchone()[0]
        store._db.execute(f"PRAGMA max_page_count = {pages + 3}").fetchone()
        big = [
            ProposalMade(
                program=Program("x" * 200_000),
                summary="",
                call=Call(model="m", prompt=Document(""), reply=Document("")),
            )
        ]
        with pytest.raises(StoreError, match="the disk is full; free some space"):
            store.append([*stages(0, 3), *big])
        assert store.last_seq == 300
        store._db.execute("PRAGMA max_page_count = 1000000").fetchone()
        store.append(big)
        assert store.last_seq == 301
    assert read_all(folder) == 301


def test_a_name_that_text_cannot_hold_is_refused(folder):
    with RunStore.open(folder, clock=StoppedClock()) as store:
        with pytest.raises(StoreError, match="cannot be kept exactly"):
            store.append([StageEntered(order="\ud800", stage="s")])
        assert store.last_seq == 300


DAMAGE = {
    "a body that is no UTF-8": "UPDATE facts SET body = CAST(x'7bff7d' AS TEXT) WHERE seq = 7",
    "a body of bytes that are no UTF-8": "UPDATE facts SET body = x'7bff7d' WHERE seq = 7",
    "a body that is nested deep": "UPDATE facts SET body = printf('%.*c', 100000, '[') WHERE seq = 7",
    "a body that is a list": "UPDATE facts SET body = '[]' WHERE seq = 7",
    "a body that is no JSON": "UPDATE facts SET body = '{' WHERE seq = 7",
    "a time that is text": "UPDATE facts SET at = 'noon' WHERE seq = 7",
    "a time that is infinite": "UPDATE facts SET at = 9e999 WHERE seq = 7",
    "a time beyond the calendar": "UPDATE facts SET at = 1e15 WHERE seq = 7",
    "an order of bytes": "UPDATE facts SET order_id = x'ff' WHERE seq = 7",
    "a kind of bytes": "UPDATE facts SET kind = x'ff' WHERE seq = 7",
    "a summary that is a list": "UPDATE facts SET body = json_set(body, '$.summary', json('[]')) WHERE seq = 7",
    "a call that is a number": "UPDATE facts SET body = json_set(body, '$.call', 3) WHERE seq = 7",
    "calls that cost a text": "UPDATE facts SET body = json_set(body, '$.call.usage.input_tokens', 'x') WHERE seq = 7",
    "a latency without end": "UPDATE facts SET body = replace(body, ':0.0', ':1e999') WHERE seq = 7",
    "a latency that is NaN": "UPDATE facts SET body = replace(body, ':0.0', ':NaN') WHERE seq = 7",
    "a field that is not known": "UPDATE facts SET body = json_set(body, '$.colour', 'red') WHERE seq = 7",
    "a text that is a number": "UPDATE facts SET body = json_set(body, '$.program', 3) WHERE seq = 7",
}


@pytest.mark.parametrize("name", DAMAGE)
def test_wrong_types_dates_and_values_are_one_sentence(folder, name):
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute(DAMAGE[name])
    database.close()
    both_say(folder, StoreError, "^the run 'run-1' in ")
    with pytest.raises(StoreError, match=r"^the run 'run-1' in "):
        read_view(folder)
    piece = Follower(folder).look()
    assert piece.trouble is not None
    assert piece.trouble.startswith("the run 'run-1' in ")
