"""Reads a judge's answer: one JSON object with a choice and a reason."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..core.ballot_files import label
from ..core.ports import Reply
from ..core.text import one_line
from ..core.values import JSON, JudgeReason

# JSON objects in a model's reply.


MAX_SEARCHED = 40_000  # characters at the end of a reply that are searched
MAX_OBJECTS = 64  # positions at which an object may begin


def json_objects(text: str) -> Iterator[dict[str, JSON]]:
    """The JSON objects at the end of a text, in order; nested objects are ignored. Never raises."""
    text = text[-MAX_SEARCHED:]
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(MAX_OBJECTS):
        if at < 0:
            return
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        if isinstance(found, dict):
            yield found
        at = text.find("{", end)


MAX_REASON = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """A usable answer: the chosen slot of the pool, and the reason."""

    slot: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """An answer that names no evaluator of the pool, and the reason why it is unusable."""

    why: str


def read_verdict(reply: Reply, slots: Mapping[str, int]) -> JudgeChoice | Unusable:
    """The vote in a reply, given the slot for each label. Never raises.

    A choice is a label (a judge that read the prompt) or a slot number (one that read the order, such as
    the offline model). If a reply holds several answers, the last one counts.
    """
    if reply.stop != "end":
        return Unusable(why=f"the answer is not complete (it ended by {one_line(reply.stop, 40)})")
    answers = [answer for answer in json_objects(reply.text) if "choice" in answer]
    if not answers:
        return Unusable(why='it holds no JSON object with a "choice"')
    choice, reason = answers[-1]["choice"], answers[-1].get("reason")
    slot = _slot(choice, slots)
    if slot is None:
        shown = one_line(str(choice), 40) if isinstance(choice, str | int) else "something else"
        return Unusable(why=f"its choice is {shown}, which is none of {', '.join(slots)}")
    return JudgeChoice(slot=slot, reason=one_line(reason, MAX_REASON) if isinstance(reason, str) else "")


def _slot(choice: JSON, slots: Mapping[str, int]) -> int | None:
    if isinstance(choice, str):
        return slots.get(choice.strip().upper().removeprefix("EVALUATOR").strip())
    if isinstance(choice, int) and not isinstance(choice, bool):
        return choice if choice in slots.values() else None
    return None


# The reasons of the judges who chose a parent, for the writers of the next evaluators. They are data, and bounded.


MAX_REASONS = 10


def reasons_list(reasons: Sequence[JudgeReason]) -> str:
    """One line per judge: its vote, the label under which it saw the parent, and its reason."""
    lines = []
    for number, reason in enumerate(reasons[:MAX_REASONS], start=1):
        vote = "voted for the parent" if reason.agrees else "voted for another evaluator"
        name = "" if reason.place is None else f", which it saw as {label(reason.place)}"
        name = name if reason.agrees or not name else f" (it saw the parent as {label(reason.place or 0)})"
        lines.append(f"{number}. {vote}{name}: {one_line(reason.text, MAX_REASON) or 'no reason given'}")
    if len(reasons) > MAX_REASONS:
        lines.append(f"… and {len(reasons) - MAX_REASONS} more")
    return "\n".join(lines)
