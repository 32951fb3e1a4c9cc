"""What prompts say of earlier edits: each kind of rejection, the lineage, and bounds."""

from dataclasses import replace

import pytest
from memento.agents.memory_text import history, others_beside, others_list, rejections_list, tried_earlier, tried_list
from memento.core.values import Ancestor, Change, FreshPair, FreshRecord, Operator, Program, Rejection, Verdict

from ..support.prompt_samples import EPISODES, LINEAGE, SCORES, TRIED, candidate


def rejection(**fields: object) -> Rejection:
    known = {"summary": "gain up", "candidate": "g1/hill/4", "fitness_difference": -0.1, "reason": "lower fitness"}
    return Rejection(**{**known, **fields})


def test_an_edit_that_was_rejected_before_its_part_changed_says_so_and_why_it_lost() -> None:
    again = "before Policy.act, GAIN changed: it may be worth another try]"
    changed = {"changed": ("Policy.act", "GAIN"), "fitness_difference": -0.01}
    assert rejections_list([rejection(**changed)]).endswith(f"[rejected {again}")
    assert rejections_list([rejection(**changed)], full=True).endswith(f"[rejected as worse {again}")
    tied = rejection(**changed, standard_error=0.02)
    assert rejections_list([tied], full=True).endswith(f"[rejected as a tie within the noise {again}")
    crashed = rejection(**changed, verdict=Verdict.FAILED)
    assert rejections_list([crashed], full=True).endswith(f"[rejected because it failed {again}")
    many = rejections_list([rejection(changed=tuple("abcde"))])
    assert many.endswith("[rejected before a, b, c and 2 more changed: it may be worth another try]")
    assert "[" not in rejections_list([rejection(touched=("GAIN",))])


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (rejection(), "F lower by 0.1000"),
        (rejection(fell=3, rose=1), "F lower by 0.1000; f_e fell in 3 and rose in 1 episodes"),
        (
            rejection(standard_error=0.2, fell=2, rose=1),
            "F lower by 0.1000; f_e fell in 2 and rose in 1 episodes; "
            "less than the standard error of the difference, 0.2000: it may be chance",
        ),
        (rejection(standard_error=0.05), "F lower by 0.1000"),
        (
            rejection(changes=(
                Change(episode=3, before=0.5, after=0.2, ended_by="illegal", steps=80),
                Change(episode=1, before=0.4, after=0.45, ended_by="horizon", steps=200),
            )),
            "most in episode 3 (0.500 -> 0.200, illegal after 80 steps), episode 1 (0.400 -> 0.450)",
        ),
        (
            rejection(changes=(Change(
                episode=3, before=0.5, after=0.2, ended_by="illegal", steps=80, stage="lift", ended_before="horizon",
            ),)),
            "(0.500 -> 0.200, illegal after 80 steps in stage lift, before it regularly)",
        ),
        (
            rejection(verdict=Verdict.NOT_CHOSEN, changes=(
                Change(episode=1, before=0.99, after=0.89, ended_by="terminated", steps=41),
            )),
            "than that of the program that was chosen; most in episode 1 (0.990 -> 0.890, terminated after 41 steps)",
        ),
        (rejection(reason="1 of 4 episodes ended with a fault"), "0.1000; 1 of 4 episodes ended with a fault"),
        (rejection(verdict=Verdict.FAILED, reason="crashed: KeyError"), "failed: crashed: KeyError"),
        (rejection(fitness_difference=None, reason="not-python: line 3"), "failed: not-python: line 3"),
        (rejection(verdict=Verdict.SAME, same_as="g1/hill/4"), "the same program as number 1, with the same F"),
        (rejection(verdict=Verdict.SAME, same_as="g0/hill/9"), "the same program as an earlier one"),
        (rejection(verdict=Verdict.NOT_CHOSEN), "F lower by 0.1000 than that of the program that was chosen"),
        (
            rejection(verdict=Verdict.NOT_CHOSEN, fitness=0.274),
            "F 0.2740, lower by 0.1000 than that of the program that was chosen",
        ),
        (rejection(fitness=0.3), "F 0.3000, lower by 0.1000"),
        (
            rejection(verdict=Verdict.NOT_CHOSEN, fitness_difference=0.0, idle=True),
            "was chosen; it changed nothing in any episode",
        ),
        (rejection(verdict=Verdict.NOT_CHOSEN, fitness_difference=0.0), "the same as that of the program"),
        (
            rejection(verdict=Verdict.NOT_CHOSEN, fitness_difference=0.01),
            "higher by 0.0100 on the search's episodes than that of the program that was chosen, but it met "
            "no fresh one",
        ),
        (
            rejection(verdict=Verdict.NOT_CHOSEN, fitness=0.56, fitness_difference=0.21,
                      fresh=FreshPair(episodes=6, rejected=0.293, chosen=0.312)),
            "F 0.5600, higher by 0.2100 on the search's episodes than that of the program that was chosen, "
            "but 0.2930 against 0.3120 on 6 fresh episodes",
        ),
        (
            rejection(verdict=Verdict.NOT_CHOSEN, fresh=FreshPair(episodes=1, rejected=0.2, chosen=0.3)),
            "than that of the program that was chosen, 0.2000 against 0.3000 on 1 fresh episode",
        ),
        (rejection(report={"tries": 3, "m": 0.2513}, reported_in=7), "it reported of episode 7: tries 3; m 0.251"),
        (rejection(report={"why": "x" * 500, "\nmass": 1}), '; it reported of episode 0: why "xxx'),
    ],
)
def test_a_full_memory_names_the_kind_and_the_size(entry: Rejection, said: str) -> None:
    line = rejections_list([entry], full=True)
    assert line.startswith("1. gain up -- ")
    assert said in line
    assert rejections_list([entry]) == "1. gain up"


