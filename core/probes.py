"""Probes: recordings next to T_0 that show how an evaluator ranks episodes. Which ones, and which order is certain.

T_0 holds the rollouts of one policy, which often succeed alike or fail alike; then every evaluator looks the same. A
probe is an episode that no policy of the search made: a rollout of T_0 cut short, an idle episode, a random one, or an
episode that the domain put on record and whose place among others it knows. Where evaluators are tested, p_0 is also
rolled out with disturbed actions, and recordings of T_0 are changed in ways that mean nothing. Probes inform writers
and judges of evaluators; `evaluator_tests` makes tests of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

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


DisturbanceKind: TypeAlias = Literal["random", "held", "late"]
LADDERS: tuple[tuple[str, DisturbanceKind, tuple[int, ...]], ...] = (
    ("random actions", "random", (10, 30, 100)),
    ("held actions", "held", (30,)),
    ("late", "late", (25,)),
)
"""The ladders below a rollout of T_0: the name, the kind of disturbance, its shares of the steps in per cent."""
LEAST_STEPS = 4  # of a rollout that is worth disturbing


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """What is done to a policy in an episode: in some of its steps another action takes the place of its own.

    "random": an allowed random action, "held": the action before, each in `share` per cent of the steps, drawn so that
    a greater share holds the steps of a smaller one; "late": idle actions for the first `steps` steps.
    """

    kind: DisturbanceKind
    share: int = 0
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """A rollout of p_0 to be made for a ladder: the episode of T_0 that it repeats, and the disturbance."""

    name: str
    source: str
    ladder: str
    rung: int
    index: int
    seed: int
    disturbance: Disturbance


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A recording of T_0 to be changed in ways that mean nothing."""

    name: str
    key: str
    success: bool
    ended_by: str


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


def _disturbed_episodes(episodes: Sequence[Episode]) -> tuple[Episode, ...]:
    """The rollouts of T_0 that tests begin with: its shortest success and its longest failure."""
    usable = [each for each in episodes if each.trajectory and each.fault is None and each.steps >= LEAST_STEPS]
    usable.sort(key=lambda each: (each.steps, each.index))
    return (*[each for each in usable if each.success][:1], *[each for each in usable if not each.success][-1:])


def rungs_of(episodes: Sequence[Episode]) -> tuple[Rung, ...]:
    """The rollouts for the ladders below T_0, at most ten."""
    return tuple(
        Rung(
            name=f"{name_of(source)}, {title}{'' if kind == 'late' else f' {share} %'}", source=name_of(source),
            ladder=f"{name_of(source)}, {title}", rung=place, index=source.index, seed=source.seed,
            disturbance=Disturbance(kind=kind, steps=max(1, source.steps * share // 100)) if kind == "late"
            else Disturbance(kind=kind, share=share),
        )
        for source in _disturbed_episodes(episodes)
        for title, kind, shares in LADDERS
        for place, share in enumerate(shares, start=1)
    )


def sources_of(episodes: Sequence[Episode]) -> tuple[Source, ...]:
    """The recordings of T_0 that are changed in ways that mean nothing, at most two."""
    return tuple(
        Source(name=name_of(each), key=str(each.trajectory), success=each.success, ended_by=each.ended_by)
        for each in _disturbed_episodes(episodes)
    )


def length_of(episodes: Sequence[Episode]) -> int:
    """The steps of an idle or random episode: as many as the median rollout of T_0 has, within bounds."""
    steps = sorted(episode.steps for episode in episodes)
    return min(MOST_STEPS, max(1, steps[len(steps) // 2])) if steps else 1


def known_order(episodes: Sequence[Episode], probes: Sequence[Probe]) -> tuple[tuple[str, str], ...]:
    """All pairs (better, worse) of recordings whose order is certain, by name.

    Certain is what `staged_order` holds, and that a success is worth more than a failure. Left out are rollouts that
    ended with a fault, whose f_e is 0 whatever an evaluator says, the cuts of rollouts that failed, in which success
    may have held for a moment, and recordings that repeat another one.
    """
    judged = [(name_of(each), each) for each in episodes if each.fault is None]
    judged += [(each.name, each.episode) for each in probes if each.episode.ended_by != CUT and not each.invariant]
    successes = [name for name, episode in judged if episode.success]
    failures = [name for name, episode in judged if not episode.success]
    pairs = {(better, worse) for better in successes for worse in failures} | {*staged_order(episodes, probes)}
    places = {name: place for place, name in enumerate([*map(name_of, episodes), *(p.name for p in probes)])}
    return tuple(sorted(pairs, key=lambda pair: (places[pair[0]], places[pair[1]])))


def staged_order(episodes: Sequence[Episode], probes: Sequence[Probe]) -> tuple[tuple[str, str], ...]:
    """The pairs (better, worse) that are certain by how recordings were made: `Probe.below` and what follows."""
    above = {probe.name: set(probe.below) for probe in probes}
    known = {name_of(each) for each in episodes} | above.keys()
    return tuple((better, name) for name in above for better in sorted(_all_above(name, above)) if better in known)


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
