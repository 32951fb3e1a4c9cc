"""OfflineModel: answers a proposer's, an evaluator writer's or a judge's question without a language model."""

import ast
import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, fields

from ...core.errors import ModelError
from ...core.events import Judge, Propose, ProposeEvaluator
from ...core.order_ids import owner_of, parse, slot_of
from ...core.ports import Ask, Reply, Shelf, ShelfPart
from ...core.programs.calibration import Bounds, constants_to_calibrate, worth
from ...core.seeds import derive_seed
from ...core.text import one_line
from ...core.turns import TRY, Conversation
from ...core.values import JSON, CandidateState, EvaluatorCandidate, Operator, Program, Usage
from .edits import Workshop, constant_edit, first_class, level, perturbed, same_value
from .proposer import differing_methods, propose
from .repairing import next_turn
from .source import Edit, ParsedProgram, Piece

# Coordinate search in place of a model in a calibration: one constant up or down at a time, then smaller steps.
#
# The control for calibration by a language model: the same trials, the same bounds, no prompt read. It is a function of
# what was tested, so a resumed run goes on where it was.


STEP = 0.25  # of a constant's range, at first
LEAST_STEP = 0.001

Point = tuple[float, ...]
Worth = tuple[float, float, float]


def next_values(tested: Sequence[CandidateState], bounds: Bounds) -> dict[str, JSON]:
    """The values of the constants to test next; `tested` holds all programs so far, oldest first."""
    constants = constants_to_calibrate(tested[0].program, bounds)
    start = tuple(min(1.0, max(0.0, each.position)) for each in constants)
    point = next_point(start, [worth(each) for each in tested])
    found = {each.name: each.at(place) for each, place in zip(constants, point, strict=True)}
    kinds = {each.name: each.kind for each in constants}
    return {
        name: bool(value) if kinds[name] == "bool" else int(value) if kinds[name] == "int" else value
        for name, value in found.items()
    }


def next_point(start: Point, results: Sequence[Worth]) -> Point:
    """The positions to test next, each in [0, 1]; none is tested twice.

    `results` are the worths of all so far, that of `start` first.
    """
    known, best, at, step = {start: results[0]}, results[0], start, STEP
    while step >= LEAST_STEP:
        improved = False
        for place in range(len(start)):
            for way in (step, -step):
                point = _moved(at, place, way)
                if point not in known:
                    if len(known) == len(results):
                        return point
                    known[point] = results[len(known)]
                if known[point] > best:
                    best, at, improved = known[point], point, True
                    break
        if not improved:
            step /= 2
    return at


def _moved(point: Point, place: int, way: float) -> Point:
    return (*point[:place], min(1.0, max(0.0, point[place] + way)), *point[place + 1 :])


# Evaluator programs without a language model: shelf evaluators with changed weights and exchanged terms.


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


# One seat of the judge panel: fixed criteria for the scored evaluator pool, weighted differently per seat.


WIDE_SPREAD = 0.1       # a standard deviation of f_e over T_0 that counts as full discrimination
RICH = 12               # this many metrics count as rich feedback
ROOM = 0.35             # failed rollouts should score at most about this, to leave room above
TASTE = 0.08            # standard deviation of a seat's random preference in addition to the criteria


@dataclass(frozen=True, slots=True, kw_only=True)
class Merits:
    """The criteria for one evaluator, each in [0, 1]."""

    validity: float         # share of T_0 that it scored without fault
    discrimination: float   # spread of f_e over the episodes
    milestones: float       # agreement of f_e with its own milestone metrics over the episodes
    range: float            # failures score low, yet not all 0: room above, a slope below
    richness: float         # number of informative metrics


CRITERIA = tuple(field.name for field in fields(Merits))


def judge(order: Judge, rng: random.Random) -> tuple[int, str]:
    """The slot that this seat votes for, and its reason. Raises SyntaxError if no pool entry can be parsed."""
    emphasis = {name: rng.gammavariate(1.5, 1.0) + 0.05 for name in CRITERIA}
    total = sum(emphasis.values())
    taste = [rng.gauss(0.0, TASTE) for _ in order.pool]
    merits = [merits_of(entry, order.success_rate) for entry in order.pool]
    marks = [
        sum(emphasis[name] * getattr(merit, name) for name in CRITERIA) / total + extra
        for merit, extra in zip(merits, taste, strict=True)
    ]
    best = max(range(len(marks)), key=marks.__getitem__)
    return order.pool[best].slot, reason_for(merits[best], emphasis)


def reason_for(merit: Merits, emphasis: dict[str, float]) -> str:
    """One sentence: the criteria that this seat weights most, and their values."""
    preferred = sorted(CRITERIA, key=lambda name: -emphasis[name])[:2]
    found = " and ".join(f"{name} {getattr(merit, name):.2f}" for name in preferred)
    return f"By this seat's emphasis it is the best of the pool: {found} of 1."


