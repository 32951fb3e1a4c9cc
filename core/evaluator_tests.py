"""Tests of evaluators on probes: ladders of known order, changes without meaning, and discrimination. Pure.

The order comes from how the recordings were made (PPAC: policies in an order that is known by construction), so no
model is asked. `core.probes` says which recordings there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

from .examined import EvaluatorTests, InvarianceResult, LadderResult
from .probes import CUT, known_order, name_of, staged_order
from .values import Episode, Probe, Score

STAGED: Final = "certain by how they were made"
SUCCESSES: Final = "successes above failures"
ALIKE: Final = 1e-6     # a spread of f_e that tells nothing apart
LEAST_FAILURES: Final = 3   # that must be told apart
FULL: Final = 0.9995    # f_e that is 1 in every display

Pair = tuple[str, str]


def evaluator_tests_of(
    episodes: Sequence[Episode], scores: Sequence[Score], probes: Sequence[Probe], probe_scores: Sequence[Score]
) -> EvaluatorTests:
    """The tests of an evaluator with these scores of T_0 and of the probes."""
    fitness = {name_of(each): score.fitness for each, score in zip(episodes, scores, strict=True)}
    fitness |= {probe.name: score.fitness for probe, score in zip(probes, probe_scores, strict=True)}
    judged = [(name_of(each), each.success) for each in episodes if each.fault is None]
    judged += [
        (probe.name, probe.episode.success) for probe in probes
        if probe.episode.ended_by != CUT and not probe.invariant
    ]
    failures = [fitness[name] for name, success in judged if not success]
    successes = [fitness[name] for name, success in judged if success]
    spread = max(failures) - min(failures) if failures else 0.0
    flaw = ""
    if len(failures) >= LEAST_FAILURES and spread <= ALIKE:
        flaw = f"it gives all {len(failures)} failures the same fitness, {failures[0]:.4f}"
    return EvaluatorTests(
        ladders=tuple(_ladders(episodes, probes, fitness)),
        invariances=tuple(
            InvarianceResult(name=probe.name, change=fitness[probe.name] - fitness[probe.source])
            for probe in probes if probe.invariant
        ),
        failures=len(failures), spread=spread,
        ties=sum(abs(one - other) <= ALIKE for one, other in combinations(failures, 2)),
        successes=len(successes), saturated=sum(each >= FULL for each in successes), flaw=flaw,
    )


def _ladders(
    episodes: Sequence[Episode], probes: Sequence[Probe], fitness: Mapping[str, float]
) -> Iterable[LadderResult]:
    """The certain pairs in two parts, then the ladders of expected order."""
    staged = staged_order(episodes, probes)
    by_success = [pair for pair in known_order(episodes, probes) if pair not in set(staged)]
    for name, certain in ((STAGED, staged), (SUCCESSES, by_success)):
        if certain:
            yield _ladder_of(name, certain, fitness, certain=True)
    rungs: dict[str, list[Probe]] = {}
    for probe in probes:
        if probe.ladder:
            rungs.setdefault(probe.ladder, []).append(probe)
    for name, found in rungs.items():
        names = [found[0].source, *(each.name for each in sorted(found, key=lambda each: each.rung))]
        yield _ladder_of(name, [*combinations(names, 2)], fitness, certain=False)


def _ladder_of(name: str, pairs: Sequence[Pair], fitness: Mapping[str, float], *, certain: bool) -> LadderResult:
    """Pairs are (better, worse)."""
    gains = [fitness[better] - fitness[worse] for better, worse in pairs]
    wrong, right = sum(gain < 0 for gain in gains), sum(gain > 0 for gain in gains)
    inversions = len(gains) - right if certain else wrong
    return LadderResult(
        name=name, certain=certain, pairs=len(gains), inversions=inversions, tau=(right - wrong) / len(gains)
    )
