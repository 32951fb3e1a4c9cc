"""The composition root: the only package that knows concrete classes. It wires them for a run or an evaluation."""

from ..core.seeds import new_salt
from .cluster import Cluster
from .evaluation import evaluate
from .replay import replay_settings
from .run import resume, run
from .status import StatusAddress

__all__ = ["Cluster", "StatusAddress", "evaluate", "new_salt", "replay_settings", "resume", "run"]
