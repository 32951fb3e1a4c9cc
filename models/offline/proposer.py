"""Policy proposals without a language model: q_hc, q_macro and q_cross as random edits from a shelf."""

import random
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TypeAlias

from ...core.events import Propose
from ...core.ports import ShelfPart
from ...core.programs.program_text import digest
from ...core.values import JSON, CandidateState, Operator, Program, Rejection
from .edits import Forbidden, Workshop, constant_edit, needs, needs_of_report, summary_of, weights
from .source import Edit, ParsedProgram, alternative_of, fits

SWAP_SHARE = 0.75          # of hill-climb edits: a method replaced; the rest changes one or two constants
TUNED_SWAP_SHARE = 0.4     # the same for a shelf whose constants matter as much as its methods
FITTER_SHARE = 0.65        # of the places where two parents differ: taken from the fitter one
FEW = 4                    # parents that differ in fewer places have too little to recombine
MUTATED_SHARE = 0.3        # of crossovers that are mutated as well
RECENT = 6                 # latest accepted edits of the parent, which count as recent
TRIES = 200                # draws for a new edit; a program of any size has more edits than that


def propose(order: Propose, workshop: Workshop, rng: random.Random, *, attempt: int) -> tuple[str, str]:
    """A policy program and its edit summary for an order. Raises SyntaxError if a parent does not parse."""
    if order.operator is Operator.INITIAL or not order.parents:
        if order.slot == 0 and attempt == 0:
            return workshop.shelf.initial.text, last_summary(workshop)
        return random_program(workshop, rng)
    if order.operator is Operator.CROSSOVER and len(order.parents) > 1:
        return crossed(order.parents, workshop, rng)
    parent = order.parents[0]
    source = workshop.read(parent.program.text)
    if order.operator is Operator.HILL_CLIMB:
        forbidden = Forbidden((rejection.summary for rejection in order.rejections), workshop.parts)
        edits = small_edit(source, focus_of(source, parent, workshop, order.rejections), workshop, forbidden, rng)
    else:
        edits = large_edit(source, focus_of(source, parent, workshop), workshop, rng)
    summary = summary_of(edits)
    return source.edited(edits, summary), summary


def last_summary(workshop: Workshop) -> str:
    """The last summary in the history of the shelf's initial program."""
    history = workshop.read(workshop.shelf.initial.text).history()
    return history[-1] if history else "Initial program"


def random_program(workshop: Workshop, rng: random.Random) -> tuple[str, str]:
    """A program with every part drawn at random: a zero-shot guess."""
    source = workshop.read(workshop.shelf.initial.text)
    edits: list[Edit] = []
    for _, options in workshop.swaps(source):
        choice = rng.randrange(len(options) + 1)
        if choice:
            edits.append(options[choice - 1])
    for part, piece in workshop.tunable(source):
        edit = workshop.moved(part, piece, rng)
        if edit is not None and rng.random() < 0.7:
            edits.append(edit)
    summary = "Initial program, every part drawn anew"
    return source.edited(tuple(edits), summary), summary


# --------------------------------------------------------------------------------------------- mutations

Focus: TypeAlias = Callable[[Sequence[ShelfPart]], list[float]]


def focus_of(
    source: ParsedProgram, parent: CandidateState, workshop: Workshop, rejections: Sequence[Rejection] = ()
) -> Focus:
    """The weights of parts for an edit: from the parent's reports or metrics, lower for recently edited parts."""
    tried = [*source.history()[-RECENT:], *(rejection.summary for rejection in rejections)]
    need = needs_of_report(mean_report(parent), workshop.shelf.signs) or needs(parent.metrics, workshop.milestones)
    return lambda parts: weights(parts, need, tried)


def mean_report(candidate: CandidateState) -> dict[str, JSON]:
    """The mean of each number in the reports of the candidate's episodes, those with f_e = 1 left out."""
    failed = [
        episode.notes.report
        for episode, score in zip_longest(candidate.episodes, candidate.scores)
        if episode is not None and (score is None or score.fitness < 1.0)
    ]
    values: dict[str, list[float]] = {}
    for report in failed:
        for name, value in report.items():
            if isinstance(value, int | float):
                values.setdefault(name, []).append(float(value))
    return {name: sum(each) / len(each) for name, each in values.items()}


