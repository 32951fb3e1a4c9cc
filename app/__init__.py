"""The composition root: the one place that knows concrete classes and wires them for a run or an evaluation."""

from .evaluation import evaluate
from .replay import read_recorded
from .run import resume, run
from .salt import new_salt
from .status import StatusAddress

__all__ = ["StatusAddress", "evaluate", "new_salt", "read_recorded", "resume", "run"]
