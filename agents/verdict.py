"""Reads a judge's answer: one JSON object with a choice and a reason."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..core.ports import Reply
from ..core.text import one_line
from ..core.values import JSON

MAX_ANSWER = 40_000  # characters of a reply that are searched
MAX_OBJECTS = 64  # positions at which an object may begin
MAX_REASON = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A usable answer: the chosen slot of the pool, and the reason."""

    slot: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """An answer that names no evaluator of the pool, and the reason why it is unusable."""

    why: str


def read_verdict(reply: Reply, slots: Mapping[str, int]) -> Verdict | Unusable:
    """The vote in a reply, given the slot for each label. Never raises.

    A choice is a label (a judge that read the prompt) or a slot number (one that read the order, such as
    the offline model). If a reply holds several answers, the last one counts.
    """
    if reply.stop != "end":
        return Unusable(why=f"the answer is not complete (it ended by {one_line(reply.stop, 40)})")
    answers = [answer for answer in _objects(reply.text[-MAX_ANSWER:]) if "choice" in answer]
    if not answers:
        return Unusable(why='it holds no JSON object with a "choice"')
    choice, reason = answers[-1]["choice"], answers[-1].get("reason")
    slot = _slot(choice, slots)
    if slot is None:
        shown = one_line(str(choice), 40) if isinstance(choice, str | int) else "something else"
        return Unusable(why=f"its choice is {shown}, which is none of {', '.join(slots)}")
    return Verdict(slot=slot, reason=one_line(reason, MAX_REASON) if isinstance(reason, str) else "")


def _slot(choice: JSON, slots: Mapping[str, int]) -> int | None:
    if isinstance(choice, str):
        return slots.get(choice.strip().upper().removeprefix("EVALUATOR").strip())
    if isinstance(choice, int) and not isinstance(choice, bool):
        return choice if choice in slots.values() else None
    return None


def _objects(text: str) -> Iterator[dict[str, JSON]]:
    """The JSON objects in a text, in order; nested objects are ignored."""
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
