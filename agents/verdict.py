"""Reads a judge's answer: one JSON object with a choice and a reason."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.ports import Reply
from ..core.text import one_line
from ..core.values import JSON
from .json_objects import json_objects

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
    answers = [answer for answer in json_objects(reply.text) if "choice" in answer]
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
