"""A calibration as a table: the constants of each step, and what its trials showed. Pure."""

from collections.abc import Iterator, Sequence

from ..core.errors import UsageError
from ..core.programs.constants import Bounds, calibrated, literal, progress_of
from ..core.story import aligned
from ..core.values import Program
from ..memory.lookup import Record

MOST_COLUMNS = 8    # of constants: the first ones


def describe_calibration(records: Sequence[Record], bounds: Bounds, *, elite: str | None) -> Iterator[str]:
    """One line per tested vector of constants, p_0's first."""
    tested = [(record, record.program) for record in records if record.program is not None]
    if not tested:
        return
    names = _values(tested[0][1], bounds)
    shown = list(names)[:MOST_COLUMNS]
    more = f", the first {len(shown)} of {len(names)} constants" if len(names) > len(shown) else ""
    rows: list[tuple[str, ...]] = [("", "step", *shown, "succeeded", "progress", "ended by")]
    for record, program in tested:
        values = _values(program, bounds)
        ended = [episode for episode, _ in record.episodes if episode is not None]
        progress = progress_of(record.metrics)
        rows.append((
            "*" if record.id == elite else "", record.id, *(values.get(name, "?") for name in shown),
            f"{sum(episode.success for episode in ended)}/{len(ended)}",
            "-" if progress is None else f"{progress:.2f}",
            ", ".join(sorted({str(episode.info.get("stopped") or episode.ended_by) for episode in ended})),
        ))
    yield ""
    yield f"calibration: the constants of each step, * the result{more}"
    yield from aligned(rows).split("\n")


def _values(program: Program, bounds: Bounds) -> dict[str, str]:
    try:
        return {each.name: literal(each, each.value) for each in calibrated(program, bounds)}
    except UsageError:
        return {}
