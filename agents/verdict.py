"""Reads a judge's answer: one JSON object with a choice and a reason."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..core.labels import label
from ..core.ports import Reply
from ..core.text import one_line
from ..core.values import JSON, JudgeReason

# JSON objects in a model's reply.


MAX_SEARCHED = 40_000  # characters at the end of a reply that are searched
MAX_OBJECTS = 64  # positions at which an object may begin
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u201e": '"'})


def json_objects(text: str) -> Iterator[dict[str, JSON]]:
    """The JSON objects at the end of a text, in order; nested objects are ignored. Never raises.

    Line breaks within strings are read as they stand. Where nothing is JSON, commas before a closing bracket are left
    out and typographic quotes are read as plain ones.
    """
    text = text[-MAX_SEARCHED:]
    found = list(_objects(text))
    yield from found or _objects(_TRAILING_COMMA.sub(r"\1", text.translate(_QUOTES)))


def _objects(text: str) -> Iterator[dict[str, JSON]]:
    decoder = json.JSONDecoder(strict=False)
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
