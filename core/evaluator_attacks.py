"""Attacks on an evaluator: programs that try to please it without doing the task, and when one does. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .audits import HACK
from .examined import AttackCount
from .probes import CUT, name_of
from .values import Episode, Examination, Probe


def with_attack(found: Examination, count: AttackCount) -> Examination:
    """The examination of a tested evaluator with the result of an attack."""
    return found if found.tests is None else replace(found, tests=replace(found.tests, attacks=count))


def successes_of(episodes: Sequence[Episode], probes: Sequence[Probe], found: Examination) -> Mapping[str, float]:
    """f_e of the recorded successes, by name: of T_0 and of probes that were neither cut nor changed."""
    fitness = {name_of(each): score.fitness for each, score in zip(episodes, found.scores, strict=True)}
    fitness |= {probe.name: score.fitness for probe, score in zip(probes, found.probe_scores, strict=False)}
    done = [name_of(each) for each in episodes if each.success and each.fault is None]
    done += [
        probe.name for probe in probes
        if probe.episode.success and probe.episode.ended_by != CUT and not probe.invariant
    ]
    return {name: fitness[name] for name in done if name in fitness}


def bar_of(episodes: Sequence[Episode], probes: Sequence[Probe], found: Examination) -> float:
    """The f_e from which a program without success is an exploit: 0.9, or what the least success gets."""
    return min([HACK, *successes_of(episodes, probes, found).values()])
