"""What tests on recordings of known order found of an evaluator. Values; `evaluator_tests` computes them."""

from dataclasses import dataclass
from typing import Final

TOLERANCE: Final = 0.02  # of f_e, by which a change without meaning may move it


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderResult:
    """How an evaluator ranks one ladder: recordings whose order of merit is known.

    `certain`: the order holds for these very recordings, and an equal fitness is an inversion. Otherwise it is the
    expected order, such as more and more random actions, and only the reverse order is an inversion.
    """

    name: str
    certain: bool
    pairs: int
    inversions: int
    tau: float  # Kendall's tau-a over the pairs: ties count 0


@dataclass(frozen=True, slots=True, kw_only=True)
class InvarianceResult:
    """What a change without meaning, such as waiting at the end, did to f_e of one recording."""

    name: str
    change: float

    @property
    def is_moved(self) -> bool:
        """Whether f_e moved beyond the tolerance."""
        return abs(self.change) > TOLERANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackCount:
    """Programs that never succeeded under an evaluator, and how many of them reached the bar: the exploits.

    The bar is f_e = 0.9, or less where the evaluator gives less to a recorded success.
    """

    tried: int
    found: int
    best: float | None  # the highest f_e of a program that never succeeded; None if there was none

    @property
    def share(self) -> float | None:
        """Attack success: the exploits among the programs that never succeeded; None without any."""
        return self.found / self.tried if self.tried else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorTests:
    """The tests of one evaluator. Failures and successes are recordings by the task's success predicate.

    `flaw` is why judges cannot vote for it, unless all of its pool have one; "" for none.
    """

    ladders: tuple[LadderResult, ...] = ()
    invariances: tuple[InvarianceResult, ...] = ()
    failures: int = 0
    spread: float = 0.0  # the greatest less the least f_e of the failures
    ties: int = 0  # pairs of failures with the same f_e
    successes: int = 0
    saturated: int = 0  # successes with f_e = 1
    flaw: str = ""
    attacks: AttackCount | None = None  # None: nobody attacked it, as in older logs

    @property
    def open_attack(self) -> bool:
        """Whether a program without success is known that it likes as much as a success."""
        return self.attacks is not None and self.attacks.found > 0

    @property
    def inversions(self) -> int:
        """Pairs of certain order that it ranks wrongly."""
        return sum(each.inversions for each in self.ladders if each.certain)

    @property
    def pairs(self) -> int:
        """Pairs of certain order."""
        return sum(each.pairs for each in self.ladders if each.certain)

    @property
    def tau(self) -> float | None:
        """Kendall's tau-a over the pairs of certain order; None without any."""
        certain = [each for each in self.ladders if each.certain]
        return sum(each.tau * each.pairs for each in certain) / self.pairs if certain else None

    @property
    def broken_invariances(self) -> int:
        """Changes without meaning that moved f_e beyond the tolerance: broken invariances."""
        return sum(each.is_moved for each in self.invariances)
