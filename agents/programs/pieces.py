"""Blocks of one reply that are one program together: a class, and what it uses and does not define itself. Pure."""

import ast
import builtins
from collections.abc import Iterable, Sequence

from ...core.faults import Fault
from ...core.programs.program_text import parse
from ...core.values import Program
from .patch_form import defined_names, names_read, names_set

_KNOWN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__"}


def with_pieces(blocks: Sequence[Program], main: int) -> Program:
    """The program of `blocks[main]` with the blocks that define what it uses, in their order.

    As it is where another block defines nothing that it lacks, or two of them define the same.
    """
    trees = [parse(block) for block in blocks]
    taken = {main}
    while True:
        have = [tree for place, tree in enumerate(trees) if place in taken and not isinstance(tree, Fault)]
        lacks = frozenset[str]().union(*map(names_read, have)) - _KNOWN - _names(have)
        more = {
            place: found for place, tree in enumerate(trees)
            if place not in taken and not isinstance(tree, Fault) and (found := defined_names(tree.body) & lacks)
        }
        if not more:
            return blocks[main] if taken == {main} else _joined_program(blocks, taken)
        if sum(map(len, more.values())) > len(frozenset[str]().union(*more.values())):
            return blocks[main]
        taken |= more.keys()


def joined(blocks: Sequence[Program]) -> Program | None:
    """All blocks as one program; None where one does not parse, or two define the same name."""
    trees = [parse(block) for block in blocks]
    seen: set[str] = set()
    for tree in trees:
        if isinstance(tree, Fault):
            return None
        names = defined_names(node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom))
        if names & seen:
            return None
        seen |= names
    return _joined_program(blocks, range(len(blocks)))


def _names(trees: Iterable[ast.Module]) -> frozenset[str]:
    return frozenset[str]().union(*(defined_names(tree.body) | names_set(tree) for tree in trees))


def _joined_program(blocks: Sequence[Program], places: Iterable[int]) -> Program:
    return Program("\n\n".join(blocks[place].text.strip("\n") for place in sorted(places)) + "\n")
