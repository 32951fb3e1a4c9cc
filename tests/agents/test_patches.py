"""Patches: the merged program is the edited one, and all that a patch does not name stays to the letter."""

import ast
import time
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memento.agents.programs.patch_form import form_of, split_mark
from memento.agents.programs.patches import MAX_DEFINITIONS, merge
from memento.core.faults import Fault, FaultKind
from memento.core.programs.program_text import MAX_FAULT, MAX_PROGRAM, parse
from memento.core.values import Program

from ..reference_policies import policy_program
from ..support.program_edits import draw_edit, dressed

DOMAINS = ("hanoi", "hanoi-kinematic", "kitchen")
LARGE = 20_000  # characters

PARENT = '''"""A policy."""
import numpy as np
from math import cos

A = 1
B, C = A + 1, 2
if A:
    D = 3
GAIN = 0.5


def helper(x):
    return x * B
    # at the end of helper


# above Policy
class Policy:
    """Doc."""
    LIMIT = 0.5  # N
    LIMITS = (LIMIT, 2)

    def __init__(self):
        self.x = 1

    # the step
    @property
    def step(self):
        return self.x

    @step.setter
    def step(self, value):
        self.x = value

    class Inner: q = 1; r = 2


POLICY = Policy()
'''


def merged(patch: str, parent: str = PARENT) -> str:
    result = merge(Program(parent), Program(patch))
    assert isinstance(result, Program), result
    ast.parse(result.text)
    return result.text


def refused(patch: str, parent: str = PARENT) -> str:
    result = merge(Program(parent), Program(patch))
    assert isinstance(result, Fault), result.text
    assert result.kind is FaultKind.BAD_PATCH
    assert len(result.message) <= MAX_FAULT
    return result.message


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_program_merged_from_a_patch_is_the_edited_one(domain: str) -> None:
    text = dressed(policy_program(domain).text)
    sizes = []
    for seed in range(1000, 1010):
        edit = draw_edit(Random(seed), text)
        assert merged(edit.patch_text, text) == edit.text, (seed, edit.kinds)
        sizes.append((len(edit.patch_text), len(edit.text)))
    if len(text) > LARGE:
        assert all(8 * patch <= whole for patch, whole in sizes)


def test_what_is_new_stands_in_an_order_that_executes() -> None:
    patch = """
def table(): return {k: scaled(k) for k in KEYS}
TABLE = table()
KEYS = (A, B)
def scaled(k): return k * FACTOR
FACTOR = 2.0
GAIN = TABLE[1]
class Policy:
    START = TABLE
    PAIR = (START, LIMIT)
"""
    space: dict[str, object] = {"__name__": "policy"}
    exec(compile(merged(patch).replace("import numpy as np", ""), "merged", "exec"), space)  # our own text
    assert space["GAIN"] == 2.0
    assert space["Policy"].PAIR == ({1: 2.0, 2: 4.0}, 0.5)


def test_an_order_that_cannot_execute_is_refused() -> None:
    assert "is used before what it is made of is defined" in refused("NEW = POLICY.x\nA = NEW\n")


def test_classes_within_classes_and_one_line_bodies() -> None:
    text = merged("class Policy:\n  class Inner:\n    def deep(self):\n      return '''\n at 1'''\n    q = 5\n")
    inner = "    class Inner:\n        q = 5; r = 2\n\n        def deep(self):\n          return '''\n at 1'''\n"
    assert f"{inner}\n\nPOLICY" in text
    gone = merged("# delete: Policy.Inner.q, Policy.Inner.r")
    assert "class Inner: pass; pass\n" in gone


def test_a_class_that_loses_everything_still_has_a_body() -> None:
    parent = "class P:\n    x = 1\n\n    def f(self):\n        return 1\n"
    assert merged("# delete: P.x, P.f", parent) == "class P:\n    pass\n"
    swapped = merged("# delete: P.x, P.f\nclass P:\n    y = 2\n", parent)
    assert swapped == "class P:\n    y = 2\n"


def test_decorators_and_bases_of_a_class() -> None:
    parent = "class A: pass\n\n\n# note\nclass P(A):  # header\n    x = 1\n"
    assert "class P(A):  # header\n    x = 2\n" in merged("class P:\n    x = 2\n", parent)
    both = merged("@keep\nclass P(A, metaclass=M):\n    pass\n", parent)
    assert both.endswith("# note\n@keep\nclass P(A, metaclass=M):  # header\n    x = 1\n")


