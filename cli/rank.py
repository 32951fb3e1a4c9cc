"""`memento rank`: the best programs of a run on fresh episodes."""

from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Final

import typer

from . import flags

EXAMPLE: Final = "memento rank first --episodes 64"

Episodes = Annotated[int, typer.Option(metavar="N", help="Fresh episodes, the same for every program.")]
Programs = Annotated[int, typer.Option(metavar="N", help="The most programs; p_0 and the elite are always among them.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The number of the first episode; others are other episodes.")]
Salt = Annotated[
    str | None,
    typer.Option(metavar="HEX", help="Episodes that this run's salt does not determine.", show_default=False),
]


class RankedBy(StrEnum):
    """What a ranking is by."""

    F = "F"
    SUCCESS = "success"
    RETURN = "return"


By = Annotated[RankedBy, typer.Option(metavar="F|success|return", help="The measure that ranks.", case_sensitive=False)]


def rank(
    run: flags.Run,
    episodes: Episodes = 20,
    programs: Programs = 8,
    seed: Seed = 0,
    salt: Salt = None,
    by: By = RankedBy.F,
    workers: flags.Workers = None,
    cluster: flags.Cluster = None,
    mixed_nodes: flags.MixedNodes = False,
    trust: flags.Trust = False,
    runs: flags.Runs = flags.RUNS,
    as_json: flags.AsJson = False,
) -> None:
    """Measure the best programs of a run on fresh episodes; resumable.

    The programs are p_0, the run's elite, and of the others those with the highest F in the search.
    """
    from time import monotonic

    from ..app.rank import rank as rank_run
    from ..app.rank_rows import rows_by
    from ..core.text import credible, duration
    from ..memory.runs import find_run
    from ..settings.evaluate import build_rank_settings
    from .execution import execute
    from .output import print_json_line, print_text, say
    from .result_text import describe_ranking

    settings = build_rank_settings(
        find_run(runs, run), episodes=episodes, programs=programs, seed=seed, salt=salt,
        workers=workers if cluster is None else None, trusted=trust,
    )

    began: list[tuple[float, int]] = []

    def report(done: int, expected: int) -> None:
        began.append((monotonic(), done)) if not began else None
        if done % max(1, expected // 10) == 0:
            at, first = began[0]
            measured_s = monotonic() - at
            each_s = measured_s / (done - first) if done > first else 0.0
            left_s = credible(each_s * (expected - done), measured_s=measured_s)
            left = f", about {duration(left_s)} left" if each_s and left_s else ""
            say(f"{done} of {expected} episodes{left}")

    work = rank_run(settings, cluster=flags.cluster_at(cluster, workers, mixed=mixed_nodes), report=report)
    result = execute(work, again="the same command goes on with the episodes that are left")
    result = replace(result, programs=rows_by(by, result.programs))
    result = replace(result, best=result.programs[0].candidate)
    if as_json:
        print_json_line(result.line())
    else:
        print_text(describe_ranking(result, by=by))
