"""The critic: looks at a sheet of an episode and says in a few words what went wrong."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from ..core.critique import MAX_WORDS, Critique, Sheet
from ..core.errors import ModelError
from ..core.events import Criticise, Criticised
from ..core.metrics import aggregate
from ..core.ports import Ask, Model, Prompts
from ..core.programs.program_text import MAX_FAULT
from ..core.text import excerpt, fenced_text, one_line, plural
from ..core.turns import HIDDEN
from ..core.values import JSON, Brief, Score
from .critic_sheets import PreparedSheet, Sheets
from .episode_table import metrics_table
from .reply import within_limit
from .stories import MAX_STORY
from .writing import Question, call_of, evaluator_situation, question, section

# How prompts show what a critic saw and said.


MAX_CAPTION = 160  # characters of a frame's caption in a prompt
EVENLY = "The frames are evenly spaced over the episode."
SHOWN_DIGITS = 12  # of a sheet's digest


def frame_lines(sheet: Sheet) -> str:
    """One line for each frame: its number, its step, its caption."""
    return "\n".join(
        f"frame {number}, step {frame.row}: {one_line(frame.caption, MAX_CAPTION)}"
        for number, frame in enumerate(sheet.frames, start=1)
    )


def focus_words(sheet: Sheet) -> str:
    """Around what the frames are closer together."""
    return f"They are closer together around {one_line(sheet.focus, 160)}." if sheet.focus else EVENLY


def critique_text(prompts: Prompts, critique: Critique | None) -> str:
    """The part of a prompt that quotes a critique; "" without words."""
    if critique is None or critique.sheet is None or not critique.words:
        return ""
    sheet = critique.sheet
    around = f" (closer together around {one_line(sheet.focus, 160)})" if sheet.focus else ""
    return prompts.fill(
        "critique", episode=str(critique.episode), frames=plural(len(sheet.frames), "frame"), around=around,
        words=fenced_text(critique.words),
    )


def sheet_text(prompts: Prompts, critique: Critique | None, pictures: Sequence[Critique]) -> str:
    """The part of a prompt that says which of the attached pictures shows an episode; "" if none does."""
    if critique is None or critique.sheet is None or critique not in pictures:
        return ""
    sheet = critique.sheet
    return prompts.fill(
        "critique-sheet", place=f"Picture {pictures.index(critique) + 1}", episode=str(critique.episode),
        digest=sheet.digest[:SHOWN_DIGITS], focus=focus_words(sheet), frames=fenced_text(frame_lines(sheet)),
    )


CRITIC = "critic"
MAX_FITNESS = 900  # characters of what f_e measures
MAX_SAID = 1_200  # characters of a critique, whatever its words
MARK = " …"  # after a critique that was cut
NO_STORY = "There is no account of this episode."
NO_SCORE = "No evaluator has scored this episode yet."


_log = structlog.get_logger("memento.critic")


class Critic:
    """Answers looks. Without a model it only has the sheet drawn.

    A model that takes no pictures ends no run: the fact says so, and it is not asked again.
    """

    def __init__(self, *, model: Model | None, prompts: Prompts, brief: Brief, sheets: Sheets) -> None:
        self._model = model
        self._prompts = prompts
        self._sheets = sheets
        self._off = False
        self._situation = prompts.fill("critic-situation", **evaluator_situation(brief))

    async def carry_out(self, order: Criticise) -> Criticised:
        """One look. What cannot be drawn or answered is in the fact. Raises ModelError if it is fatal, RolloutError,
        StoreError."""
        prepared = await self._sheets.prepared(order)
        if prepared.known is not None:
            return prepared.known
        fact = Criticised(
            order=order.id, candidate=order.candidate, episode=order.episode.index, sheet=prepared.sheet,
            problem=one_line(prepared.problem, MAX_FAULT),
        )
        if self._model is None or prepared.sheet is None or self._off:
            return fact
        return await self._ask(self._model, order, prepared, fact)

    async def _ask(self, model: Model, order: Criticise, prepared: PreparedSheet, fact: Criticised) -> Criticised:
        assert prepared.sheet is not None
        asked = self._question(order, prepared.sheet)
        images = () if prepared.image is None else (prepared.image,)
        ask = Ask(order=order, attempt=0, role=CRITIC, prompt=asked.text, prefixes=asked.prefixes, images=images)
        try:
            reply = within_limit(await model.complete(ask))
        except ModelError as error:
            if error.fatal and not error.of_pictures:
                raise
            if error.of_pictures and not self._off:
                self._off = True
                _log.warning("critic-off", why=str(error), effect="the run goes on without a critic")
            return replace(fact, problem=one_line(str(error), MAX_FAULT), off=error.of_pictures)
        words = shortened(reply.text) if reply.stop != "refusal" else ""
        problem = "" if words else "the critic refused" if reply.stop == "refusal" else "the critic said nothing"
        return replace(fact, words=words, problem=problem, call=call_of(asked.text, reply))

    def _question(self, order: Criticise, sheet: Sheet) -> Question:
        notes = order.episode.notes
        rest = self._prompts.fill(
            "critic",
            measure=section("What the fitness of an episode measures", _with_fence(order.fitness, MAX_FITNESS)),
            result=_result(order.score),
            story=_with_fence(notes.story, MAX_STORY) or NO_STORY,
            frames=fenced_text(frame_lines(sheet)),
            focus=focus_words(sheet),
            words=str(MAX_WORDS),
        )
        return question(self._situation, rest)


def shortened(text: str) -> str:
    """At most 120 words of a reply, on one line; what was cut is marked."""
    words = text.split()
    kept = " ".join(words[:MAX_WORDS]) + (MARK if len(words) > MAX_WORDS else "")
    if len(kept) <= MAX_SAID:
        return one_line(kept, MAX_SAID)
    head = kept[: MAX_SAID - len(MARK)]
    return one_line(head.rpartition(" ")[0] or head, MAX_SAID) + MARK


def _result(score: Score | None) -> str:
    """f_e and the metrics of the episode, without what policies never learn."""
    if score is None:
        return NO_SCORE
    shown: dict[str, JSON] = {
        name: entry for name, entry in aggregate((score,)).items() if name.rpartition(".")[2] not in HIDDEN
    }
    fitness = f"Its fitness is f_e = {score.fitness:.4f}; 1 would be the most."
    return f"{fitness} What the evaluator measured:\n\n{fenced_text(metrics_table(shown, 1))}" if shown else fitness


def _with_fence(text: str, limit: int) -> str:
    return fenced_text(excerpt(text, limit)) if text.strip() else ""