def test_a_property_is_changed_as_a_whole() -> None:
    assert "step is set in 2 places" in refused("class Policy:\n    @property\n    def step(self): return 2\n")
    both = "    @property\n    def step(self): return 2\n\n    @step.setter\n    def step(self, value): pass\n"
    assert f"    # the step\n{both}" in merged(f"class Policy:\n{both}")


def test_imports_that_are_new_are_added_once() -> None:
    patch = "import numpy as np\nfrom math import cos, sin\nfrom __future__ import annotations\nA = 3\n"
    text = merged(patch)
    begin = '"""A policy."""\n\nfrom __future__ import annotations\nimport numpy as np\nfrom math import cos\n'
    assert text.startswith(f"{begin}from math import sin\n\nA = 3\n")
    assert "import of np is unclear" in refused("import jax as np\n")
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typing import Any\n"
    assert merged(typed + "A = 3\n").count(typed) == 1
    assert merged(typed + "A = 3\n", merged(typed + "A = 3\n")) == merged(typed + "A = 3\n")


def test_history_is_not_the_patchs_to_keep() -> None:
    parent = 'HISTORY = ["one"]\nA = 1\n'
    for line in ('HISTORY = ["two"]', 'HISTORY += ["two"]', 'HISTORY.append("two")', "HISTORY: list = []"):
        assert merged(f"{line}\nA = 2\n", parent) == 'HISTORY = ["one"]\nA = 2\n'


REFUSED = {
    "nothing": ("# patch\n", "holds no definition"),
    "a call": ("helper(1)\n", "line 1 of the patch is a statement that defines nothing by name"),
    "an item": ("A = 1\nT['x'] = 2\n", "line 2 of the patch"),
    "one of two names": ("B = 3\n", "sets C together with it"),
    "a name in a block": ("D = 4\n", "inside of another statement (If)"),
    "a constant outside of its class": ("LIMIT = 1.0\n", "put it inside of `class Policy:`"),
    "a constant inside of a class": ("class Policy:\n    GAIN = 1.0\n", "define it outside of the class Policy"),
    "a method outside of its class": ("def act(self, obs): return 1\n", "put it inside of `class …:`"),
    "an unknown deletion": ("# delete: Policy.nope\n", "deletes Policy.nope, which the program does not define"),
    "deleted and defined": ("# delete: A\nA = 2\n", "both deleted and defined"),
    "deletion of a part": ("# delete: B\n", "B cannot be deleted"),
    "a stub": ("class Policy:\n    def __init__(self): ...\n", "Policy.__init__ is not written out"),
    "an omission": ("def helper(x):\n    # ... as before\n    return 1\n", "helper is not written out"),
    "a class twice": ("class Policy:\n    a = 1\nclass Policy:\n    b = 1\n", "defines Policy 2 times"),
    "too many": ("".join(f"N{n} = 1\n" for n in range(MAX_DEFINITIONS + 1)), "more than 100 definitions"),
}


