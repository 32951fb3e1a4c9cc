"""Evaluator programs without a language model: shelf evaluators with changed weights and exchanged terms."""

import random
from collections.abc import Sequence

from ...core.events import ProposeEvaluator
from ...core.ports import Part
from ...core.values import Program
from .edits import constant_edit, first_class, perturbed, same_value
from .proposer import differing_methods
from .source import Edit, Piece, Source

SWAP_CHANCE = 0.4       # of a macro-mutation: one term is taken from another evaluator of the shelf
NO_RANGE = Part(name="", kind="constant", alternatives=())


def write_evaluator(
    order: ProposeEvaluator, evaluators: Sequence[Program], rng: random.Random
) -> tuple[str, str]:
    """An evaluator program and its summary. Raises SyntaxError if the parent does not parse.

    In generation 0 the slots take the shelf's evaluators, good ones and bad ones, in their order; later
    programs are large edits of the chosen parent. Weights are changed blindly, so some programs are worse
    than their parent, or invalid, as with a language model.
    """
    parent = order.parent.program if order.parent is not None else None
    if parent is None:
        parent = evaluators[order.slot % len(evaluators)]
        least, most = (0, 2) if order.slot < len(evaluators) else (2, 4)
    else:
        least, most = 2, 5
    source = Source(parent.text, first_class(parent.text))
    edits = list(moved(source, rng, count=rng.randint(least, most)))
    if order.parent is not None and rng.random() < SWAP_CHANCE:
        edits += term_of_another(source, evaluators, rng)
    if not edits:
        history = source.history()
        return parent.text, history[-1] if history else "Evaluator as first written"
    summary = "; ".join(edit.summary for edit in edits)
    return source.edited(tuple(edits), summary), summary


def moved(source: Source, rng: random.Random, *, count: int) -> list[Edit]:
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


def term_of_another(source: Source, evaluators: Sequence[Program], rng: random.Random) -> list[Edit]:
    """An edit that takes one method from another evaluator, if one fits."""
    others = [Source(program.text, first_class(program.text)) for program in evaluators]
    options = [edit for other in others for edit in differing_methods(source, other) if edit.name != "evaluate"]
    return [rng.choice(options)] if options else []
