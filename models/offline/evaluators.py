"""Evaluator programs without a language model: shelf evaluators with changed weights and exchanged terms."""

import ast
import random
from collections.abc import Sequence

from ...core.events import ProposeEvaluator
from ...core.order_ids import parse
from ...core.ports import ShelfPart
from ...core.text import one_line
from ...core.values import Program
from .edits import constant_edit, first_class, perturbed, same_value
from .proposer import differing_methods
from .source import Edit, ParsedProgram, Piece

MAX_LINE = 4000  # characters of a summary line; a summary of many edits is far shorter
SWAP_CHANCE = 0.4       # of a macro-mutation: one term is taken from another evaluator of the shelf
NO_RANGE = ShelfPart(name="", kind="constant", alternatives=())


def write_evaluator(
    order: ProposeEvaluator, evaluators: Sequence[Program], rng: random.Random
) -> tuple[str, str]:
    """An evaluator program and its summary. Raises SyntaxError if the parent does not parse.

    In generation 0 the slots take the shelf's evaluators, good ones and bad ones, in their order; later
    programs are large edits of the chosen parent. Weights are changed blindly, so some programs are worse
    than their parent, or invalid, as with a language model. No blind change closes an exploit: a revision that has to
    is another evaluator of the shelf, a different one in each round.
    """
    parent = order.parent.program if order.parent is not None else None
    if order.exploits:
        parent, least, most = evaluators[parse(order.id).slot % len(evaluators)], 0, 1
    elif parent is None:
        parent = evaluators[order.slot % len(evaluators)]
        least, most = (0, 2) if order.slot < len(evaluators) else (2, 4)
    else:
        least, most = 2, 5
    source = ParsedProgram(parent.text, first_class(parent.text))
    edits = list(moved(source, rng, count=rng.randint(least, most)))
    if order.parent is not None and not order.exploits and rng.random() < SWAP_CHANCE:
        edits += term_of_another(source, evaluators, rng)
    if not edits:
        history = source.history()
        return parent.text, history[-1] if history else "Evaluator as first written"
    summary = "; ".join(edit.summary for edit in edits)
    return source.edited(tuple(edits), summary), summary


def measures_of(program: str) -> str:
    """What an evaluator of the offline model measures: its docstrings' first lines, and its named numbers."""
    source = ParsedProgram(program, first_class(program))
    tree = ast.parse(program)
    titled: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    said = dict.fromkeys((ast.get_docstring(node) or "").partition("\n")[0] for node in titled)
    numbers = ", ".join(f"{name} {piece.text}" for name, piece in source.constants.items() if piece.number)
    return one_line(" ".join(filter(None, (*said, numbers and f"Numbers: {numbers}."))).replace("```", "'''"), MAX_LINE)


def moved(source: ParsedProgram, rng: random.Random, *, count: int) -> list[Edit]:
    """Edits that change `count` of the evaluator's numbers by random factors."""
    left: list[Piece] = [piece for piece in source.constants.values() if piece.number]
    left = left or [piece for piece in source.numbers.values() if piece.number]
    edits = []
    for _ in range(min(count, len(left))):
        piece = left.pop(rng.randrange(len(left)))
        assert piece.number is not None
        text = perturbed(piece.number, NO_RANGE, rng)
        if not same_value(text, piece.text, NO_RANGE):
            edits.append(constant_edit(piece, text))
    return edits


def term_of_another(source: ParsedProgram, evaluators: Sequence[Program], rng: random.Random) -> list[Edit]:
    """An edit that takes one method from another evaluator, if one fits."""
    others = [ParsedProgram(program.text, first_class(program.text)) for program in evaluators]
    options = [edit for other in others for edit in differing_methods(source, other) if edit.name != "evaluate"]
    return [rng.choice(options)] if options else []
