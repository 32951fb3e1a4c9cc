"""The tables of a run's database, as numbered migrations."""

from collections.abc import Mapping

from ..core.errors import RunRefused, StoreError
from .sqlite_library import Database, Migrations


def _first(db: Database) -> None:
    db.execute(
        "CREATE TABLE facts (seq INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, order_id TEXT, "
        "body TEXT NOT NULL)"
    )
    db.execute(
        "CREATE TABLE blobs (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
        "content TEXT NOT NULL)"
    )
    db.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    db.execute(
        "CREATE TABLE requests (id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, "
        "body TEXT NOT NULL, taken_at REAL)"
    )
    # Viewers query a few kinds of facts in a long log, or the facts of one candidate.
    db.execute("CREATE INDEX facts_by_kind ON facts (kind)")
    db.execute("CREATE INDEX facts_by_order ON facts (order_id)")


# Numbered, applied in this order, never changed once released: a new version appends.
STEPS = (("0001 facts, blobs, meta, requests", _first),)

migrations = Migrations("memento.run")
for _name, _step in STEPS:
    migrations(name=_name)(_step)


def begin(db: Database, about: Mapping[str, str]) -> None:
    """Make the tables of a new run and store its initial metadata."""
    migrate(db)
    with db.atomic():
        db.conn.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", about.items())


def migrate(db: Database) -> None:
    """Bring the tables up to this version."""
    migrations.apply(db)
    db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('schema_version', ?)", [str(len(STEPS))])
    db.commit()


def check_version(db: Database, *, writing: bool) -> None:
    """Raises StoreError for a database that is not a run, is from a newer version or, to read, from an older one."""
    applied = [migration.name for migration in migrations.applied(db)]
    if not applied:
        raise StoreError("is not a run, or its database is damaged: it has no tables")
    known = [name for name, _ in STEPS]
    newer = [name for name in applied if name not in known]
    if newer:
        raise RunRefused(f"was made by a newer version of MEMENTO (it has {newer[-1]!r}): update MEMENTO")
    if not writing and migrations.pending(db):
        raise StoreError("was made by an older version of MEMENTO: memento resume brings it up to date")
