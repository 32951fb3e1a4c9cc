"""Reads a judge's answer: one JSON object with a choice and a reason."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..core.ports import Reply
from ..core.text import one_line
from ..core.values import JSON
from .json_objects import MAX_SEARCHED, json_objects

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
    the offline model). If a reply holds several answers, the last one counts. Where no JSON names a choice, a vote in
    words counts, such as "Choice: B".
    """
    if reply.stop != "end":
        return Unusable(why=f"the answer is not complete (it ended by {one_line(reply.stop, 40)})")
    answers = [answer for answer in json_objects(reply.text) if "choice" in answer]
    if not answers:
        named = _in_words(reply.text[-MAX_SEARCHED:], slots)
        if named is None:
            return Unusable(why='it holds no JSON object with a "choice"')
        return JudgeChoice(slot=slots[named], reason=one_line(reply.text, MAX_REASON))
    choice, reason = answers[-1]["choice"], answers[-1].get("reason")
    slot = _slot(choice, slots)
    if slot is None:
        shown = one_line(str(choice), 40) if isinstance(choice, str | int) else "something else"
        return Unusable(why=f"its choice is {shown}, which is none of {', '.join(slots)}")
    return JudgeChoice(slot=slot, reason=one_line(reason, MAX_REASON) if isinstance(reason, str) else "")


_ALONE = re.compile(r"\W*(?:[Ee]valuator\W+)?([A-Z])\W*")
_CHOICE = re.compile(
    r"(?i:\b(?:choice|vote|answer|choose|chose|chosen|pick|select|selected|verdict|winner|best|boxed))\b"
    r"(?i:\s+(?:is|for|goes|to|one|with|would|be|evaluator))*[^A-Za-z0-9\n]{0,12}(?i:evaluator\W{1,4})?"
    r"([A-Z])(?![A-Za-z0-9'\u2019])(?!\s+(?:or|and)\s+[A-Z]\b)"
)


def _in_words(text: str, slots: Mapping[str, int]) -> str | None:
    """The label that a text without JSON names last as its choice; None without one."""
    alone = _ALONE.fullmatch(text)
    found = [alone[1]] if alone else [match[1] for match in _CHOICE.finditer(text)]
    named = [each for each in found if each in slots]
    return named[-1] if named else None


def _slot(choice: JSON, slots: Mapping[str, int]) -> int | None:
    if isinstance(choice, list) and len(choice) == 1:
        choice = choice[0]
    if isinstance(choice, str):
        return slots.get(choice.strip(" \t\n*\"'.`()").upper().removeprefix("EVALUATOR").strip())
    if isinstance(choice, int) and not isinstance(choice, bool):
        return choice if choice in slots.values() else None
    return None
