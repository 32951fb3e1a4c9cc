"""One policy, evaluator or vote: code, differences, metrics, episodes, prompt and reply."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static, TabbedContent, TabPane

from ....core.errors import MementoError
from ....core.text import counted
from ...lines import one_line
from ..details import Details, read_details
from ..lines_view import LinesView
from ..rows import Cell, Column, Rows
from ..snapshot import BAD, DIM, LOUD, Sight, cost, fitness_of, mark, number, share, signed, what_became
from ..texts import code_lines, diff_lines, metric_rows, talk_lines
from .page import Page

METRICS = (
    Column(title="metric", width=20, grows=True), Column(title="value", width=18, right=True),
    Column(title="parent", width=18, right=True), Column(title="moved by", width=9, right=True),
)
EPISODES = (
    Column(title="e", width=3, right=True), Column(title="f", width=6, right=True), Column(title="", width=7),
    Column(title="steps", width=6, right=True), Column(title="ended by", width=10),
    Column(title="seconds", width=7, right=True, least=70), Column(title="scene", width=12, least=100),
    Column(title="what went wrong", width=10, grows=True),
)


class CandidateScreen(Page):
    """Reads its candidate in a thread, and again when more is known of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "back"), Binding("n", "step(1)", "next"), Binding("N", "step(-1)", "previous"),
        Binding("e", "export", "export"), Binding("v", "render", "render"),
        Binding("c", "tab('code')", show=False), Binding("f", "tab('parent')", show=False),
        Binding("l", "tab('elite')", show=False), Binding("m", "tab('metrics')", show=False),
        Binding("x", "tab('episodes')", show=False), Binding("w", "tab('prompt')", show=False),
        Binding("r", "tab('reply')", show=False),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self.candidate = name
        self._known: object = None      # what was known of it when it was read

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
        """Show what the view knows, read the rest."""
        sight = self.watch_app.sight
        if sight is not None:
            self.see(sight)
        self.query_one("#code-lines").focus()

    def draw(self, sight: Sight) -> None:
        """What the view knows at once; the texts are read where something changed."""
        slot = sight.view.candidates.get(self.candidate) or sight.view.others.get(self.candidate)
        if slot is not None:
            facts: list[Cell | tuple[str, str]] = [
                Content.styled(self.candidate, LOUD), "  ", mark(slot.state), f" {what_became(slot)}",
                "  F ", fitness_of(slot), "  ", signed(slot.difference),
                f"  success {share(slot.success_rate)}  {counted(slot.rolled, 'episode')}",
            ]
            if slot.elite_of:
                facts.append(("  elite of g" + ", g".join(map(str, slot.elite_of)), "$text-success"))
            origin = f"{slot.operator} of {' and '.join(slot.parents)}" if slot.parents else slot.operator
            what = f"“{one_line(slot.summary, 300)}”" if slot.summary else ""
            wrong = f"{slot.fault.kind.value}: {one_line(slot.fault.message, 300)}" if slot.fault else ""
            lines = [Content.assemble(*facts), Content.assemble((f"{origin}  ", DIM), what, ("  " + wrong, BAD))]
            self.query_one("#facts", Static).update(Content("\n").join(lines))
        else:
            self.query_one("#facts", Static).update(f"{self.candidate}: nothing is known of it yet\n")
        if slot != self._known:
            self._known = slot
            elite = sight.view.elite
            folder, name, best = sight.folder, self.candidate, None if elite is None else elite.candidate

            def work() -> None:
                try:
                    details = read_details(folder, name, elite=best)
                except (MementoError, OSError) as error:
                    self.app.call_from_thread(self._say, f"cannot be read: {error}")
                else:
                    self.app.call_from_thread(self._show, details)

            self.run_worker(work, thread=True, group="details", exclusive=True)

    def _say(self, sentence: str) -> None:
        if self.is_mounted:
            self.query_one("#code-lines", LinesView).show([Content.styled(one_line(sentence, 400), BAD)])

    def _show(self, details: Details) -> None:
        if not self.is_mounted or details.part.id != self.candidate:
            return
        part, parent = details.part, details.parents[0] if details.parents else None

        def lines(name: str) -> LinesView:
            return self.query_one(name, LinesView)

        lines("#code-lines").show(code_lines(part.program))
        lines("#parent-lines").show(
            [line for each in details.parents
             for line in diff_lines(each.program, part.program, names=(each.id, part.id))]
            or [Content.styled(f"{part.id} has no parent", DIM)]
        )
        elite = details.elite
        lines("#elite-lines").show(
            diff_lines(elite.program, part.program, names=(elite.id, part.id)) if elite is not None
            else [Content.styled("there is no other elite to hold it against", DIM)]
        )
        metrics = metric_rows(part.metrics, {} if parent is None else parent.metrics)
        self.query_one("#metric-rows", Rows).show(len(metrics), lambda index: metrics[index])
        episodes = _episode_rows(details)
        self.query_one("#episode-rows", Rows).show(len(episodes), lambda index: episodes[index])
        for name, pick in (("#prompt-lines", "prompt"), ("#reply-lines", "reply")):
            texts = []
            for row in part.calls:
                usage, text = row.call.usage, getattr(row.call, pick).text
                texts.append((
                    f"{row.role} {one_line(row.call.model)}: {usage.input_tokens:,} tokens in, "
                    f"{usage.output_tokens:,} out, {cost(usage.cost_usd)}, {usage.latency_s:.1f} s; "
                    f"this {pick} has {len(text):,} letters", text,
                ))
            lines(name).show_folded(lambda width, texts=texts: talk_lines(texts, width=width))  # type: ignore[misc]

    def chosen(self) -> str | None:
        """Export and render are about this one."""
        return self.candidate

    def action_back(self) -> None:
        """To the screen beneath."""
        self.app.pop_screen()

    def action_tab(self, name: str) -> None:
        """Another tab, ready to be scrolled."""
        self.query_one(TabbedContent).active = name
        self.query_one(f"#{name}").children[0].focus()

    def action_step(self, by: int) -> None:
        """The next or the previous one of its kind, as they came."""
        sight = self.watch_app.sight
        if sight is None:
            return
        view = sight.view
        keys = [*(view.candidates if self.candidate in view.candidates else view.others)]
        if self.candidate in keys:
            self.candidate = keys[(keys.index(self.candidate) + by) % len(keys)]
            self._known = None
            self.see(sight)


def _episode_rows(details: Details) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for place, (episode, score) in enumerate(details.part.episodes):
        fault = (episode.fault if episode is not None else None) or (score.fault if score is not None else None)
        fitness = 0.0 if episode is not None and episode.fault is not None else None if score is None else score.fitness
        wrong = f"{fault.kind.value}: {one_line(fault.message, 200)}" if fault is not None else ""
        if episode is None:
            rows.append([str(place), number(fitness), "on T_0", "", "", "", "", Content.styled(wrong, BAD)])
            continue
        word = Content.styled("success", "$text-success") if episode.success else Content("failure")
        rows.append([
            str(episode.index), number(fitness), word, str(episode.steps), one_line(episode.ended_by, 20),
            f"{episode.wall_s:.1f}", one_line(episode.scene or "", 30), Content.styled(wrong, BAD),
        ])
    return rows
