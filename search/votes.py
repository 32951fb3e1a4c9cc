"""Counting the judges' votes. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping


def majority(votes: Iterable[int | None]) -> int | None:
    """The slot with most votes; the lower slot wins a tie; None if there are no votes."""
    count = Counter(vote for vote in votes if vote is not None)
    return min(count, key=lambda slot: (-count[slot], slot), default=None)


def tally(votes: Iterable[int | None]) -> Mapping[str, int]:
    """The number of votes for each slot that has any, in slot order; the keys are strings, as in facts."""
    count = Counter(vote for vote in votes if vote is not None)
    return {str(slot): count[slot] for slot in sorted(count)}
