"""Probes: recordings next to T_0 that show how an evaluator ranks episodes. Which ones, and which order is certain.

T_0 holds the rollouts of one policy, which often succeed alike or fail alike; then every evaluator looks the same. A
probe is an episode that no policy of the search made: a rollout of T_0 cut short, an idle episode, a random one, or an
episode that the domain put on record and whose place among others it knows. Probes inform writers and judges of
evaluators; votes alone decide.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .values import Episode, Probe, Score

CUT_SHARES = (25, 50, 75)  # per cent of a rollout's steps
MOST_STEPS = 1000  # of an idle or random episode
CUT = "cut"  # ended_by of a rollout that was cut
IDLE, RANDOM = "idle", "random actions"  # names of probes


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A rollout of T_0 to be cut to its first steps: the name and the order of the probe, the trajectory's key."""

    name: str
    key: str
    steps: int
    below: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Two recordings of known order that an evaluator ranks the wrong way round, or alike."""

    better: str
    worse: str
    better_fitness: float
    worse_fitness: float


def name_of(episode: Episode) -> str:
    """The name of a rollout of T_0 among the probes."""
    return f"episode {episode.index}"


def cuts_of(episodes: Sequence[Episode]) -> tuple[Cut, ...]:
    """The cuts of T_0: its shortest and its longest rollout, each after 25, 50 and 75 % of its steps.

    A rollout that ended with success is worth more than its own beginning. A beginning is not certain to be worth
    less than the whole of any other rollout, which may have undone its progress.
    """
    recorded = sorted((each for each in episodes if each.trajectory), key=lambda each: (each.steps, each.index))
    cuts: dict[tuple[str, int], Cut] = {}
    for source in recorded[:1] + recorded[1:][-1:]:
        certain = (name_of(source),) if source.success and source.ended_by == "success" else ()
        for share in CUT_SHARES:
            steps, key = source.steps * share // 100, str(source.trajectory)
            if steps:
                name = f"{name_of(source)}, first {share} %"
                cuts.setdefault((key, steps), Cut(name=name, key=key, steps=steps, below=certain))
    return tuple(cuts.values())


def length_of(episodes: Sequence[Episode]) -> int:
    """The steps of an idle or random episode: as many as the median rollout of T_0 has, within bounds."""
    steps = sorted(episode.steps for episode in episodes)
    return min(MOST_STEPS, max(1, steps[len(steps) // 2])) if steps else 1


def known_order(episodes: Sequence[Episode], probes: Sequence[Probe]) -> tuple[tuple[str, str], ...]:
    """All pairs (better, worse) of recordings whose order is certain, by name.

    Certain is what a probe itself says (`Probe.below`, and what follows from it), and that a success is worth more
    than a failure. Left out are rollouts that ended with a fault, whose f_e is 0 whatever an evaluator says, and the
    cuts of rollouts that failed, in which success may have held for a moment.
    """
    above = {probe.name: set(probe.below) for probe in probes}
    pairs = {(better, name) for name in above for better in _all_above(name, above)}
    judged = [(name_of(each), each) for each in episodes if each.fault is None]
    judged += [(probe.name, probe.episode) for probe in probes if probe.episode.ended_by != CUT]
    successes = [name for name, episode in judged if episode.success]
    failures = [name for name, episode in judged if not episode.success]
    pairs |= {(better, worse) for better in successes for worse in failures}
    known = {name_of(each) for each in episodes} | above.keys()
    places = {name: place for place, name in enumerate([*map(name_of, episodes), *(p.name for p in probes)])}
    certain = (pair for pair in pairs if known.issuperset(pair))
    return tuple(sorted(certain, key=lambda pair: (places[pair[0]], places[pair[1]])))


def _all_above(name: str, above: Mapping[str, set[str]]) -> set[str]:
    """All names that are worth more than `name`, directly or through others."""
    found: set[str] = set()
    open_names = list(above.get(name, ()))
    while open_names:
        better = open_names.pop()
        if better not in found and better != name:
            found.add(better)
            open_names += above.get(better, ())
    return found


def violations(
    episodes: Sequence[Episode], scores: Sequence[Score], probes: Sequence[Probe], probe_scores: Sequence[Score]
) -> tuple[Violation, ...]:
    """The pairs of known order in which the better recording does not score more."""
    fitness = {name_of(each): score.fitness for each, score in zip(episodes, scores, strict=False)}
    fitness |= {probe.name: score.fitness for probe, score in zip(probes, probe_scores, strict=False)}
    return tuple(
        Violation(better=better, worse=worse, better_fitness=fitness[better], worse_fitness=fitness[worse])
        for better, worse in known_order(episodes, probes)
        if better in fitness and worse in fitness and not fitness[better] > fitness[worse]
    )
