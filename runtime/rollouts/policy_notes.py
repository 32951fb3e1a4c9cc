"""The trusted side of what a policy says of itself: stages and report, bounded and checked. Pure; nothing is believed.

The limits keep an episode's notes to a few kilobytes of the log and of a prompt.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...core.metrics import bounded_metrics
from ...core.recording import STAGE_CHANGES
from ...core.text import one_line, printable
from ...core.values import JSON, Stage
from .fault_text import portable
from .program_notes import NAME_CHARS

STAGES: Final = 24          # different names; further ones count as OTHER
OTHER: Final = "other stages"
ENTRIES: Final = 24         # of a report, after nested names were joined
PRINTED_CHARS: Final = 800
PRINTED_LINES: Final = 20
PROBLEM_CHARS: Final = 200
DEPTH: Final = 20           # of a nested report


@dataclass(slots=True)
class _Tally:
    first_step: int
    entries: int = 0
    steps: int = 0


@dataclass(slots=True)
class StageLog:
    """The stages of one episode. `changes` holds [name, step] in order, the first STAGE_CHANGES of them.

    `step` counts calls from 0: the stage was named after the call that returned the action of this step.
    """

    changes: list[JSON] = field(default_factory=list)
    _tallies: dict[str, _Tally] = field(default_factory=dict)
    _current: str = ""
    _since: int = 0

    def change(self, sent: bytes, step: int) -> None:
        """The policy changed to another stage, or to none, whose name is empty."""
        name = one_line(sent.decode(errors="replace"), NAME_CHARS)
        self._close(step)
        self._current, self._since = name, step
        if name and name not in self._tallies and len(self._tallies) >= STAGES:
            self._current = name = OTHER
        if len(self.changes) < STAGE_CHANGES:
            self.changes.append([name, step])
        if name:
            self._tallies.setdefault(name, _Tally(step)).entries += 1

    def stages(self, steps: int) -> tuple[Stage, ...]:
        """The stages of an episode of `steps` steps, in the order of their first steps."""
        self._close(steps)
        self._since = steps
        return tuple(
            Stage(name=name, first_step=tally.first_step, entries=tally.entries, steps=tally.steps)
            for name, tally in self._tallies.items()
        )

    def _close(self, step: int) -> None:
        if self._current:
            self._tallies[self._current].steps += max(0, step - self._since)


def parse_report(payload: bytes) -> Mapping[str, JSON] | str:
    """A bounded report from what a policy sent, or why it cannot be used.

    Nested names are joined by dots, and numbers that are not finite become text.
    """
    if not payload:
        return {}
    try:
        value = json.loads(payload, parse_constant=str)
        if not isinstance(value, dict):
            return "it is not a dict"
        if _depth(value) > DEPTH:
            return "it is nested too deeply"
        return {name: _finite(each) for name, each in bounded_metrics(value, limit=ENTRIES).items()}
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {one_line(str(error), 100)}"


def problem(what: str, message: str) -> str:
    """One bounded line on why a note is missing."""
    return one_line(f"{what}: {message}", PROBLEM_CHARS)


def printed_tail(output: str) -> str:
    """The last whole lines of what a program printed, the same on every machine; of a longer line its end."""
    text = printable(portable(output)).strip()
    if len(text) <= PRINTED_CHARS and text.count("\n") < PRINTED_LINES:
        return text
    kept = text.split("\n")[-PRINTED_LINES:]
    while len(kept) > 1 and sum(map(len, kept)) + len(kept) + 1 > PRINTED_CHARS:
        kept.pop(0)
    last = "\n".join(kept)
    return f"…\n{last}" if len(last) + 2 <= PRINTED_CHARS else f"…{last[-PRINTED_CHARS + 1:]}"


def _depth(value: JSON) -> int:
    """How deeply a JSON value is nested; stops at one level more than allowed."""
    level: list[JSON] = [value]
    depth = 0
    while level and depth <= DEPTH:
        level = [
            part for each in level if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
        depth += 1
    return depth


def _finite(value: JSON) -> JSON:
    """A number that the log can hold: 1e999 is read as infinite, and integers have at most 64 bits."""
    if isinstance(value, float) and value - value != 0:
        return str(value)
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return "a number of more than 64 bits"
    return value