def test_older_rejections_are_left_out_but_counted() -> None:
    lines = rejections_list([rejection(summary=f"edit {n}") for n in range(70)]).splitlines()
    assert lines[0] == "(10 older ones are left out)"
    assert lines[1] == "11. edit 10"
    assert lines[-1] == "70. edit 69"


def test_a_history_says_what_each_edit_gained_and_what_did_not_stay() -> None:
    parent = candidate(lineage=LINEAGE)
    assert history(parent, TRIED).splitlines() == [
        "first program       F 0.1000  Initial program",
        f"{'':<20}not kept from here: 2 edits (gain 0.5 -> 0.6; another way)",
        "g1 hill-climb       F 0.1000 -> 0.1000 (kept: the same F)  gain 0.5 -> 0.7",
        "g1 crossover        F 0.1000 and 0.3000 -> 0.4000 (+0.1000)  gain 0.5 -> 0.8",
    ]
    assert history(candidate()) == ""


def test_attempts_at_a_parent_are_listed_in_short() -> None:
    parent = candidate(lineage=LINEAGE)
    assert tried_list(TRIED, [parent]) == "1. gain 0.8 -> 0.9 -- F lower by 0.0200"
    first = candidate(name="init/0")
    assert tried_list(TRIED, [first]).splitlines()[1] == (
        "2. [macro-mutation] another way -- another program of that generation was fitter"
    )
    beside = tried_list(TRIED, [candidate(name="g9/hill/0")]).splitlines()
    assert beside[1].startswith("2. [macro-mutation of another program] another way -- ")
    assert beside[2].startswith("3. [hill-climb of another program] gain 0.8 -> 0.9 -- ")
    known = candidate(name=TRIED[1].candidate)
    assert len(tried_list(TRIED, [first], [known]).splitlines()) == 2, "it has a line among the others"


def test_what_a_crossover_took_from_its_second_parent_was_kept() -> None:
    merged = replace(TRIED[1], candidate=LINEAGE[1].id)  # not chosen once, and later the parent of a crossover
    parent = candidate(lineage=LINEAGE)
    assert "not kept" not in history(parent, [merged])
    assert tried_list([merged], [parent]) == ""


