"""What tests decide in a pool of evaluators: which are open to votes, and which lead. Pure.

Without tests, as in the paper, every valid evaluator is open to the votes.
"""

from collections.abc import Iterable

from .values import EvaluatorCandidate


def open_to_votes(pool: Iterable[EvaluatorCandidate]) -> tuple[EvaluatorCandidate, ...]:
    """The valid evaluators without a flaw; all valid ones if each has one."""
    valid = tuple(entry for entry in pool if entry.examination.valid)
    return tuple(entry for entry in valid if not _flaw(entry)) or valid


def leading(pool: Iterable[EvaluatorCandidate]) -> tuple[EvaluatorCandidate, ...]:
    """Of the evaluators that are open to votes, those that the tests rank first: the votes decide among them.

    They invert the fewest certain pairs, and of these no attack is open, unless one is on each.
    """
    voted = open_to_votes(pool)
    first = min((_rank(entry) for entry in voted), default=(0, False))
    return tuple(entry for entry in voted if _rank(entry) == first)


def _flaw(entry: EvaluatorCandidate) -> str:
    tests = entry.examination.tests
    return "" if tests is None else tests.flaw


def _rank(entry: EvaluatorCandidate) -> tuple[int, bool]:
    tests = entry.examination.tests
    return (0, False) if tests is None else (tests.inversions, tests.open_attack)
