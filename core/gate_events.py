"""The gate: episodes on a domain's cheap twin before the expensive ones, and the decision that follows from them."""

from dataclasses import dataclass

from .events import Fact, Order, ProposalFailed
from .values import Fault, Program


@dataclass(frozen=True, slots=True, kw_only=True)
class TryOnTwin(Order):
    """Roll one episode out on the cheap twin and score it. Answered by TwinTried."""

    program: Program
    evaluator: Program
    split: str
    index: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinTried(Fact):
    """The result of one episode on the cheap twin. Its recording is dropped."""

    fitness: float | None  # f_e; None if the evaluator failed on it
    steps: int
    ended_by: str
    fault: Fault | None = None  # of the policy: then f_e is 0
    wall_s: float = 0.0  # for display only


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalStopped(ProposalFailed):
    """A proposal that the gate stopped: a failed one, but with a program. Only keepers pass it on; no log has it."""

    program: Program
    shape: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDecided(Fact):
    """Whether a candidate goes on to the expensive episodes.

    `audited`: it is stopped, and rolled out in full nevertheless, to find out how often the gate is wrong. Fitnesses
    are means of f_e over the episodes on the twin, which have common seeds; None without a score.
    """

    candidate: str
    passed: bool
    audited: bool
    fitness: float | None
    parents: tuple[str, ...]
    parent_fitnesses: tuple[float | None, ...]
    reason: str = ""  # why it is stopped
