"""A small real run, kept as lines of JSON, as a store again; and how such a file is made.

    python -m memento.tests.tui.watch.recording RUN_FOLDER

keeps the facts of a run with their times and texts. Long texts are cut: screens show their beginning.
"""

import dataclasses
import gzip
import json
import sys
from pathlib import Path
from typing import Any

from memento.core.events import Fact
from memento.core.values import Call, Document
from memento.memory.codec import decode, encode, revive
from memento.memory.store import RunStore

RECORDED = Path(__file__).parent / "recorded.jsonl.gz"
BEGAN = 1_800_000_000.0         # seconds since the epoch
PROMPT_LETTERS = 1500


class SetClock:
    """A clock that shows what it was set to."""

    def __init__(self, at: float = BEGAN) -> None:
        self.at = at

    def now(self) -> float:
        return self.at

    def elapsed(self) -> float:
        return self.at


def keep(folder: Path) -> None:
    """Write the run's facts to the file."""
    lines: list[str] = []
    known: set[str] = set()
    with RunStore.read(folder) as store:
        entries = [*store.facts_after(0)]
    for entry in entries:
        encoded = encode(_shortened(entry.fact))
        for reference, blob in encoded.blobs.items():
            if reference not in known:
                known.add(reference)
                lines.append(json.dumps({"blob": reference, "content": blob.content}))
        at = round(entry.at - entries[0].at, 3)
        lines.append(json.dumps({"at": at, "kind": encoded.kind, "order": encoded.order, "body": encoded.body}))
    with RECORDED.open("wb") as file, gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
        packed.write("\n".join(lines).encode())


def _shortened(fact: Fact) -> Fact:
    call = getattr(fact, "call", None)
    if not isinstance(call, Call):
        return fact
    short = dataclasses.replace(call, prompt=Document(call.prompt.text[:PROMPT_LETTERS]),
                                reply=Document(call.reply.text[:PROMPT_LETTERS]))
    return dataclasses.replace(fact, call=short)


def recorded() -> list[tuple[float, Fact]]:
    """The facts, each with the seconds since the first."""
    values: dict[str, Any] = {}
    facts: list[tuple[float, Fact]] = []
    for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines():
        entry = json.loads(line)
        if "blob" in entry:
            values[entry["blob"]] = revive(entry["blob"], entry["content"])
        else:
            facts.append((entry["at"], decode(entry["kind"], entry["order"], entry["body"], values)))
    return facts


def begin(folder: Path, facts: list[tuple[float, Fact]], clock: SetClock) -> RunStore:
    """A store with these facts, still open to write."""
    store = RunStore.create(folder, clock=clock, run_id=folder.name)
    for at, fact in facts:
        clock.at = BEGAN + at
        store.append([fact])
    return store


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
