"""The composition root: the one place that knows concrete classes and wires them for a run or an evaluation."""

from .evaluation import evaluate
from .run import resume, run

__all__ = ["evaluate", "resume", "run"]