def merits_of(entry: EvaluatorCandidate, success_rate: float | None) -> Merits:
    """The criteria from an evaluator's scores on T_0."""
    scores = entry.examination.scores
    good = [score for score in scores if score.fault is None and math.isfinite(score.fitness)]
    if not good:
        return Merits(validity=0.0, discrimination=0.0, milestones=0.0, range=0.0, richness=0.0)
    fitness = [score.fitness for score in good]
    mean = math.fsum(fitness) / len(fitness)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in fitness) / len(fitness))
    succeeded = success_rate or 0.0     # a task without a success predicate has room above any fitness
    due = succeeded + (1 - succeeded) * ROOM
    progress = [mean_level(list(score.metrics.values())) for score in good]
    names = {name for score in good for name in score.metrics}
    telling = sum(1 for name in names if len({str(score.metrics.get(name)) for score in good}) > 1)
    return Merits(
        validity=len(good) / len(scores) if entry.examination.valid else 0.0,
        discrimination=min(1.0, spread / WIDE_SPREAD),
        milestones=agreement(fitness, progress) * reads_time(entry),
        range=max(0.0, 1.0 - abs(mean - due) / max(due, 1 - due)) if mean > 0 else 0.0,
        richness=min(1.0, (telling + len(names)) / (2 * RICH)),
    )


def mean_level(values: Sequence[object]) -> float:
    """The mean of the values that are milestone metrics, in [0, 1]; 0 if there are none."""
    levels = [found for value in values if isinstance(value, int | float) and (found := level(value)) is not None]
    return math.fsum(levels) / len(levels) if levels else 0.0


def agreement(one: Sequence[float], other: Sequence[float]) -> float:
    """The share of pairs of episodes that two scores rank alike; ties count half. 0.5 for one episode."""
    ranked = [
        (one[a] - one[b]) * (other[a] - other[b]) for a in range(len(one)) for b in range(a + 1, len(one))
    ]
    if not ranked:
        return 0.5
    return sum(1.0 if product > 0 else 0.5 if product == 0 else 0.0 for product in ranked) / len(ranked)


def reads_time(entry: EvaluatorCandidate) -> float:
    """1 for an evaluator that reads at least three recorded arrays, less for one that reads fewer."""
    if entry.program is None:
        return 0.0
    tree = ast.parse(entry.program.text)
    keys = {
        node.slice.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Subscript)
        and isinstance(node.slice, ast.Constant)
        and isinstance(node.slice.value, str)
    }
    return min(1.0, len(keys) / 3)


MAX_LINE = 4000  # characters of a summary line; a summary of many edits is far shorter


class OfflineModel:
    """A deterministic structural mutator behind the Model port. It is not a language model.

    It never reads the prompt: it edits the parent program of the order with pieces of a shelf, in a conversation by
    what practice episodes showed, or, in a calibration, changes one constant at a time. All
    randomness comes from the run's seed, the order's slot and the attempt, so the same order gives the same
    reply in any process and in any order of arrival, also if it is requested speculatively. Its results are
    not evidence for the results of language models.
    """

    name = "offline"

    def __init__(self, shelf: Shelf | None, *, run_seed: int, bounds: Bounds | None = None) -> None:
        """Without a shelf it only calibrates, within these bounds."""
        self._workshop = None if shelf is None else Workshop(shelf)
        self._run_seed = run_seed
        self._bounds = bounds or {}

    async def complete(self, ask: Ask) -> Reply:
        """Answer one order in the form of a language model's reply.

        Raises ModelError for an order of another type, or whose parent does not parse.
        """
        order = ask.order
        rng = random.Random(derive_seed(self._run_seed, "offline", slot_of(order.id), ask.attempt))
        try:
            if isinstance(order, Propose) and order.operator is Operator.CALIBRATE:
                text = json.dumps(next_values((*order.earlier, *order.parents), self._bounds))
            elif self._workshop is None:
                raise ModelError("the offline model has no parts for this task: it only calibrates")
            elif isinstance(order, Propose) and order.conversation is not None:
                text = self._turn(order, order.conversation, self._workshop, rng)
            elif isinstance(order, Propose):
                text = program_reply(*propose(order, self._workshop, rng, attempt=ask.attempt))
            elif isinstance(order, ProposeEvaluator):
                program, summary = write_evaluator(order, self._workshop.shelf.evaluators, rng)
                text = f"Measures: {measures_of(program)}\n{program_reply(program, summary)}"
            elif isinstance(order, Judge):
                choice, reason = judge(order, rng)
                text = json.dumps({"choice": choice, "reason": reason})
            else:
                raise ModelError(f"the offline model has no answer to an order of type {type(order).__name__}")
        except SyntaxError as error:
            raise ModelError(f"the offline model cannot edit the parent of {order.id}: {error}") from error
        return Reply(text=text, model=self.name, usage=Usage(cost_usd=0.0))

    def _turn(self, order: Propose, conversation: Conversation, workshop: Workshop, rng: random.Random) -> str:
        """A call of `try_program`, or a submission."""
        slot = owner_of(order.id)
        first = derive_seed(self._run_seed, "practice", slot) % max(1, conversation.practice)
        program, summary, number = next_turn(order, workshop, rng, first=first)
        reply = program_reply(program, summary)
        if number is None:
            return reply
        drafts = [draft.program.text.rstrip() for draft in conversation.drafts]
        if program.rstrip() in drafts:
            reply = f"Draft: {drafts.index(program.rstrip()) + 1}"
        return f"Tool: {TRY}\nEpisode: {number}\n{reply}"


def program_reply(program: str, summary: str) -> str:
    """A reply that holds a program: one summary line, without fences, and one fenced block."""
    line = one_line(summary.replace("```", "'''"), MAX_LINE)
    return f"Summary: {line}\n\n```python\n# whole program\n{program.rstrip()}\n```\n"
