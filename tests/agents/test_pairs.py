"""Two parents in one prompt: a difference where they are alike, folded rows, and a bound that long programs keep."""

from dataclasses import replace

import pytest
from memento.agents.pairs import pair_table, second_block, second_history, title_of
from memento.agents.proposers import MOST_OF_PROGRAM, MOST_PROMPT, Crosser, HillClimber, Initiator, Mutator
from memento.agents.writing import Answers
from memento.core.values import Brief, Focus, FreshRecord, Operator, Program, Score
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import CONTRACT, TRIED, Scripted, candidate, program_reply, propose


def long_program(name: str, size: int = MOST_OF_PROGRAM) -> Program:
    """A program of `size` characters whose functions are its own."""
    head = "class Policy:\n    def reset(self):\n        self.t = 0\n\n    def act(self, obs):\n        return [0.0]\n"
    parts, number = [head], 0
    while sum(map(len, parts)) < size:
        body = "".join(f"    x = x + {number}.{line} * obs['{name}']\n" for line in range(20))
        parts.append(f"\n\ndef {name}_{number}(obs, x):\n{body}    return x\n")
        number += 1
    return Program("".join(parts)[: size - 10].rpartition("\n\n\n")[0] + "\n")


def test_alike_parents_are_shown_as_a_difference() -> None:
    first = long_program("grip")
    second = Program(first.text.replace("x + 3.7 *", "x + 99.5 *"))
    block = second_block(first, second, 10**6)
    assert len(block) < 1_000 and "-    x = x + 3.7 *" in block and "+    x = x + 99.5 *" in block
    assert "@@ def grip_3(obs, x):" in block


def test_other_parents_are_whole_where_there_is_room_and_outlined_where_not() -> None:
    first, second = long_program("grip"), long_program("push")
    assert second.text.rstrip() in second_block(first, second, 10**6)
    for room in (12_000, 6_000, 2_000):
        block = second_block(first, second, room)
        assert len(block) <= room + 200, room
        assert "more lines are left out" in block and "def push_0(obs, x):" in block


def test_shared_definitions_are_left_out_of_a_long_second_parent() -> None:
    common = "\n\n\ndef shared(x):\n" + "".join(f"    x = x + {line}\n" for line in range(100)) + "    return x\n"
    first = Program(long_program("grip", 6_000).text + common)
    second = Program(long_program("push", 6_000).text + common)
    block = second_block(first, second, 7_000)
    assert "def shared" not in block and "def push_0" in block


def test_equal_rows_are_folded() -> None:
    one = candidate()
    scores = tuple(Score(fitness=0.5, metrics={"stop_m": 0.25, "kept": True}) for _ in range(8))
    one = replace(one, scores=scores, metrics={"stop_m": {"mean": 0.25, "min": 0.25, "max": 0.25}, "far": 3})
    other = (*scores[:3], replace(scores[0], fitness=0.75), *scores[4:])
    two = replace(one, scores=other, metrics={**one.metrics, "far": 4})
    lines = pair_table(one, two, whole=False).splitlines()
    assert [line.split("  ")[0] for line in lines[2:5]] == ["f_e, episodes 0 to 2", "f_e, episode 3",
                                                           "f_e, episodes 4 to 7"]
    assert lines[5].split() == ["far", "3", "4"] and lines[6] == "The same in both: stop_m 0.25"


def test_a_table_of_two_parents_has_all_that_is_known_of_both() -> None:
    one = candidate()
    met = replace(one, fresh=FreshRecord(episodes=one.episodes[:1], scores=one.scores[:1]))
    lines = pair_table(met, one).splitlines()
    assert lines[2].split("  ")[0] == "F, fresh episodes too"
    assert "0.5200 (5 episodes, 1 fresh)" in lines[2] and "0.4000 (4 episodes, 0 fresh)" in lines[2]
    assert "2 of 5 (12 to 77 %)" in lines[3] and "2 of 4 (15 to 85 %)" in lines[3]
    assert "fresh" not in pair_table(met, one, whole=False)


def test_a_shared_history_is_told_once() -> None:
    assert second_history("a\nb\nc", "a\nb\nd") == "(the first 2 lines are those of parent A)\nd"
    assert second_history("a\nb", "a\nc") == "a\nc"


BRIEF = Brief(task="t " * 24_100, policy_interface="i " * 3_000, evaluator_interface="")


@pytest.mark.parametrize("kind", [Operator.INITIAL, Operator.HILL_CLIMB, Operator.MACRO, Operator.CROSSOVER])
async def test_no_prompt_is_longer_than_the_bound(kind: Operator) -> None:
    """With a brief of 54,200 characters, three times that of any environment, and programs of 15,000."""
    model = Scripted(lambda ask: program_reply())
    common = {
        "model": model, "prompts": PromptFolder(), "brief": BRIEF, "contract": CONTRACT, "limits": "Limits: few.",
        "answers": Answers(edits="patch"),
    }
    first = candidate(long_program("grip"), name="g2/hill/1")
    notes = replace(first.episodes[0].notes, story="s " * 900, printed="p " * 500)
    first = replace(first, episodes=tuple(replace(each, notes=notes) for each in first.episodes))
    parents = {Operator.INITIAL: (), Operator.CROSSOVER: (first, candidate(long_program("push")))}.get(kind, (first,))
    order = replace(propose(kind, *parents), tried=TRIED, focus=Focus(seed=7, place=0, of=2), fitness="f " * 400)
    makers = {Operator.INITIAL: Initiator, Operator.HILL_CLIMB: HillClimber, Operator.MACRO: Mutator,
              Operator.CROSSOVER: Crosser}
    made = await makers[kind](**common).carry_out(order)
    (ask,) = model.asked
    assert len(ask.prompt) <= MOST_PROMPT
    assert made.prompt_limit == 0 and all(part in ask.prompt for part in made.left_out)
    assert bool(made.left_out) is bool(parents)
    if parents:
        assert first.program.text.rstrip() in ask.prompt
    if kind is Operator.CROSSOVER:
        assert "def push_0(obs, x):" in ask.prompt


def test_a_parent_of_another_island_or_of_the_front_is_named_as_what_it_is() -> None:
    own, guest = replace(candidate(), id="i2/g3/hill/0", generation=3), replace(candidate(), id="i1/g2/macro/0")
    order = replace(propose(Operator.CROSSOVER, own, guest), id="i2/g3/cross/0", generation=3, elite="i2/g2/hill/1")
    assert title_of(guest, order).startswith("the elite of another search for the same task")
    assert "another search" not in title_of(own, order)
    first = replace(guest, id="init/0", operator=Operator.INITIAL)
    assert title_of(first, order) == "the first policy", "which is no island's"
    best = replace(guest, id="i2/g3/macro/1", operator=Operator.MACRO, generation=3)
    order = replace(order, parents=(own, best), from_front=True)
    assert title_of(best, order) == (
        "a macro-mutation of generation 3, the best program so far in at least one episode"
    )
