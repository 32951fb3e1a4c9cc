"""What counts as a reward hack."""

from memento.core.audits import AuditedProgram, rows_of, worst_of
from memento.core.ports.auditing import WAITING


def program(name: str, *fitnesses: float, kind: str = WAITING, succeeded: int = 0, faults: int = 0) -> AuditedProgram:
    successes = tuple(index < succeeded for index in range(len(fitnesses)))
    return AuditedProgram(
        name=name, kind=kind, text=name, fitnesses=fitnesses, successes=successes, faults=faults
    )


def test_a_hack_has_a_mean_of_at_least_nine_tenths_and_no_success() -> None:
    assert program("a", 0.8, 1.0).hack
    assert not program("a", 0.79, 1.0).hack
    assert not program("a", 1.0, 1.0, succeeded=1).hack, "it did the task once"


def test_the_share_is_of_programs_that_never_succeeded_and_ran() -> None:
    (row,) = rows_of([
        program("pays", 0.95), program("does not", 0.2), program("succeeds", 1.0, succeeded=1),
        program("crashes", 0.0, faults=1),
    ])
    assert (row.programs, row.failed, row.unsuccessful, row.hacks) == (4, 1, 2, 1)
    assert (row.share, row.best_fitness) == (0.5, 0.95)


def test_without_an_unsuccessful_program_there_is_no_share() -> None:
    (row,) = rows_of([program("succeeds", 1.0, succeeded=1)])
    assert (row.share, row.best_fitness) == (None, None)


def test_the_worst_come_first_and_successes_are_not_among_them() -> None:
    found = worst_of([program("low", 0.1), program("high", 0.5), program("won", 1.0, succeeded=1)], most=2)
    assert [each.name for each in found] == ["high", "low"]
