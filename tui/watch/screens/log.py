"""Every fact of the run, one per line, filtered by kind and order."""

from typing import ClassVar

from textual import on
from textual.content import Content
from textual.worker import get_current_worker

from ....core.errors import MementoError
from ....core.events import Fact
from ....core.order_ids import FINAL, owner_of, parse
from ....core.text import one_line
from ....memory.store import Entry
from ....memory.tail import matching, window
from ...fact_words import fact_words
from ...snapshot import RunSnapshot
from ...words import clock
from ..colours import BAD, DIM
from ..rows import Cell, Column, Rows
from .filtered import FilteredPage

LENGTH = 400
TROUBLE = frozenset({"ProposalFailed"})


def words_of(fact: Fact) -> str:
    """What the fact says, in one line, without its kind and order."""
    return one_line(fact_words(fact), LENGTH)



COLUMNS = (
    Column(title="place", width=7, right=True), Column(title="at", width=8, right=True),
    Column(title="fact", width=19), Column(title="of", width=20), Column(title="what", width=10, grows=True),
)
AROUND = 120              # facts fetched around a visible row
KEPT = 5000               # facts that are cached


class LogScreen(FilteredPage):
    """A thread reads only the visible facts; Enter opens the candidate of a fact."""

    name_of_page: ClassVar[str] = "log"
    COLUMNS: ClassVar[tuple[Column, ...]] = COLUMNS
    LOOKS_FOR: ClassVar[str] = "words of kind or order, such as Episode g1/macro"

    def __init__(self) -> None:
        super().__init__()
        self._places: list[int] = []
        self._known: dict[int, Entry] = {}
        self._seen = 0                      # the last fact that was searched
        self._searched: tuple[object, ...] = ()
        self._run: object = None
        self._began = 0.0

    def draw(self, snapshot: RunSnapshot) -> None:
        """Search the facts since the last search, if this screen is on top."""
        run = (snapshot.folder, snapshot.run.began)
        if run != self._run or snapshot.last_seq < self._seen:
            self._run, self._places, self._known, self._seen = run, [], {}, 0
        self._began = snapshot.run.began or 0.0
        if self.is_current and snapshot.trouble is None and snapshot.last_seq > self._seen:
            self._search(snapshot)

    def _search(self, snapshot: RunSnapshot) -> None:
        words = self.words
        folder, after, upto, run = snapshot.folder, self._seen, snapshot.last_seq, self._run
        if folder is None or self._searched == (run, words, upto):
            return
        self._searched = (run, words, upto)

        def work() -> None:
            worker = get_current_worker()
            try:
                found = matching(folder, words, after=after)
            except (MementoError, OSError) as error:
                found, upto_now = [], after
                self.app.call_from_thread(self.notify, one_line(str(error), 200), severity="error", markup=False)
            else:
                upto_now = max([upto, *found[-1:]])
            if not worker.is_cancelled:
                self.app.call_from_thread(self._take, run, words, found, upto_now)

        self.run_worker(work, thread=True, group="matching", exclusive=True)

    def _take(self, run: object, words: tuple[str, ...], found: list[int], upto: int) -> None:
        if run != self._run or words != self.words or upto < self._seen:
            return
        self._seen = upto
        last = self._places[-1] if self._places else 0
        self._places += [place for place in found if place > last]
        self.query_one(Rows).show(len(self._places), self._cells)

    def _cells(self, index: int) -> list[Cell]:
        entry = self._known.get(self._places[index])
        if entry is None:
            self._fetch(index)
            return [Content.styled(str(self._places[index]), DIM), "", Content.styled("…", DIM), "", ""]
        fact = entry.fact
        kind = type(fact).__name__
        wrong = kind in TROUBLE or _faulty(entry)
        return [
            Content.styled(str(entry.seq), DIM), clock(entry.at - self._began), Content.styled(kind, BAD) if wrong else
            kind, fact.order or "", words_of(fact),
        ]

    def _fetch(self, index: int) -> None:
        """Read the facts around a row, once."""
        page = index // AROUND
        around = self._places[max(0, page * AROUND - AROUND // 2): (page + 1) * AROUND + AROUND // 2]
        missing = [place for place in around if place not in self._known]
        folder, run = None if self.snapshot is None else self.snapshot.folder, self._run
        if folder is None or any(worker.group == f"page {page}" and not worker.is_finished for worker in self.workers):
            return

        def work() -> None:
            try:
                entries = window(folder, missing)
            except (MementoError, OSError) as error:
                self.app.call_from_thread(self.notify, one_line(str(error), 200), severity="error", markup=False)
            else:
                self.app.call_from_thread(self._keep, run, entries)

        self.run_worker(work, thread=True, group=f"page {page}")

    def _keep(self, run: object, entries: list[Entry]) -> None:
        if run == self._run:
            if len(self._known) > KEPT:
                self._known = {}
            self._known.update({entry.seq: entry for entry in entries})
            self.query_one(Rows).refresh()

    @on(Rows.Opened)
    def show_opened(self, event: Rows.Opened) -> None:
        """Open the candidate of the fact."""
        entry = self._known.get(self._places[event.index])
        order = None if entry is None else entry.fact.order
        if order is None or parse(order).stage == FINAL:
            self.notify("this fact does not belong to a single candidate", timeout=3)
        else:
            self.post_message(self.Open(owner_of(order)))

    def refilter(self) -> None:
        """Search all facts again."""
        self._places, self._seen = [], 0
        self.query_one(Rows).show(0, self._cells)
        super().refilter()


def _faulty(entry: Entry) -> bool:
    for holder in ("episode", "score", "candidate", "examination"):
        value = getattr(entry.fact, holder, None)
        if getattr(value, "fault", None) is not None:
            return True
    return False
