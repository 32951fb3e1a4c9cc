"""The stream of fresh episodes, with the same seeds for all programs, and what was seen of each program on it. Pure.

The fittest of many candidates was partly lucky on the search's episodes. Its advantage is real only as far as it shows
on other ones. What a program did on the beginning of the stream is kept: a program that meets another one is rolled out
only where it was not seen yet.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...core.events import Order
from ...core.seeds import derive_seed
from ...core.values import CandidateState, FreshRecord
from ..rollout_plan import FreshPlan, RolloutPlan
from ..trials import Trial, Trials

Records = Mapping[str, CandidateState]
"""What was seen of programs, by their texts: each on a prefix of the stream, under the id of its first order."""

NO_RECORDS: Records = {}
Stream = Callable[[int], int]
"""The seed of each fresh episode."""


def stream_of(fresh: FreshPlan) -> Stream:
    """The run's stream."""
    return lambda index: derive_seed(fresh.seed, "fresh", index)


def numbers_of(fresh: FreshPlan, length: int) -> tuple[int, ...]:
    """The numbers in their environment of the first episodes of the stream."""
    return tuple(range(fresh.first, fresh.first + length))


def roll_on(
    plan: RolloutPlan, stream: Stream, records: Records, programs: Mapping[str, CandidateState], length: int
) -> tuple[Trials, tuple[Order, ...]]:
    """The episodes that these programs lack of the first `length` of the stream; a new record gets the given id."""
    fresh = RolloutPlan(
        split=plan.split, seeds=tuple(stream(index) for index in range(length)), evaluator=plan.evaluator,
        has_success=plan.has_success, island=plan.island, numbers=numbers_of(plan.fresh, length),
        version=plan.version,
    )
    trials, orders = Trials(plan=fresh, open={}), list[Order]()
    for slot, (name, one) in enumerate(programs.items()):
        known = records.get(one.program.text)
        trial = Trial(
            id=name if known is None else known.id, program=one.program, operator=one.operator,
            generation=one.generation, slot=slot,
            episodes=() if known is None else known.episodes, scores=() if known is None else known.scores,
        )
        if known is None or len(known.scores) < length:
            step = trials.extend(trial)
            trials, orders = step.trials, [*orders, *step.orders]
    return trials, tuple(orders)


def fitnesses(records: Records, one: CandidateState, length: int | None = None) -> tuple[float, ...]:
    """f_e of a program on the first episodes of the stream, as many as it was seen in, at most `length`."""
    known = records.get(one.program.text)
    return () if known is None else tuple(score.fitness for score in known.scores[:length])


def with_record(one: CandidateState, records: Records) -> CandidateState:
    """The candidate with what was seen of it on fresh episodes, for prompts."""
    known = records.get(one.program.text)
    return one if known is None else replace(one, fresh=FreshRecord(episodes=known.episodes, scores=known.scores))