@pytest.mark.parametrize(("patch", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_an_unclear_patch_is_refused_in_one_sentence(patch: str, why: str) -> None:
    assert why in refused(patch)


def test_a_patch_that_is_no_python_or_too_long_is_a_fault() -> None:
    parent = Program(PARENT)
    assert merge(parent, Program("    def f(self): pass")).kind is FaultKind.NOT_PYTHON
    assert merge(parent, Program("A = 1\n" + "#" * MAX_PROGRAM)).kind is FaultKind.BROKEN_CONTRACT
    grown = merge(parent, Program("A = 1234567"), limit=len(PARENT))
    assert (grown.kind, "after the patch was merged" in grown.message) == (FaultKind.BROKEN_CONTRACT, True)


# ------------------------------------------------------------------------------------- whole or patch


FORMS = {
    "a whole program": ("import os\nclass Policy:\n    def act(self, o): return os.name\n", "whole"),
    "a module name of the parent": ("class Policy:\n    def act(self, o): return np.pi\n", "patch"),
    "an attribute of the parent": ("class Policy:\n    def act(self, o): return self.LIMIT\n", "patch"),
    "an attribute set by the parent": ("class Policy:\n    def act(self, o): return self.x\n", "patch"),
    "a variable of the same name": ("class Policy:\n    def act(self, np): return np.pi\n", "whole"),
    "names looked up": ("class Policy:\n    def act(self, o): return getattr(self, o)()\n", None),
}


@pytest.mark.parametrize(("block", "form"), FORMS.values(), ids=FORMS.keys())
def test_a_block_that_needs_nothing_of_its_parent_is_a_whole_program(block: str, form: str | None) -> None:
    assert form_of(ast.parse(block), ast.parse(PARENT)) == form


def test_the_first_line_may_name_the_form() -> None:
    assert split_mark("\n# Whole program.\nA = 1\n") == ("whole", "A = 1\n")
    assert split_mark("# patch\nA = 1\n") == ("patch", "A = 1\n")
    assert split_mark("# patch of act\nA = 1\n") == (None, "# patch of act\nA = 1\n")


# ------------------------------------------------------------------------------------------- any text


pieces = st.sampled_from([
    "class Policy:\n", "    ", "\t", "def f(self):\n", "return 1\n", "A = 1\n", "A", "B, C = 1, 2\n", "; ", "x = 1",
    "\n", "\r", "\r\n", "\\\n", "# delete: A\n", "# delete: Policy.LIMIT\n", "@step\n", '"""', "é = 2\n", "import os\n",
    "pass\n", "...\n", "\x0c", "(", ")", "if A:\n", "class Inner: q = 2; s = 3\n", "# ...\n", "HISTORY = []\n",
    "\x00", "\ud800",
])  # fmt: skip
blocks = st.sampled_from([
    "A = 7\n", "B, C = 3, 4\n", "NEW = A\n", "def helper(x):\n\treturn 2\n", "def other():\n    '''é\n x'''\n",
    "import os\n", "class Policy:\n  LIMIT = 1\n", "class Policy:\n\tdef step(self): return 1\n",
    "class Fresh(Policy):\n    pass\n",
    "class Policy:\n    class Inner: s = 3\n", "# delete: helper\n", "# delete: GAIN, Policy.LIMITS\n",
    "POLICY = None; X = 1\n",
])  # fmt: skip
patches = st.lists(blocks, max_size=5).map("".join) | st.lists(pieces, max_size=30).map("".join) | st.text()
parents = st.sampled_from([PARENT, PARENT.replace("\n", "\r\n"), PARENT.replace("    ", "\t"), PARENT.rstrip("\n")])


@pytest.mark.slow
@given(parents, patches)
@settings(deadline=None, max_examples=300)
def test_a_merge_parses_or_is_a_fault_and_keeps_what_it_does_not_name(parent: str, patch: str) -> None:
    result = merge(Program(parent), Program(patch))
    if isinstance(result, Fault):
        assert result.message and len(result.message) <= MAX_FAULT and result.message.isprintable()
        return
    tree = parse(result)
    assert isinstance(tree, ast.Module)
    for statement in ('"""A policy."""', "from math import cos", "self.x = 1", "if A:", "# above Policy", "# the step"):
        if statement.strip("\"#if :") not in patch:
            assert statement in result.text
    named = _named(patch)
    for kept in ast.parse(parent).body:
        names = _names(kept)
        if not names & named and not isinstance(kept, ast.ClassDef):
            assert ast.get_source_segment(parent, kept) in result.text


def _named(patch: str) -> set[str]:
    lines = [line.partition("delete:")[2] for line in patch.splitlines()]
    deleted = {word for line in lines for word in line.replace(",", " ").split()}
    return deleted | {name for node in ast.parse(patch).body for name in _names(node)}


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}


@pytest.mark.parametrize(
    "parent",
    [
        "".join(f"a{n}=a{n + 1}\n" for n in range(2000)),
        "a=1;" * 6_000 + "é=1\n",
        ", ".join(f"a{n}" for n in range(9000)) + " = 1\n",
        "".join(f"{' ' * n}class C{n}:\n" for n in range(80)) + " " * 80 + "x = 1\n",
        "".join(f"def f{n}(): return f{n + 1}\n" for n in range(2000)),
        "x = '''" + "\n" * 60_000 + "'''\n",
        "x = 1\n" + "# a\n" * 15_000 + "y = 1\n",
    ],
    ids=["chain", "one line", "one statement", "nest", "calls", "string", "comments"],
)
def test_a_merge_takes_bounded_time(parent: str) -> None:
    """In CPU time, which does not depend on what else the machine does."""
    names = "".join(f"N{n} = a{n * 40}\n" for n in range(MAX_DEFINITIONS - 1))
    began_s = time.process_time()
    merge(Program(parent), Program(names + "class C0:\n class C1:\n  x = N1\n"))
    merge(Program(parent), Program("# delete: " + ", ".join(f"f{n}, C{n}.x" for n in range(40))))
    assert time.process_time() - began_s < 10
