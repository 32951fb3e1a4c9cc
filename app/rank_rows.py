"""The rows of the result: means with intervals, and each program against the one that the run returned. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import fsum

from ..core.intervals import ALPHA, mean_interval, share_interval, sign_flip_p_values
from ..memory.contenders import Contender
from ..memory.fresh_file import FreshEpisode
from .results import RankRow


def rows_of(programs: Sequence[Contender], found: Mapping[str, Sequence[FreshEpisode]]) -> tuple[RankRow, ...]:
    """The programs, of which one is the returned one, the best first, from their episodes in the same order."""
    base = next(found[each.candidate] for each in programs if each.returned)
    differences = {
        each.candidate: [one.fitness - other.fitness for one, other in zip(found[each.candidate], base, strict=True)]
        for each in programs if not each.returned
    }
    p_values = dict(zip(differences, sign_flip_p_values([*differences.values()]), strict=True))
    rows = [
        _row(each, found[each.candidate], differences.get(each.candidate), p_values.get(each.candidate))
        for each in programs
    ]
    return rows_by("F", rows)


def rows_by(measure: str, rows: Iterable[RankRow]) -> tuple[RankRow, ...]:
    """These rows, the best by "F", "success" or "return" first; equal ones by the other measures."""
    def key(row: RankRow) -> tuple[float, ...]:
        values = {"F": row.fitness, "success": row.success_rate or 0.0, "return": row.return_mean or 0.0}
        return (-values.pop(measure), *(-value for value in values.values()), not row.returned)

    return tuple(replace(row, rank=place) for place, row in enumerate(sorted(rows, key=key), start=1))


def _row(
    program: Contender, episodes: Sequence[FreshEpisode], differences: Sequence[float] | None, p_value: float | None
) -> RankRow:
    n = len(episodes)
    fitness = [each.fitness for each in episodes]
    reference = [each.reference for each in episodes if each.reference is not None]
    won = [each.success for each in episodes if each.success is not None]
    returns = [each.episode_return for each in episodes if each.episode_return is not None]
    difference = None if differences is None else fsum(differences) / n
    apart = None if differences is None else mean_interval(differences, least=-1.0, most=1.0)
    return RankRow(
        rank=0, candidate=program.candidate, same_code=program.also, operator=program.operator,
        initial=program.initial, returned=program.returned, search_fitness=program.fitness,
        early=program.early,
        fitness=fsum(fitness) / n, fitness_interval=mean_interval(fitness, least=0.0, most=1.0),
        reference_fitness=fsum(reference) / n if reference else None,
        reference_interval=mean_interval(reference, least=0.0, most=1.0),
        success_rate=sum(won) / len(won) if won else None, success_interval=share_interval(sum(won), len(won)),
        return_mean=fsum(returns) / len(returns) if returns else None, return_interval=mean_interval(returns),
        faults=sum(each.error is not None for each in episodes),
        difference=difference,
        difference_interval=apart,
        p_value=p_value,
        distinguishable=None if difference is None else (
            p_value is not None and p_value <= ALPHA and apart is not None and not apart[0] <= 0.0 <= apart[1]
        ),
        per_episode=tuple(fitness),
    )
