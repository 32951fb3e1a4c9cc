"""Proposals of the offline model: deterministic, new, in the agreed form, and valid Python."""

import ast
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.core.errors import ModelError
from memento.core.events import Order
from memento.core.programs.program_text import digest
from memento.core.values import Operator, Program
from memento.models.offline.edits import Workshop

from .orders import SHELF, answer, candidate, program_of, proposal, rejection, summary_of

pytestmark = pytest.mark.quick

P0 = SHELF.initial.text
CHANGING = (Operator.HILL_CLIMB, Operator.MACRO, Operator.CROSSOVER)

BY_HAND = '''"""A policy of one's own."""
import math
from numpy import zeros

SPEED = 0.4


class FrankaPolicy:
    def reset(self):
        self.t = 0

    def compute_action(self, obs):
        self.t += 1
        a = zeros(7)
        a[0] = SPEED * math.sin(0.1 * self.t)
        return a
'''


def identity(text: str) -> str:
    return digest(Program(text))


def order_for(operator: Operator, slot: int = 0):
    mutant = program_of(answer(proposal(Operator.MACRO, candidate(P0), slot=9)))
    other = candidate(mutant, fitness=0.2, name="g0/macro/9")
    parents = (candidate(P0), other) if operator is Operator.CROSSOVER else (candidate(P0),)
    return proposal(operator, *parents, slot=slot)


def test_the_first_program_is_that_of_the_shelf_and_others_are_drawn():
    assert program_of(answer(proposal(Operator.INITIAL))).rstrip() == P0.rstrip()
    again = program_of(answer(proposal(Operator.INITIAL), attempt=1))
    assert identity(again) != identity(P0)
    assert identity(program_of(answer(proposal(Operator.INITIAL, slot=3)))) != identity(again)


@pytest.mark.slow
@pytest.mark.parametrize("operator", CHANGING)
def test_a_reply_is_one_program_whose_history_ends_with_the_summary(operator):
    for slot in range(12):
        reply = answer(order_for(operator, slot))
        program, summary = program_of(reply), summary_of(reply)
        history = next(node for node in ast.parse(program).body
                       if isinstance(node, ast.Assign) and node.targets[0].id == "HISTORY")
        assert ast.literal_eval(history.value)[-1] == summary
        assert identity(program) != identity(P0)
        assert reply.model == "offline" and reply.stop == "end"


@pytest.mark.parametrize("operator", CHANGING)
def test_the_same_order_gets_the_same_reply_whatever_the_prompt(operator):
    order = order_for(operator, 4)
    assert answer(order).text == answer(order, prompt="ignore everything").text
    assert answer(order).text != answer(order, run_seed=1).text
    assert answer(order).text != answer(order, attempt=1).text


@pytest.mark.slow
def test_another_process_gives_the_same_reply():
    code = ("from memento.core.values import Operator; from memento.tests.models.offline.orders import *;"
            "print(answer(proposal(Operator.MACRO, candidate(SHELF.initial.text), slot=2)).text, end='')")
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env={"PYTHONHASHSEED": "7"}, timeout=30)
    assert other.stdout == answer(proposal(Operator.MACRO, candidate(P0), slot=2)).text


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(run_seed=st.integers(0, 10**6))
def test_a_rejected_edit_never_comes_again(run_seed):
    rejected, programs = [], set()
    for slot in range(12):
        order = proposal(Operator.HILL_CLIMB, candidate(P0), slot=slot, rejections=tuple(map(rejection, rejected)))
        reply = answer(order, run_seed=run_seed)
        summary, program = summary_of(reply), identity(program_of(reply))
        assert summary not in rejected
        assert program not in programs
        rejected.append(summary)
        programs.add(program)


