"""Ballots as files in a run's folder, which a person or another program answers.

`NAME.json` is a ballot that waits for a vote: {"order", "attempt", "labels", "prompt", "answer"}. `NAME.md` is the same
prompt to read. Whoever votes writes {"choice": "B", "reason": "…"} to a file of another name in the same folder and
renames it to the name in "answer", `NAME.answer.json`: so a half-written vote is never read.
"""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .errors import StoreError, os_problem
from .files import read_bounded, replace_file
from .values import JSON

BALLOTS = "ballots"  # the folder in the folder of a run
ANSWER = ".answer.json"
MAX_ANSWER = 20_000  # bytes of a vote
MAX_BALLOT = 20_000_000  # bytes of a ballot


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """One question to a judge: the vote of the order `order`, asked for the (`attempt` + 1)-th time."""

    order: str
    attempt: int
    labels: tuple[str, ...]  # the choices
    prompt: str

    @property
    def name(self) -> str:
        """The name of its files, without suffix."""
        return self.order.replace("/", "-") + ("-again" if self.attempt else "")

    def as_json(self) -> dict[str, JSON]:
        """The content of its file."""
        return {
            "order": self.order, "attempt": self.attempt, "labels": list(self.labels), "prompt": self.prompt,
            "answer": self.name + ANSWER,
        }


def put(folder: Path, ballot: Ballot) -> None:
    """Put a ballot into `folder`, unless it is there. A vote on another ballot of this name is removed.

    Raises StoreError if the disk refuses.
    """
    text = json.dumps(ballot.as_json(), indent=1)
    place = folder / f"{ballot.name}.json"
    try:
        folder.mkdir(exist_ok=True)
        if place.is_file() and read_bounded(place, MAX_BALLOT) == text.encode():
            return
        (folder / (ballot.name + ANSWER)).unlink(missing_ok=True)
        replace_file(folder / f"{ballot.name}.md", ballot.prompt)
        replace_file(place, text)
    except OSError as error:
        raise StoreError(f"the ballot {place} cannot be written: {os_problem(error)}") from error


def answer_to(folder: Path, ballot: Ballot) -> str | None:
    """The text of the vote on a ballot; None while there is none. For an unreadable one, what it is in words."""
    place = folder / (ballot.name + ANSWER)
    try:
        if place.is_symlink():
            return "a link, which is not followed"
        return read_bounded(place, MAX_ANSWER).decode(errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"a file that cannot be read: {os_problem(error)}"


def vote(folder: Path, ballot: Ballot, choice: str, reason: str) -> None:
    """Answer a ballot. Raises StoreError if the disk refuses."""
    place = folder / (ballot.name + ANSWER)
    try:
        replace_file(place, json.dumps({"reason": reason, "choice": choice}))
    except OSError as error:
        raise StoreError(f"the vote {place} cannot be written: {os_problem(error)}") from error


def open_ballots(folder: Path) -> tuple[Ballot, ...]:
    """The ballots in `folder` without a vote, by name. A file of another form is left out."""
    found = []
    with suppress(OSError):
        places = {place.name: place for place in folder.iterdir()}
        for name, place in sorted(places.items()):
            if name.endswith(ANSWER) or not name.endswith(".json") or name.startswith("."):
                continue
            ballot = _read(place)
            if ballot is not None and f"{ballot.name}.json" == name and ballot.name + ANSWER not in places:
                found.append(ballot)
    return tuple(found)


def _read(place: Path) -> Ballot | None:
    try:
        data = json.loads(read_bounded(place, MAX_BALLOT))
    except (OSError, ValueError, RecursionError):
        return None
    match data:
        case {"order": str(order), "attempt": int(attempt), "labels": list(labels), "prompt": str(prompt)}:
            return Ballot(order=order, attempt=attempt, labels=tuple(map(str, labels)), prompt=prompt)
    return None
