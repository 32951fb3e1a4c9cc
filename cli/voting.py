"""Puts ballots before a person in a terminal, and writes the votes for the run that waits for them."""

import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ..core.ballot_files import BALLOTS, Ballot, answer_to, open_ballots, vote
from ..core.errors import StoreError
from ..core.events import RunResumed, RunStarted
from ..core.ports import Display
from ..core.text import one_line
from ..memory.store import RunStore
from ..models.spec import parse_specs
from ..settings import Settings, settings_in
from .flags import DisplayKind
from .output import print_note, say

CODE: Final = "\n### Shared by "
OWN: Final = "\n### Evaluator "
LOOK_EVERY_S: Final = 0.3
MAX_LINE: Final = 4000      # bytes of what a person types

Ask = Callable[[str], str | None]
"""Shows a question and gives the line that was typed; None if no more lines come."""


def put_before_person(folder: Path, ballot: Ballot, ask: Ask) -> bool:
    """Show a ballot until there is a vote, and write it. Returns False if no more lines come. Raises StoreError."""
    shown, code = _without_code(ballot.prompt)
    print_note(f"\n{shown.strip()}\n")
    more = ", code to read the programs" if code else ""
    say(f"ballot {ballot.name}: the whole text is in {folder / (ballot.name + '.md')}")
    choices = ", ".join(ballot.labels)
    while True:
        line = ask(f"your vote ({choices}{more}): ")
        if line is None:
            return False
        choice = line.strip()
        if code and choice.lower() == "code":
            print_note(code)
            continue
        if choice.upper() in ballot.labels:
            reason = ask("why, in one or two sentences: ")
            vote(folder, ballot, choice.upper(), one_line(reason or "", MAX_LINE))
            say(f"voted {choice.upper()} on {ballot.name}")
            return reason is not None
        if choice:
            say(f"{one_line(choice, 40)!r} is none of {choices}")


def _without_code(prompt: str) -> tuple[str, str]:
    """A ballot's summaries and tables, and the programs below them. A prompt of another form is shown whole."""
    cuts = [cut for cut in (prompt.find(CODE), prompt.find(OWN)) if cut >= 0]
    return (prompt[: min(cuts)], prompt[min(cuts):]) if cuts else (prompt, "")


class _Desk(threading.Thread):
    """Puts the ballots of a live run of this process before the person at its terminal."""

    def __init__(self, screen: Display) -> None:
        super().__init__(name="ballots", daemon=True)
        self._screen = screen
        self._over = threading.Event()
        self._gone = False
        self._waits: tuple[Path, Ballot] | None = None

    def run(self) -> None:
        while not (self._over.wait(LOOK_EVERY_S) or self._gone):
            folder = self._screen.folder
            for ballot in () if folder is None else open_ballots(folder / BALLOTS):
                assert folder is not None
                self._waits = folder / BALLOTS, ballot
                try:
                    put_before_person(folder / BALLOTS, ballot, self._ask)
                except StoreError as error:
                    say(str(error))
                break

    def stop(self) -> None:
        """The run is over: no more ballots."""
        self._over.set()
        self.join(5 * LOOK_EVERY_S)

    def _ask(self, question: str) -> str | None:
        """A line from the terminal; None at its end, or if the vote came from elsewhere or the run is over."""
        sys.stderr.write(question)
        sys.stderr.flush()
        while not self._over.is_set():
            if self._waits is not None and answer_to(*self._waits) is not None:
                return None
            if select.select([0], [], [], LOOK_EVERY_S)[0]:
                line = os.read(0, MAX_LINE)
                self._gone = not line
                return line.decode(errors="replace") if line else None
        return None


def asks_here(settings: Settings | None) -> bool:
    """Whether a run with these settings puts its ballots before a person at this terminal."""
    if settings is None or settings.replay is not None or not at_terminal():
        return False
    return any(spec.is_person for text in settings.judges for spec in parse_specs(text))


def recorded_settings(folder: Path) -> Settings | None:
    """The settings of a run; None if it was killed before its first fact."""
    with RunStore.read(folder) as store:
        return settings_in(tuple(store.facts(only=(RunStarted, RunResumed))))


def display_for(kind: DisplayKind, *, asks: bool) -> DisplayKind:
    """The display of a run: lines instead of a live screen, which would hide what a person types."""
    return DisplayKind.PLAIN if asks and kind is DisplayKind.RICH else kind


@contextmanager
def desk(screen: Display, *, asks: bool) -> Iterator[None]:
    """While the block runs, a person at this terminal can vote, if the run `asks` here."""
    if not asks:
        yield
        return
    thread = _Desk(screen)
    thread.start()
    try:
        yield
    finally:
        thread.stop()


def at_terminal() -> bool:
    """Whether a person can read and answer here."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
