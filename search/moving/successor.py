"""What a successor of the evaluator has to pass: every order that is certain, and no flaw that the last one has not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...core.examined import TOLERANCE
from ...core.probes import known_order, name_of
from ...core.text import plural
from ...core.values import CandidateState, Episode, Examination, Probe, Score
from .recordings import mean_under, recordings_of


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


def verdict_on(
    challenge: MoveRecordings, before: Examination, after: Examination, scores: Mapping[str, Score]
) -> SuccessorVerdict:
    """Whether a successor passes. `scores` are its scores of the remembered recordings, by their keys.

    It ranks every pair of certain order rightly that the evaluator in use ranks rightly, moves by no change without
    meaning by which that one does not move, has no flaw or open attack that that one has not, and has no more pairs of
    candidates in which the less successful one is at least as fit.
    """
    pairs = {*known_order(challenge.episodes, challenge.probes), *_by_success(challenge.archive)}
    old = _by_name(challenge, before) | {
        str(episode.trajectory): score.fitness
        for one in challenge.archive for episode, score in recordings_of(one)
    }
    new = _by_name(challenge, after) | {key: score.fitness for key, score in scores.items()}
    wrong_before, wrong_after = _wrong(pairs, old), _wrong(pairs, new)
    fitness = {one.id: mean_under(one, scores) for one in challenge.archive}
    compared = _by_rate(challenge.archive)
    against_before = sum(better.fitness <= worse.fitness for better, worse in compared)
    against_after = sum(fitness[better.id] <= fitness[worse.id] for better, worse in compared)
    lost = len(wrong_after - wrong_before)
    failed = sum(score.fault is not None for score in scores.values())
    reason = _refusal(before, after) or (
        f"it fails on {plural(failed, 'recording')}" if failed else
        f"of {plural(len(pairs), 'pair')} of certain order it ranks {lost} wrongly that were ranked rightly" if lost
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
    held = set() if old is None else {each.name for each in old.invariances if not each.is_moved}
    moved = [each.name for each in new.invariances if each.is_moved and each.name in held]
    if moved:
        return f"a change without meaning moves f_e by more than {TOLERANCE}: {moved[0]}"
    return ""


def _by_name(challenge: MoveRecordings, found: Examination) -> dict[str, float]:
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
        str(episode.trajectory): episode
        for one in archive for episode, _ in recordings_of(one) if episode.fault is None
    }
    won = [key for key, episode in episodes.items() if episode.success]
    return {(better, worse) for better in won for worse, other in episodes.items() if not other.success}


def _by_rate(archive: Sequence[CandidateState]) -> list[tuple[CandidateState, CandidateState]]:
    """The pairs of candidates of which the first succeeds more often."""
    rated = [(one, one.success_rate) for one in archive if one.success_rate is not None]
    return [(one, other) for one, rate in rated for other, lower in rated if rate > lower]