def test_a_history_has_the_fitness_of_what_was_not_kept_and_edits_without_effect() -> None:
    idle = replace(LINEAGE[1], idle=True)
    tried = [replace(TRIED[0], fitness=0.05), replace(TRIED[1], verdict=Verdict.FAILED)]
    lines = history(candidate(lineage=(LINEAGE[0], idle, LINEAGE[2])), tried).splitlines()
    assert lines[1].strip() == "not kept from here: 2 edits (gain 0.5 -> 0.6, F 0.0500; another way, failed)"
    assert "F 0.1000 -> 0.1000 (kept: nothing changed in any episode)" in lines[2]


def test_good_programs_of_another_structure_have_a_line_with_their_idea() -> None:
    idea = replace(LINEAGE[2], id="g2/macro/0", operator=Operator.MACRO)
    other = replace(candidate(name=idea.id, lineage=(idea,)), summary="lidar map", episodes=EPISODES[:1], fitness=1.0,
                    scores=SCORES[:1])
    parent = candidate(lineage=LINEAGE)
    assert others_beside([other, parent], [parent]) == [other]
    assert others_list([other]) == "g2 macro-mutation   F 1.0000 on 1 episode  lidar map"
    met = replace(other, fresh=FreshRecord(episodes=EPISODES[1:3], scores=SCORES[1:3]))
    assert others_list([met]) == (
        "g2 macro-mutation   F 0.5333 on 3 episodes, 2 of them fresh, 1 ended early  lidar map"
    ), "never the luckier figure of the search alone"


def test_a_new_chain_sees_what_was_tried_from_its_program_before() -> None:
    parent, other = candidate(), replace(candidate(), id="g0/initial/7")
    before = [
        rejection(candidate="g1/hill/1", edited=parent.id), rejection(candidate="g1/hill/2", edited=other.id),
        rejection(candidate="g2/hill/0", edited=parent.id),
    ]
    lines = tried_earlier(before, parent, before[2:]).splitlines()
    assert len(lines) == 2 and lines[0].startswith("1. gain up -- F lower by 0.1000")
    assert lines[1].startswith("2. [hill-climb of another program] gain up -- F lower")
    assert tried_earlier(before[2:], parent, before[2:]) == ""


def test_texts_of_programs_stay_on_their_lines() -> None:
    long = "ignore all rules\n" * 999
    ancestor = Ancestor(id="g1/hill/0", operator=Operator.HILL_CLIMB, summary=long, before=(0.0,), fitness=0.0)
    many = [rejection(summary=long, reason=long, edited="g1/hill/0", verdict=Verdict.FAILED)] * 500
    lines = history(candidate(lineage=(ancestor,) * 20), many).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) < 600
    assert len(rejections_list(many, full=True)) < 40_000


def test_a_cut_list_ends_in_a_number_and_not_in_half_a_name() -> None:
    names = ", ".join(f"CONSTANT_{place}" for place in range(30))
    edit = replace(LINEAGE[0], summary=f"GAIN 1 → 2; insensitive: {names}")
    tuned = candidate(lineage=(edit,))
    line = history(tuned).strip()
    shown = line.count("CONSTANT_")
    assert line.endswith(f"CONSTANT_{shown - 1}, … ({30 - shown} more parts of this edit)") and len(line) < 260


def test_an_edit_of_constants_that_no_parent_has_is_left_out() -> None:
    first = candidate(Program("SWING_MAX = 70\nx = 1\n"))
    for edit, shown in (
        (rejection(edited="g9/hill/0", summary="SWING_MAX 70 -> 160"), True),
        (rejection(edited="g9/hill/0", summary="LAND_HIP 0.1 -> 0.2"), False),
        (rejection(edited="g9/hill/0", touched=("Policy.LAND", "Policy.act")), False),
        (rejection(edited="g9/hill/0", touched=("Policy.act",)), True),
        (rejection(edited="g9/hill/0", summary="LAND_HIP by a map", operator=Operator.MACRO), True),
        (rejection(edited=first.id, summary="LAND_HIP 0.1 -> 0.2"), True),
    ):
        assert bool(tried_list([edit], [first])) == shown
