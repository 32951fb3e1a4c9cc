"""Which rows a story's table has, where more happened than it can show."""

from collections.abc import Sequence

LATEST = 7  # rows of a table for the latest changes, where there are more than it shows


def latest_and_spread(rows: Sequence[int], count: int) -> list[int]:
    """At most `count` (> LATEST) of these rows, in order: the latest, and others evenly spread before them."""
    if len(rows) <= count:
        return list(rows)
    early, late = rows[:-LATEST], rows[-LATEST:]
    spread = count - LATEST
    places = (round(number * (len(early) - 1) / max(spread - 1, 1)) for number in range(spread))
    return [*(early[place] for place in places), *late]