def small_edit(
    source: ParsedProgram, focus: Focus, workshop: Workshop, forbidden: Forbidden, rng: random.Random
) -> tuple[Edit, ...]:
    """One method replaced, or one or two constants changed, that the rejection memory does not exclude."""
    swaps = [
        (part, allowed)
        for part, edits in workshop.swaps(source)
        if (allowed := [edit for edit in edits if not forbidden.rules_out((edit,))])
    ]
    share = TUNED_SWAP_SHARE if workshop.shelf.tuned else SWAP_SHARE
    for _ in range(TRIES):
        edits: tuple[Edit, ...]
        if swaps and rng.random() < share:
            edits = (rng.choice(drawn(swaps, focus, rng)),)
        else:
            edits = moved_constants(source, focus, workshop, rng, count=1 if rng.random() < 0.75 else 2)
        if edits and not forbidden.rules_out(edits):
            return edits
    return large_edit(source, focus, workshop, rng)


def large_edit(
    source: ParsedProgram, focus: Focus, workshop: Workshop, rng: random.Random
) -> tuple[Edit, ...]:
    """Two to four methods replaced and up to three constants changed at once; of a tuned shelf fewer and more."""
    left = workshop.swaps(source)
    edits: list[Edit] = []
    tuned = workshop.shelf.tuned
    for _ in range(min(len(left), rng.choice((0, 1, 1, 2, 3) if tuned else (2, 2, 2, 3, 4)))):
        options = drawn(left, focus, rng)
        edits.append(rng.choice(options))
        left = [item for item in left if item[1] is not options]
    few = tuned or len(edits) < 2
    edits += moved_constants(source, focus, workshop, rng, count=rng.choice((2, 3) if few else (0, 1, 2, 3)))
    return tuple(edits)


def drawn(
    options: Sequence[tuple[ShelfPart, list[Edit]]], focus: Focus, rng: random.Random
) -> list[Edit]:
    """The edits of one part, drawn with weights from the parent's metrics."""
    return rng.choices(options, focus([part for part, _ in options]))[0][1]


def moved_constants(
    source: ParsedProgram, focus: Focus, workshop: Workshop, rng: random.Random, *, count: int
) -> tuple[Edit, ...]:
    """Edits that change up to `count` different constants."""
    left = workshop.tunable(source)
    edits = []
    for _ in range(min(count, len(left))):
        chosen = rng.choices(range(len(left)), focus([part for part, _ in left]))[0]
        edit = workshop.moved(*left.pop(chosen), rng)
        if edit is not None:
            edits.append(edit)
    return tuple(edits)


# --------------------------------------------------------------------------------------------- crossover


def crossed(parents: Sequence[CandidateState], workshop: Workshop, rng: random.Random) -> tuple[str, str]:
    """Two parents recombined by method and constant, the fitter one first; mutated if they differ little."""
    first, second = sorted(parents[:2], key=lambda parent: -parent.fitness)  # stable: ties keep the order
    source, other = workshop.read(first.program.text), workshop.read(second.program.text)
    differences = differing(source, other)
    taken = [edit for edit in differences if rng.random() > FITTER_SHARE]
    if not taken and differences:
        taken = [rng.choice(differences)]
    chosen = tuple(taken)
    mutated = len(differences) < FEW or rng.random() < MUTATED_SHARE
    known = {digest(Program(source.text)), digest(Program(other.text))}
    for _ in range(TRIES):
        if mutated:
            extra = small_edit(source, focus_of(source, first, workshop), workshop, Forbidden((), {}), rng)
            names = {edit.name for edit in extra}
            chosen = (*extra, *(edit for edit in taken if edit.name not in names))
        if digest(Program(source.edited(chosen, ""))) not in known:
            break
        mutated = True
    origin = first.id if first.id == second.id else f"{first.id} with {second.id}"
    summary = f"crossover of {origin}: {summary_of(chosen)}"
    return source.edited(chosen, summary), summary


def differing(source: ParsedProgram, other: ParsedProgram) -> list[Edit]:
    """The edits that put parts of `other` into `source`: methods and constants with the same names that differ."""
    constants = [
        constant_edit(source.constants[name], piece.text)
        for name, piece in other.constants.items()
        if name in source.constants and source.constants[name].text != piece.text
    ]
    return differing_methods(source, other) + constants


def differing_methods(source: ParsedProgram, other: ParsedProgram) -> list[Edit]:
    """The methods of `other` that differ from those of `source` under the same names and would fit there."""
    known = {name: piece.text for name, piece in other.constants.items()}
    edits = []
    for name, piece in other.methods.items():
        if name not in source.methods or source.shape(name) == other.shape(name):
            continue
        alternative = alternative_of(piece.text)
        if fits(alternative, source, known):
            lacking = sorted(alternative.reads - source.attributes)
            adds = tuple((constant, known[constant]) for constant in lacking if constant in known)
            edits.append(Edit(name=name, text=piece.text, summary=f"{name}: {alternative.title}", adds=adds))
    return edits
