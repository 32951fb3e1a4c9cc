"""The parents of crossovers differ in structure where they can."""

from dataclasses import replace

import pytest
from memento.core.programs.program_text import digest, structure
from memento.core.values import Ancestor, CandidateState, Operator, Program
from memento.search.selection import OTHERS, Search, differing_partner, remembered
from memento.search.trials import Trials

from ..support.searches import PLAN, initial

WALK = Program("GAIN = 0.4\nLOW = -1.0\n\n\ndef go(x):\n    return GAIN * x\n")
TUNED = Program("GAIN = -0.7\nLOW = 1\n\n\ndef go(x):\n    # the same\n    return GAIN * x\n")
OTHER = Program("def go(x):\n    return 1 if x > 0 else 2\n")
FIRST = replace(initial(1), id="init/0", program=Program("first = 1\n"), fitness=0.3)
EDIT = Ancestor(id=FIRST.id, operator=Operator.INITIAL, summary="", before=(), fitness=0.3)


def made(name: str, program: Program, fitness: float, operator: Operator = Operator.MACRO) -> CandidateState:
    generation = int(name[1])
    return replace(
        FIRST, id=name, program=program, fitness=fitness, operator=operator, generation=generation, lineage=(EDIT,)
    )


ELITE = made("g1/hill/0", WALK, 0.7)
TUNE = made("g2/tune/0", TUNED, 0.72, Operator.TUNE)
MACRO = made("g2/macro/0", OTHER, 0.68)


def searching(**fields: object) -> Search:
    known = {"generation": 2, "elite": ELITE, "current": ELITE, "trials": Trials(plan=PLAN, open={})}
    return Search(**{**known, **fields})


def test_a_structure_is_that_of_the_code_without_its_numbers() -> None:
    assert structure(WALK) == structure(TUNED) != structure(OTHER)
    assert digest(WALK) != digest(TUNED)
    assert structure(Program("X = 'a'\n")) != structure(Program("X = 'b'\n"))
    assert structure(Program("not python")) != structure(Program("nor this"))


def test_a_tuned_copy_gives_way_to_a_program_of_another_structure_that_is_nearly_as_fit() -> None:
    state = searching(tunes=(TUNE,), macros=(MACRO,))
    assert differing_partner(state, measured=True) == MACRO
    assert differing_partner(state, measured=False) == TUNE  # racing may have pruned the macro-mutation
    far = replace(MACRO, fitness=0.3)
    assert differing_partner(replace(state, macros=(far,)), measured=True) == TUNE


def test_an_earlier_program_of_another_structure_is_not_forgotten() -> None:
    earlier = replace(MACRO, id="g1/macro/0", generation=1)
    state = searching(tunes=(TUNE,), macros=(None,), others=(earlier,))
    assert differing_partner(state, measured=True) == earlier
    descended = replace(ELITE, lineage=(EDIT, replace(EDIT, id=earlier.id)))
    assert differing_partner(replace(state, current=descended), measured=True) == TUNE


def test_the_same_program_is_a_parent_twice_only_where_none_differs() -> None:
    alike = made("g2/macro/0", Program(f"# a comment\n{WALK.text}"), 0.7)
    assert differing_partner(searching(macros=(alike,)), measured=True) == ELITE
    tuned = searching(macros=(alike,), tunes=(replace(TUNE, fitness=0.7),))
    assert differing_partner(tuned, measured=True).id == TUNE.id
    climbed = replace(ELITE, id="g2/hill/0", program=OTHER, lineage=(EDIT, replace(EDIT, id=ELITE.id)))
    assert differing_partner(searching(current=climbed, macros=(None,)), measured=True) == ELITE


@pytest.mark.parametrize("count", [2, 9])
def test_one_program_of_each_structure_is_remembered(count: int) -> None:
    found = [made(f"g1/macro/{n}", Program(f"def f_{n}():\n    return {n}\n"), 0.1 * n) for n in range(count)]
    numbers = made("g2/macro/0", Program(f"def f_{count - 1}():\n    return 77\n"), 0.05)
    kept = remembered(searching(), [*found, numbers, ELITE, replace(MACRO, episodes=MACRO.episodes[:1])])
    assert [one.id for one in kept] == [f"g1/macro/{n}" for n in reversed(range(count))][:OTHERS]
