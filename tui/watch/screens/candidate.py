"""One policy, evaluator or vote: code, differences, metrics, episodes, prompt and reply."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.highlight import highlight
from textual.widgets import Static, TabbedContent, TabPane

from ....core.errors import MementoError
from ....core.metrics import NEVER
from ....core.order_ids import SEARCH, parse
from ....core.programs.line_diff import diff_lines as line_diff
from ....core.text import cost, number, one_line, plural, success_and_return, tokens_of_call
from ....core.values import JSON, Program
from ....memory.lookup import Record, find, parents_of
from ....memory.slots import Slot
from ....memory.store import RunStore
from ...fact_words import gate_words
from ...snapshot import RunSnapshot
from ...words import episode_outcome, fault_words
from ..colours import ACCENT, BAD, DIM, GOOD, HEADING, LOUD, difference, fitness_of, mark, state_of_slot
from ..keys import bindings
from ..lines_view import LinesView
from ..rows import Cell, Column, Rows
from .page import Page

METRICS = (
    Column(title="metric", width=20, grows=True), Column(title="value", width=18, right=True),
    Column(title="parent", width=18, right=True), Column(title="moved by", width=9, right=True),
)
EPISODES = (
    Column(title="e", width=3, right=True), Column(title="f", width=6, right=True), Column(title="", width=24),
    Column(title="steps", width=6, right=True), Column(title="ended by", width=10),
    Column(title="seconds", width=7, right=True, least=70), Column(title="scene", width=12, least=100),
    Column(title="what went wrong", width=10, grows=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """One record, with its parents and the elite for comparison; those without a program are left out."""

    record: Record
    parents: tuple[Record, ...] = ()
    elite: Record | None = None


class CandidateScreen(Page):
    """Reads its candidate in a thread, and again after each change of it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("candidate")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.candidate = name
        self._known: Slot | None = None     # the slot when it was read
        self._read = False

    def body(self) -> ComposeResult:
        """A few lines of facts, then tabs."""
        yield Static(id="facts")
        with TabbedContent(id="parts"):
            with TabPane("Code", id="code"):
                yield LinesView(id="code-lines")
            with TabPane("Diff parent", id="parent"):
                yield LinesView(id="parent-lines")
            with TabPane("Diff elite", id="elite"):
                yield LinesView(id="elite-lines")
            with TabPane("Metrics", id="metrics"):
                yield Rows(METRICS, id="metric-rows")
            with TabPane("Episodes", id="episodes"):
                yield Rows(EPISODES, id="episode-rows")
            with TabPane("Prompt", id="prompt"):
                yield LinesView(id="prompt-lines")
            with TabPane("Reply", id="reply"):
                yield LinesView(id="reply-lines")

    def on_mount(self) -> None:
        """Focus the code."""
        self.query_one("#code-lines").focus()

    def draw(self, snapshot: RunSnapshot) -> None:
        """Show the data of the view; read the texts again if something changed."""
        slot = snapshot.slots.get(self.candidate)
        facts = Content(f"{self.candidate}: no data yet\n") if slot is None else _facts(slot)
        self.query_one("#facts", Static).update(facts)
        if slot != self._known or not self._read:
            self._known, self._read = slot, True
            self._read_details(snapshot)

    def _read_details(self, snapshot: RunSnapshot) -> None:
        folder, name, elite = snapshot.folder, self.candidate, snapshot.run.elite
        if folder is None:
            return

        def work() -> None:
            try:
                details = read_details(folder, name, elite=None if elite is None else elite.candidate)
            except (MementoError, OSError) as error:
                self.app.call_from_thread(self._say, f"cannot be read: {error}")
            else:
                self.app.call_from_thread(self._show, details)

        self.run_worker(work, thread=True, group="details", exclusive=True)

    def _say(self, sentence: str) -> None:
        if self.is_mounted:
            self.query_one("#code-lines", LinesView).show([Content.styled(one_line(sentence, 400), BAD)])

    def _show(self, details: Details) -> None:
        if not self.is_mounted or details.record.id != self.candidate:
            return
        record, parent = details.record, details.parents[0] if details.parents else None

        def lines(name: str) -> LinesView:
            return self.query_one(name, LinesView)

        lines("#code-lines").show(code_lines(record.program))
        lines("#parent-lines").show(
            [line for each in details.parents
             for line in diff_lines(each.program, record.program, names=(each.id, record.id))]
            or [Content.styled(f"{record.id} has no parent", DIM)]
        )
        elite = details.elite
        lines("#elite-lines").show(
            diff_lines(elite.program, record.program, names=(elite.id, record.id)) if elite is not None
            else [Content.styled("there is no other elite to compare with", DIM)]
        )
        metrics = metric_rows(record.metrics, {} if parent is None else parent.metrics)
        self.query_one("#metric-rows", Rows).show(len(metrics), lambda index: metrics[index])
        episodes = _episode_rows(details)
        self.query_one("#episode-rows", Rows).show(len(episodes), lambda index: episodes[index])
        for pick in ("prompt", "reply"):
            lines(f"#{pick}-lines").show_folded(partial(talk_lines, _talk(details, pick)))

    def selected_id(self) -> str | None:
        """The candidate for export and render."""
        return self.candidate

    def action_back(self) -> None:
        """Return to the screen below."""
        self.app.pop_screen()

    def action_tab(self, name: str) -> None:
        """Show another tab and focus it for scrolling."""
        self.query_one(TabbedContent).active = name
        self.query_one(f"#{name}").children[0].focus()

    def action_step(self, by: int) -> None:
        """Show the next or the previous item of its kind, in the order of the run."""
        snapshot = self.snapshot
        if snapshot is None:
            return
        slots = snapshot.slots
        keys = [*(slots.candidates if self.candidate in slots.candidates else slots.others)]
        if self.candidate in keys:
            self.candidate = keys[(keys.index(self.candidate) + by) % len(keys)]
            self._read = False
            self.draw(snapshot)


