"""MEMENTO from Python, for notebooks and scripts; the names are those of `memento` itself: `memento.run`, …

The command line uses the same functions of `app/`, `settings/` and `memory/`.
"""

from ..app.results import EpisodeResult, EvaluateResult, RunResult
from .doing import evaluate, load, run
from .record import Candidate, Run

__all__ = ["Candidate", "EpisodeResult", "EvaluateResult", "Run", "RunResult", "evaluate", "load", "run"]