@pytest.mark.slow
def test_a_constant_is_not_moved_to_nearly_a_rejected_value():
    rejected = tuple(rejection(f"GAIN: 4.0 -> {value}") for value in (10.0, 20.0, 40.0))
    for slot in range(150):
        summary = summary_of(answer(proposal(Operator.HILL_CLIMB, candidate(P0), slot=slot, rejections=rejected)))
        if summary.startswith("GAIN: ") and ";" not in summary:
            value = float(summary.split("-> ")[1])
            assert all(abs(value - other) > 0.04 * other for other in (10.0, 20.0, 40.0))


@pytest.mark.slow
def test_crossover_takes_from_both_parents_and_nothing_else():
    workshop = Workshop(SHELF)
    for slot in range(8):
        order = order_for(Operator.CROSSOVER, slot)
        one, other, child = (workshop.read(text) for text in (
            order.parents[0].program.text, order.parents[1].program.text, program_of(answer(order))))
        strange = [name for name in child.methods
                   if child.shape(name) not in (one.shape(name), other.shape(name))]
        assert len(strange) <= 1    # the one mutation, made if a child would equal a parent
        assert all(child.shape(name) in (one.shape(name), other.shape(name)) for name in child.methods
                   if name not in strange)


def test_crossover_of_equal_parents_is_something_new():
    same = candidate(P0)
    orders = [proposal(Operator.CROSSOVER, same, same, slot=slot) for slot in range(4)]
    programs = {identity(program_of(answer(order))) for order in orders}
    assert identity(P0) not in programs
    assert len(programs) > 1


@pytest.mark.slow
def test_metrics_steer_edits_to_the_first_milestone_that_is_not_reached():
    def share(metrics, parts):
        parent = candidate(P0, metrics=metrics)
        summaries = [summary_of(answer(proposal(Operator.HILL_CLIMB, parent, slot=slot))) for slot in range(100)]
        return sum(summary.startswith(parts) for summary in summaries)

    early = {"max_approach": {"mean": 0.9}, "max_grasp_lift": {"mean": 1.0}, "max_transport": {"mean": 0.1},
             "max_target_fill": {"mean": 0.0}, "max_placement": {"mean": 0.1}, "max_arrangement": {"mean": 0.1}}
    late = {name: {"mean": 0.95} for name in early} | {"max_arrangement": {"mean": 0.1}}
    assert share(late, ("placed:", "at_end:", "plan:")) > share(early, ("placed:", "at_end:", "plan:"))
    assert share(late, ("fingers:", "grasp_z:")) < share(early, ("fingers:", "grasp_z:"))


@pytest.mark.parametrize("operator", CHANGING)
def test_a_program_written_by_hand_can_be_edited(operator):
    parent = candidate(BY_HAND)
    parents = (parent, candidate(BY_HAND.replace("0.4", "0.7"))) if operator is Operator.CROSSOVER else (parent,)
    for slot in range(6):
        program = program_of(answer(proposal(operator, *parents, slot=slot)))
        assert identity(program) != identity(BY_HAND)
        tree = ast.parse(program)
        assert ast.get_docstring(tree) == "A policy of one's own."
        (policy,) = [node for node in tree.body if isinstance(node, ast.ClassDef)]
        assert [node.name for node in policy.body] == ["reset", "compute_action"]


@pytest.mark.slow
def test_a_shelf_method_is_added_only_where_it_is_called():
    text = BY_HAND.replace("return a", "a[3:6] = self.turn()\n        return a").replace(
        "self.t = 0", "self.t = 0\n        self.quat = self.home = zeros(4)")
    programs = [program_of(answer(proposal(Operator.MACRO, candidate(text), slot=slot))) for slot in range(30)]
    methods = [set(Workshop(SHELF).read(program).methods) for program in programs]
    assert {"turn"} <= set.union(*methods) <= {"reset", "compute_action", "turn"}


def test_an_order_of_another_type_is_an_error():
    with pytest.raises(ModelError, match="Order"):
        answer(Order(id="x"))


def test_a_parent_that_does_not_parse_is_an_error():
    with pytest.raises(ModelError, match="g0/hill-climb/0"):
        answer(proposal(Operator.HILL_CLIMB, candidate("class Broken(")))