def _facts(slot: Slot) -> Content:
    """Two lines: its state, and its origin."""
    facts: list[Cell | tuple[str, str]] = [
        Content.styled(slot.id, LOUD), "  ", mark(slot.state), f" {state_of_slot(slot)}",
        "  F ", fitness_of(slot), "  ", difference(slot.difference),
        f"{success_and_return(slot.success_rate, slot.mean_return, before='  ')}  {plural(slot.rolled, 'episode')}",
    ]
    if slot.gate is not None and slot.state != "stopped":
        facts.append((f"  {gate_words(slot.gate)}", DIM))
    if slot.elite_of:
        facts.append(("  elite of g" + ", g".join(map(str, slot.elite_of)), GOOD))
    operator = slot.operator or ""
    origin = f"{operator} of {' and '.join(slot.parents)}" if slot.parents else operator
    what = f"“{one_line(slot.summary, 300)}”" if slot.summary else ""
    lines = [
        Content.assemble(*facts),
        Content.assemble((f"{origin}  ", DIM), what, ("  " + fault_words(slot.fault, 300), BAD)),
    ]
    return Content("\n").join(lines)


def _talk(details: Details, pick: str) -> list[tuple[str, str]]:
    """Prompts or replies, each under a heading."""
    texts = []
    for row in details.record.calls:
        usage, text = row.call.usage, getattr(row.call, pick).text
        tokens = tokens_of_call(
            usage.input_tokens, usage.output_tokens,
            cached=usage.cached_tokens, cache_written=usage.cache_written_tokens,
        )
        texts.append((
            f"{row.role} {one_line(row.call.model, 100)}: {tokens}, "
            f"{cost(usage.cost_usd)}, {usage.latency_s:.1f} s; "
            f"this {pick} has {len(text):,} characters", text,
        ))
    return texts


def _episode_rows(details: Details) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for place, (episode, score) in enumerate(details.record.episodes):
        fault = (episode.fault if episode is not None else None) or (score.fault if score is not None else None)
        fitness = 0.0 if episode is not None and episode.fault is not None else None if score is None else score.fitness
        wrong = fault_words(fault)
        if episode is None:
            rows.append([str(place), number(fitness), "on T_0", "", "", "", "", Content.styled(wrong, BAD)])
            continue
        outcome = episode_outcome(episode)
        word = Content.styled(outcome, GOOD) if episode.success else Content(outcome)
        rows.append([
            str(episode.index), number(fitness), word, str(episode.steps), one_line(episode.ended_by, 20),
            f"{episode.wall_s:.1f}", one_line(episode.scene or "", 30), Content.styled(wrong, BAD),
        ])
    return rows


