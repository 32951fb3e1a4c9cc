"""An evaluator that moves: what a search remembers for it, the recordings of T, and the trial of a successor. Pure.

Every few generations the sequencer interrupts the search. T is drawn again: the rollouts T_0 of the first policy, and
as many recordings of the elite, of close losers and of failures. The pool is evolved again from the evaluator in use,
and the winner is its successor. It scores all recordings that the search remembers, without a rollout, and takes over
only if it passes every challenge so far. Then the programs that the search goes on with have their fitness from these
scores: that of an earlier version is never compared with it. `moving_search` has the keepers.

What is certain of two recordings stays certain, so challenges are never dropped: recordings that T was drawn from, and
all elites, are remembered to the end.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import fsum

from ..core.events import ArchiveChanged
from ..core.examined import TOLERANCE
from ..core.metrics import aggregate
from ..core.probes import known_order, name_of
from ..core.programs.program_text import digest
from ..core.text import counted
from ..core.values import CandidateState, Episode, Examination, Probe, Score

CLOSE = 6  # programs besides the elites that nearly won, and
FAILURES = 6  # those that did worst: what is remembered of all generations


# ------------------------------------------------------------------------------------------- what is remembered


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


# ------------------------------------------------------------------------------------------------------------ T


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnRecordings:
    """T of a move: the episodes, numbered from 0, how many of the last ones are `later`, and whose these are."""

    episodes: tuple[Episode, ...]
    later: int
    owners: frozenset[str]


def drawn(
    first: Sequence[Episode], elite: CandidateState, archive: Sequence[CandidateState], count: int
) -> DrawnRecordings:
    """T_0 and at most `count` recordings of later programs: of the elite, of close losers and of failures in turn.

    Of the elite those with the lowest and the highest f_e in turn, of a close loser the one in which it differs most
    from the elite, of a failure the worst one. No recording is drawn twice.
    """
    others = [one for one in _distinct(archive) if digest(one.program) != digest(elite.program)]
    ranked = sorted(_recorded(elite), key=lambda each: (each[1].fitness, each[0].index))
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


def _recorded(one: CandidateState) -> list[tuple[Episode, Score]]:
    pairs = zip(one.episodes, one.scores, strict=False)
    return [(episode, score) for episode, score in pairs if episode.trajectory and episode.steps]


def _differing(one: CandidateState, elite: CandidateState) -> Episode | None:
    """The recorded episode in which f_e differs most from the elite's."""
    known = {episode.index: score.fitness for episode, score in zip(elite.episodes, elite.scores, strict=False)}
    ranked = [(-abs(score.fitness - known.get(episode.index, 0.0)), episode.index, episode)
              for episode, score in _recorded(one)]
    return min(ranked, key=lambda each: each[:2])[2] if ranked else None


def _worst(one: CandidateState) -> Episode | None:
    """The recorded episode without success that has the lowest f_e."""
    ranked = [(score.fitness, episode.index, episode) for episode, score in _recorded(one) if not episode.success]
    return min(ranked, key=lambda each: each[:2])[2] if ranked else None


