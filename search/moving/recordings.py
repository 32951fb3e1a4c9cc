"""What a search remembers for an evaluator that moves, and how T is drawn again from it. Pure.

Every few generations the sequencer interrupts the search. T is drawn again: the rollouts T_0 of the first policy, and
as many recordings of the elite, of close losers and of failures. The pool is evolved again from the evaluator in use,
and the winner is its successor. It scores all recordings that the search remembers, without a rollout, and takes over
only if it passes every challenge so far. Then the programs that the search goes on with have their fitness from these
scores: that of an earlier version is never compared with it.

What is certain of two recordings stays certain, so challenges are never dropped: recordings that T was drawn from, and
all elites, are remembered to the end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import fsum

from ...core.events import ArchiveChanged
from ...core.metrics import aggregate
from ...core.programs.program_text import digest
from ...core.values import CandidateState, Episode, Score

CLOSE = 6  # programs besides the elites that nearly won, and
FAILURES = 6  # those that did worst: what is remembered of all generations


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """What a search remembers for an evaluator that moves.

    `version` is that of the evaluator in use, `moves` counts the trials of a successor, the last after generation
    `last`. `archive` holds evaluated candidates with their episodes; of these `elites` and `drawn` stay to the end.
    `due`: the search waits for a move.
    """

    version: int = 1
    moves: int = 0
    last: int = 0
    archive: tuple[CandidateState, ...] = ()
    elites: frozenset[str] = frozenset()
    drawn: frozenset[str] = frozenset()
    due: bool = False

    def with_candidate(self, found: CandidateState) -> "Moves":
        """With a candidate of the generation under way, if it was evaluated."""
        sound = found.fault is None and found.bound is None and bool(found.scores)
        return replace(self, archive=(*self.archive, found)) if sound else self

    def after_generation(self, elite: CandidateState, needed: Iterable[CandidateState]) -> "Moves":
        """After a generation with this elite; the search itself goes on with the `needed` ones."""
        elites = self.elites | {elite.id}
        known = {one.id: one for one in (*self.archive, *needed, elite)}
        kept = elites | self.drawn | {one.id for one in needed}
        others = [one for one in _distinct(known.values()) if one.id not in elites]
        kept |= {one.id for one in others[:CLOSE]} | {one.id for one in others[-FAILURES:]}
        archive = sorted((one for name, one in known.items() if name in kept), key=_arrival)
        return replace(self, archive=tuple(archive), elites=elites)

    def fact(self, generation: int) -> ArchiveChanged:
        """What is remembered after a generation."""
        return ArchiveChanged(generation=generation, candidates=tuple(one.id for one in self.archive))


def _arrival(one: CandidateState) -> tuple[int, str]:
    return one.generation, one.id


def _distinct(found: Iterable[CandidateState]) -> list[CandidateState]:
    """Each program once, the fittest first."""
    kept: dict[str, CandidateState] = {}
    for one in sorted(found, key=lambda each: (-each.fitness, *_arrival(each))):
        kept.setdefault(digest(one.program), one)
    return list(kept.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRecordings:
    """T of a move: the episodes, numbered from 0, how many of the last ones are `later`, and whose these are."""

    episodes: tuple[Episode, ...]
    later: int
    owners: frozenset[str]


def draw(
    first: Sequence[Episode], elite: CandidateState, archive: Sequence[CandidateState], count: int
) -> DrawnRecordings:
    """T_0 and at most `count` recordings of later programs: of the elite, of close losers and of failures in turn.

    Of the elite those with the lowest and the highest f_e in turn, of a close loser the one in which it differs most
    from the elite, of a failure the worst one. No recording is drawn twice.
    """
    others = [one for one in _distinct(archive) if digest(one.program) != digest(elite.program)]
    ranked = sorted(recordings_of(elite), key=lambda each: (each[1].fitness, each[0].index))
    sides = [*zip_longest(ranked, ranked[::-1])]
    of_elite = [(elite.id, each[0]) for pair in sides for each in pair if each is not None]
    close = [(one.id, each) for one in others if (each := _differing(one, elite)) is not None]
    failures = [(one.id, each) for one in reversed(others) if (each := _worst(one)) is not None]
    known = {each.trajectory for each in first}
    found: list[tuple[str, Episode]] = []
    for kinds in zip_longest(of_elite, close, failures):
        for name, episode in filter(None, kinds):
            if episode.trajectory not in known and len(found) < count:
                known.add(episode.trajectory)
                found.append((name, episode))
    numbered = tuple(replace(episode, index=place) for place, (_, episode) in enumerate(found, start=len(first)))
    return DrawnRecordings(
        episodes=(*first, *numbered), later=len(numbered), owners=frozenset(name for name, _ in found)
    )


def recordings_of(one: CandidateState) -> list[tuple[Episode, Score]]:
    """The recorded episodes of a candidate with their scores."""
    pairs = zip(one.episodes, one.scores, strict=False)
    return [(episode, score) for episode, score in pairs if episode.trajectory and episode.steps]


def _differing(one: CandidateState, elite: CandidateState) -> Episode | None:
    """The recorded episode in which f_e differs most from the elite's."""
    known = {episode.index: score.fitness for episode, score in zip(elite.episodes, elite.scores, strict=False)}
    ranked = [(-abs(score.fitness - known.get(episode.index, 0.0)), episode.index, episode)
              for episode, score in recordings_of(one)]
    return min(ranked, key=lambda each: each[:2])[2] if ranked else None


def _worst(one: CandidateState) -> Episode | None:
    """The recorded episode without success that has the lowest f_e."""
    ranked = [(score.fitness, episode.index, episode) for episode, score in recordings_of(one) if not episode.success]
    return min(ranked, key=lambda each: each[:2])[2] if ranked else None


def mean_under(one: CandidateState, scores: Mapping[str, Score]) -> float:
    """F of a candidate by these scores of recordings, by their keys."""
    return fsum(score.fitness for score in _scores_under(one, scores)) / len(one.scores)


def _scores_under(one: CandidateState, scores: Mapping[str, Score]) -> tuple[Score, ...]:
    """The scores of its episodes; one without a recording that can be scored has f_e = 0 under any evaluator."""
    return tuple(scores.get(str(episode.trajectory), Score(fitness=0.0)) for episode in one.episodes)


def under(one: CandidateState, scores: Mapping[str, Score], version: int) -> CandidateState:
    """A candidate with its fitness and metrics by this version of the evaluator."""
    new = _scores_under(one, scores)
    return replace(
        one, scores=new, fitness=mean_under(one, scores), metrics=aggregate(new), version=version, fresh=None
    )
