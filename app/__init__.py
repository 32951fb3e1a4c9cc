"""The composition root: the one place that knows concrete classes and wires them for a run or an evaluation."""

from .evaluation import evaluate
from .replay import read_recorded
from .run import resume, run
from .status import StatusAddress

__all__ = ["StatusAddress", "evaluate", "read_recorded", "resume", "run"]