# --------------------------------------------------------------------------------------- the trial of a successor


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveRecordings:
    """What a successor is tried on: the recordings of a move, T and probes, and all that the search remembers."""

    episodes: tuple[Episode, ...]
    probes: tuple[Probe, ...]
    archive: tuple[CandidateState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuccessorVerdict:
    """The result of a trial, as in EvaluatorMoved."""

    reason: str = ""
    pairs: int = 0
    wrong_before: int = 0
    wrong_after: int = 0
    compared: int = 0
    against_before: int = 0
    against_after: int = 0


def judged(
    challenge: MoveRecordings, before: Examination, after: Examination, scores: Mapping[str, Score]
) -> SuccessorVerdict:
    """Whether a successor passes. `scores` are its scores of the remembered recordings, by their keys.

    It ranks every pair of certain order rightly that the evaluator in use ranks rightly, moves by no change without
    meaning by which that one does not move, has no flaw or open attack that that one has not, and has no more pairs of
    candidates in which the less successful one is at least as fit.
    """
    pairs = {*known_order(challenge.episodes, challenge.probes), *_by_success(challenge.archive)}
    old = _named(challenge, before) | {
        str(episode.trajectory): score.fitness
        for one in challenge.archive for episode, score in _recorded(one)
    }
    new = _named(challenge, after) | {key: score.fitness for key, score in scores.items()}
    wrong_before, wrong_after = _wrong(pairs, old), _wrong(pairs, new)
    fitness = {one.id: mean_under(one, scores) for one in challenge.archive}
    compared = _by_rate(challenge.archive)
    against_before = sum(better.fitness <= worse.fitness for better, worse in compared)
    against_after = sum(fitness[better.id] <= fitness[worse.id] for better, worse in compared)
    lost = len(wrong_after - wrong_before)
    failed = sum(score.fault is not None for score in scores.values())
    reason = _refusal(before, after) or (
        f"it fails on {counted(failed, 'recording')}" if failed else
        f"of {counted(len(pairs), 'pair')} of certain order it ranks {lost} wrongly that were ranked rightly" if lost
        else f"the less successful of two candidates is at least as fit in {against_after} of {len(compared)} pairs, "
        f"before in {against_before}" if against_after > against_before else ""
    )
    return SuccessorVerdict(
        reason=reason, pairs=len(pairs), wrong_before=len(wrong_before), wrong_after=len(wrong_after),
        compared=len(compared), against_before=against_before, against_after=against_after,
    )


def _refusal(before: Examination, after: Examination) -> str:
    """What the tests on T and the probes have against a successor, compared with the evaluator in use; "" for nothing.
    """
    old, new = before.tests, after.tests
    if new is None:
        return ""
    if new.flaw and not (old is not None and old.flaw):
        return new.flaw
    if new.open_attack and not (old is not None and old.open_attack):
        return "an attack on it is open"
    held = set() if old is None else {each.name for each in old.invariances if not each.moved}
    moved = [each.name for each in new.invariances if each.moved and each.name in held]
    if moved:
        return f"a change without meaning moves f_e by more than {TOLERANCE}: {moved[0]}"
    return ""


def _named(challenge: MoveRecordings, found: Examination) -> dict[str, float]:
    """f_e of T and of the probes by their names."""
    fitness = {name_of(each): score.fitness for each, score in zip(challenge.episodes, found.scores, strict=False)}
    scored = zip(challenge.probes, found.probe_scores, strict=False)
    return fitness | {probe.name: score.fitness for probe, score in scored}


def _wrong(pairs: Iterable[tuple[str, str]], fitness: Mapping[str, float]) -> set[tuple[str, str]]:
    """The pairs (better, worse) that are ranked the wrong way round or alike, or not at all."""
    return {
        (better, worse) for better, worse in pairs
        if not (better in fitness and worse in fitness and fitness[better] > fitness[worse])
    }


def _by_success(archive: Sequence[CandidateState]) -> set[tuple[str, str]]:
    """The keys of a success and of a failure, for all of them; episodes that ended with a fault are left out."""
    episodes = {
        str(episode.trajectory): episode for one in archive for episode, _ in _recorded(one) if episode.fault is None
    }
    won = [key for key, episode in episodes.items() if episode.success]
    return {(better, worse) for better in won for worse, other in episodes.items() if not other.success}


def _by_rate(archive: Sequence[CandidateState]) -> list[tuple[CandidateState, CandidateState]]:
    """The pairs of candidates of which the first succeeds more often."""
    rated = [(one, one.success_rate) for one in archive if one.success_rate is not None]
    return [(one, other) for one, rate in rated for other, lower in rated if rate > lower]


def mean_under(one: CandidateState, scores: Mapping[str, Score]) -> float:
    """F of a candidate by these scores of recordings, by their keys."""
    return fsum(score.fitness for score in _rescored(one, scores)) / len(one.scores)


def _rescored(one: CandidateState, scores: Mapping[str, Score]) -> tuple[Score, ...]:
    """The scores of its episodes; one without a recording that can be scored has f_e = 0 under any evaluator."""
    return tuple(scores.get(str(episode.trajectory), Score(fitness=0.0)) for episode in one.episodes)


def under(one: CandidateState, scores: Mapping[str, Score], version: int) -> CandidateState:
    """A candidate with its fitness and metrics by this version of the evaluator."""
    new = _rescored(one, scores)
    return replace(
        one, scores=new, fitness=mean_under(one, scores), metrics=aggregate(new), version=version, fresh=None
    )
