"""Counting the judges' votes. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping


def majority(votes: Iterable[int | None]) -> int | None:
    """The slot with most votes; a tie goes to the lower slot; None where nobody voted."""
    count = Counter(vote for vote in votes if vote is not None)
    return min(count, key=lambda slot: (-count[slot], slot), default=None)


def tally(votes: Iterable[int | None]) -> Mapping[str, int]:
    """The votes for each slot that has any, in slot order; the keys are texts, as facts carry them."""
    count = Counter(vote for vote in votes if vote is not None)
    return {str(slot): count[slot] for slot in sorted(count)}
