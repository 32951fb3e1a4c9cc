"""The quality of a program as a run states it: on episodes that did not select it, where there are enough. Pure.

The search keeps the program that is ahead on its few episodes, so F on them is too high on average. A program that met
others was rolled out on fresh episodes, too. Its quality is their mean alone where they are at least as many as the
search's episodes, else the mean of all. Among candidates F on the common episodes of the search decides, as it always
did; only what is said of a program to people changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.events import EliteChosen, EliteConfirmed, Fact, SaturationChecked
from ..core.text import number, plural, share


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A program on fresh episodes: how many, the mean f_e, and the share of successes where the log has it."""

    episodes: int
    fitness: float
    success_rate: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """F and S of a program over `episodes`, of which `fresh` did not select it: all, some or none.

    `success_rate` is None if the task has no success predicate, and if the log lacks it for these episodes;
    `search_success` is that of the search's episodes.
    """

    fitness: float
    success_rate: float | None
    episodes: int
    fresh: int = 0
    search_success: float | None = None

    @property
    def success(self) -> float | None:
        """S on these episodes, if the log has it, else on the search's."""
        return self.search_success if self.success_rate is None else self.success_rate


IN_SEARCH = "in the search"
LEAST_FALL = 0.2  # of success
NOTHING: Mapping[str, Seen] = {}


def seen_in(fact: Fact) -> Mapping[str, Seen]:
    """What a fact says of programs on fresh episodes, by candidate."""
    match fact:
        case EliteConfirmed(episodes=count):
            return {
                fact.elite: Seen(episodes=count, fitness=fact.elite_fitness),
                fact.candidate: Seen(episodes=count, fitness=fact.candidate_fitness),
            }
        case EliteChosen():
            return {
                each.candidate: Seen(episodes=each.episodes, fitness=each.fitness, success_rate=each.success_rate)
                for each in fact.ranking
            }
        case SaturationChecked(joined=()):  # perfect on all these starts
            return {fact.candidate: Seen(episodes=fact.episodes, fitness=1.0)}
    return NOTHING


def more_of(known: Seen | None, new: Seen) -> Seen:
    """The record with more episodes; of equal ones the new one.

    A record grows along one stream of episodes, so the longer one holds the shorter one.
    """
    return new if known is None or new.episodes >= known.episodes else known


def quality_of(fitness: float, success_rate: float | None, episodes: int, seen: Seen | None) -> Quality:
    """What is stated of a program with these F and S on the search's `episodes`, and this record on fresh ones."""
    if seen is None:
        return Quality(
            fitness=fitness, success_rate=success_rate, episodes=episodes, search_success=success_rate
        )
    if seen.episodes >= episodes:
        return Quality(
            fitness=seen.fitness, success_rate=seen.success_rate, episodes=seen.episodes, fresh=seen.episodes,
            search_success=success_rate,
        )
    total = episodes + seen.episodes

    def pool(search: float, fresh: float) -> float:
        return (episodes * search + seen.episodes * fresh) / total

    known = None if success_rate is None or seen.success_rate is None else pool(success_rate, seen.success_rate)
    return Quality(
        fitness=pool(fitness, seen.fitness), success_rate=known, episodes=total, fresh=seen.episodes,
        search_success=success_rate,
    )


def on_episodes(episodes: int, fresh: int) -> str:
    """On which episodes: "on 16 fresh episodes", "on 5 episodes, 2 of them fresh", "in the search"."""
    if not fresh:
        return IN_SEARCH
    if fresh == episodes:
        return f"on {plural(fresh, 'fresh episode')}"
    return f"on {plural(episodes, 'episode')}, {fresh} of them fresh"


def conflict_words(fitness: tuple[float | None, float | None], success: tuple[float | None, float | None]) -> str:
    """That F rises while success falls, from the first of each pair to the second; "" where the two agree.

    A fall of less than `LEAST_FALL` is left to chance.
    """
    (f_before, f_after), (s_before, s_after) = fitness, success
    if f_before is None or f_after is None or s_before is None or s_after is None:
        return ""
    if f_after <= f_before or s_before - s_after < LEAST_FALL:
        return ""
    return f"F rises while success falls, from {share(s_before)} to {share(s_after)}: here F does not measure the task"


def quality_words(quality: Quality | None, *, before: str = "") -> str:
    """What is stated, after `before`: "F 0.712, success 75 % on 16 fresh episodes"; "" where none is fresh."""
    if quality is None or not quality.fresh:
        return ""
    won = "" if quality.success_rate is None else f", success {share(quality.success_rate)}"
    return f"{before}F {number(quality.fitness)}{won} {on_episodes(quality.episodes, quality.fresh)}"
