"""MEMENTO from Python, for notebooks and scripts; the names are those of `memento` itself: `memento.run`, …

The command line uses the same functions of `app/`, `settings/` and `memory/`.

    doing      `memento.run`, `memento.evaluate` and `memento.load`
    record     A run on disk, read from its log
    reporting  what a report is made of: the evidence of runs, a comparison or an archive, pictures of the elites
    waiting    runs asynchronous work to its end from ordinary code, also where an event loop runs already
"""

from ..app.results import EpisodeResult, EvaluateResult, RunResult
from .doing import evaluate, load, run
from .record import Candidate, Run

__all__ = ["Candidate", "EpisodeResult", "EvaluateResult", "Run", "RunResult", "evaluate", "load", "run"]