LONGEST_COLOURED = 200_000      # characters; longer programs are shown without highlighting, which would be slow


def printable(text: str) -> str:
    """The text without control characters, which a terminal would obey: it may come from a model."""
    return "".join(letter for letter in text.expandtabs(4) if letter.isprintable() or letter == "\n")


def code_lines(program: Program | None) -> list[Content]:
    """A program in colours, with line numbers."""
    if program is None:
        return [Content.styled("the reply contained no program", DIM)]
    text = printable(program.text).rstrip("\n")
    plain = len(text) > LONGEST_COLOURED
    lines = [Content(line) for line in text.split("\n")] if plain else highlight(text, language="python").split("\n")
    width = len(str(len(lines)))
    return [Content.styled(f"{place:>{width}} ", DIM) + line for place, line in enumerate(lines, start=1)]


def diff_lines(old: Program | None, new: Program | None, *, names: tuple[str, str]) -> list[Content]:
    """The change from `old` to `new` as a unified diff."""
    if old is None or new is None:
        return [Content.styled("no program to compare with", DIM)]
    diff = line_diff(printable(old.text), printable(new.text))
    head = Content.assemble(f"{names[0]} -> {names[1]}  ", (f"+{diff.added} ", GOOD), (f"-{diff.removed}", BAD))
    if diff.note:
        return [head, Content.styled(diff.note, DIM)]
    if not diff.lines:
        return [Content.styled(f"the code of {names[1]} is that of {names[0]}", DIM)]
    return [head, *map(_code_line, diff.lines)]


def _code_line(line: str) -> Content:
    style = {"+": GOOD, "-": BAD, "@": ACCENT}.get(line[:1], "")
    return Content.styled(line, style) if style else Content(line)


def mean_of(summary: JSON) -> float | None:
    """The one number of a metric's summary; None where it has none."""
    value = summary.get("mean", summary.get("rate")) if isinstance(summary, dict) else summary
    return float(value) if isinstance(value, int | float) else None


def value_of(summary: JSON) -> str:
    """A metric's summary in a word."""
    mean = mean_of(summary)
    if mean is not None:
        return f"{mean:.3f}"
    if summary == NEVER:
        return "never"
    common = summary.get("most_common") if isinstance(summary, dict) else None
    return one_line(", ".join(map(str, common)) if isinstance(common, dict) else str(summary), 60)


def metric_rows(new: Mapping[str, JSON], old: Mapping[str, JSON]) -> list[tuple[str, str, str, Content]]:
    """(name, value, value of the parent, difference). A metric has no better or worse: no colours."""
    rows = []
    for name, value in new.items():
        now, before = mean_of(value), mean_of(old.get(name))
        moved = "" if now is None or before is None or abs(now - before) < 0.0005 else f"{now - before:+.3f}"
        was = value_of(old[name]) if name in old else ""
        rows.append((one_line(name, 100), value_of(value), was, Content.styled(moved, LOUD) if moved else Content("")))
    return rows


def talk_lines(texts: Sequence[tuple[str, str]], width: int) -> list[Content]:
    """Prompts or replies under their headings, folded to the width."""
    lines: list[Content] = []
    for title, text in texts:
        lines.append(Content.styled(title, HEADING))
        for line in printable(text).split("\n"):
            style = LOUD if line.startswith("#") else ""
            folded = textwrap.wrap(line, max(20, width), replace_whitespace=False) if len(line) > width else [line]
            lines += [Content.styled(each, style) if style else Content(each) for each in folded]
        lines.append(Content(""))
    return lines or [Content.styled("no model call", DIM)]


def read_details(folder: Path, name: str, *, elite: str | None) -> Details:
    """The details of `name`. Raises MementoError if the store cannot be read."""
    with RunStore.read(folder) as store:
        record = find(store, name) or Record(id=name)
        best = find(store, elite) if elite is not None and elite != name and parse(name).stage == SEARCH else None
        return Details(
            record=record, parents=tuple(parents_of(store, record)),
            elite=best if best is not None and best.program is not None else None,
        )
