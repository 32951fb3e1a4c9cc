"""Which episodes of a prompt a critic looks at: for each program the one that lost most fitness. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.events import Criticise, Judge, Order, Propose
from ..core.order_ids import look_id
from ..core.values import CandidateState, Episode, Score

NOTHING_LOST = 1.0 - 1e-9  # f_e from which an episode loses nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedLook:
    """A look that an order waits for. `recording` names what is looked at: each recording is looked at once."""

    candidate: str
    recording: str
    order: Criticise


def looks_of(order: Order, *, first: str | None, judges: bool) -> tuple[WantedLook, ...]:
    """The looks for the prompt of an order; `first` is the id of p_0, whose episodes judges see."""
    if isinstance(order, Propose):
        found = {parent.id: _of_parent(parent, order.fitness) for parent in order.parents}
        return tuple(wanted for wanted in found.values() if wanted is not None)
    if isinstance(order, Judge) and judges and first is not None:
        wanted = _of_rollouts(order, first)
        return () if wanted is None else (wanted,)
    return ()


def _of_parent(parent: CandidateState, fitness: str) -> WantedLook | None:
    """A look at the episode with the lowest f_e, the earliest of several; None if no episode lost anything."""
    if len(parent.scores) != len(parent.episodes):
        return None
    place = worst(parent.episodes, [score.fitness for score in parent.scores])
    return None if place is None else _look_at(parent.id, parent.episodes[place], parent.scores[place], fitness)


def _of_rollouts(order: Judge, first: str) -> WantedLook | None:
    """A look at the episode of T_0 that the evaluators of a pool rank lowest on the whole."""
    entries = [entry.examination.scores for entry in order.pool if entry.examination.valid]
    counts = range(len(order.episodes))
    means = [math.fsum(scores[place].fitness for scores in entries if place < len(scores)) for place in counts]
    place = worst(order.episodes, [mean / max(1, len(entries)) for mean in means])
    return None if place is None else _look_at(first, order.episodes[place], None, "")


def worst(episodes: Sequence[Episode], fitnesses: Sequence[float]) -> int | None:
    """The place of the recorded episode with the lowest fitness; None if none lost any, or nothing is recorded."""
    lost = [
        (fitness, place) for place, (episode, fitness) in enumerate(zip(episodes, fitnesses, strict=True))
        if fitness < NOTHING_LOST and episode.trajectory is not None and episode.steps > 0
    ]
    return min(lost)[1] if lost else None


def _look_at(candidate: str, episode: Episode, score: Score | None, fitness: str) -> WantedLook:
    look = Criticise(
        id=look_id(candidate, episode.index), candidate=candidate, episode=episode, score=score, fitness=fitness
    )
    return WantedLook(candidate=candidate, recording=str(episode.trajectory), order=look)
