"""Every fact of the run, one per line, filtered by kind and order."""

import dataclasses
from typing import ClassVar

from textual import on
from textual.content import Content
from textual.worker import get_current_worker

from ....core.critic_events import Criticised
from ....core.errors import MementoError
from ....core.events import (
    AskedAgain,
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EliteConfirmed,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
    Fact,
    FinalMeasured,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    RunStarted,
    VoteCast,
)
from ....core.gate_events import GateDecided, TwinTried
from ....core.order_ids import FINAL, owner_of, parse
from ....core.text import both, counted, number, one_line, share, success_and_return
from ....core.tuning_events import ConstantsTried, TuningEnded
from ....core.turn_events import ToolAnswered, TurnTaken
from ....core.values import is_stopped
from ....memory.store import Entry
from ....memory.tail import matching, window
from ...snapshot import RunSnapshot
from ...words import (
    clock,
    confirmed_words,
    episode_outcome,
    fault_words,
    gate_words,
    isolation,
    look_words,
    order_words,
    tool_words,
)
from ..colours import BAD, DIM
from ..rows import Cell, Column, Rows
from .page import FilteredPage

# Any fact in one line, for the log. Pure; a fact without its own format shows its plain fields.


LENGTH = 400
TROUBLE = frozenset({"ProposalFailed"})


def words_of(fact: Fact) -> str:
    """The content of the fact, without its kind and order."""
    return one_line(_words(fact), LENGTH)


def _words(fact: Fact) -> str:
    match fact:
        case RunStarted():
            words = fact.settings
            what = f"{words.get('domain')} by {words.get('method')}, seed {words.get('seed')}"
            return f"{what}; {isolation(fact.sandbox)}"
        case ProposalMade():
            usage = fact.call.usage
            return f"{fact.call.model} in {usage.latency_s:.1f} s: {fact.summary}"
        case AskedAgain():
            return f"{fact.call.model} is asked again: {fact.reason}"
        case TurnTaken() | ToolAnswered():
            return tool_words(fact)
        case Criticised():
            return look_words(fact)
        case ProposalFailed():
            return fault_words(fact.fault)
        case EpisodeEnded(episode=episode):
            word = episode_outcome(episode)
            wrong = f"; {fault_words(episode.fault)}" if episode.fault else ""
            return f"{word}, {episode.steps} steps in {episode.wall_s:.1f} s, ended by {episode.ended_by}{wrong}"
        case ConstantsTried():
            mean = sum(fact.fitnesses) / max(1, len(fact.fitnesses))
            return f"f {mean:.3f} over {counted(len(fact.fitnesses), 'episode')}"
        case TuningEnded():
            tried = f"{counted(fact.tried, 'vector')} of {counted(len(fact.constants), 'constant')}"
            return f"{tried}, f {fact.before:.3f} -> {fact.fitness:.3f}: {fact.summary}"
        case EpisodeScored(score=score):
            return fault_words(score.fault) if score.fault else f"f {score.fitness:.3f}"
        case EvaluatorExamined(examination=examination):
            if examination.fault:
                return fault_words(examination.fault)
            order = f"; {order_words(examination)}" if examination.order_pairs else ""
            return "f on T_0: " + " ".join(f"{score.fitness:.3f}" for score in examination.scores) + order
        case ProbesRecorded():
            return ", ".join(probe.name for probe in fact.probes)
        case EvaluatorPoolScored():
            valid = sum(entry.examination.valid for entry in fact.pool)
            return f"generation {fact.generation}: {valid} of {counted(len(fact.pool), 'evaluator')} valid"
        case VoteCast():
            return f"abstains: {fact.reason}" if fact.choice is None else f"for #{fact.choice}: {fact.reason}"
        case EvaluatorChosen():
            return f"{fact.chosen.id}{', frozen as E*' if fact.final else ''}"
        case CandidateScored(candidate=candidate):
            if is_stopped(candidate.fault):
                return fault_words(candidate.fault)
            if candidate.fault:
                return f"failed: {fault_words(candidate.fault)}"
            if candidate.bound is not None:
                return f"pruned: F is at most {number(candidate.bound)}"
            also = success_and_return(candidate.success_rate, candidate.mean_return)
            return f"F {candidate.fitness:.3f}{also}: {candidate.summary}"
        case CandidateAccepted():
            return f"F {fact.fitness:.3f} ({fact.fitness_difference:+.3f})"
        case CandidateRejected(rejection=rejection):
            moved = "" if rejection.fitness_difference is None else f" ({rejection.fitness_difference:+.3f})"
            return f"{rejection.reason}{moved}: {rejection.summary}"
        case BranchEnded():
            best = f"{fact.winner}, F {fact.fitness:.3f}" if fact.fitness is not None else "every candidate failed"
            return f"g{fact.generation} {fact.operator.value}: {best}"
        case TwinTried():
            wrong = f"; {fault_words(fact.fault)}" if fact.fault else ""
            return f"f {number(fact.fitness)} on the cheap twin, {fact.steps} steps in {fact.wall_s:.1f} s{wrong}"
        case GateDecided():
            return gate_words(fact)
        case EliteConfirmed():
            return f"g{fact.generation}: {confirmed_words(fact)}"
        case EliteChanged():
            stays = "" if fact.changed else ", stays"
            return f"g{fact.generation}: {fact.candidate} from {fact.origin.value}, F {fact.fitness:.3f}{stays}"
        case FinalMeasured():
            success = both(fact.initial_success, fact.elite_success, share)
            fitness = "" if success else f"F {both(fact.initial_fitness, fact.elite_fitness, number)}"
            return f"{f'success {success}' if success else fitness} over {counted(fact.episodes, 'episode')}"
    plain = {field.name: getattr(fact, field.name) for field in dataclasses.fields(fact) if field.name != "order"}
    return ", ".join(f"{name} {value}" for name, value in plain.items()
                     if isinstance(value, str | int | float | bool) and not _is_reference(value))


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.partition(":")[0] in ("program", "document")


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
    def open(self, event: Rows.Opened) -> None:
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
