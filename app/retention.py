"""Drops the trajectories that nothing needs any more, whenever a generation is over."""

from collections.abc import Iterable
from pathlib import Path

from ..core.events import CandidateScored, EliteChanged, EpisodeEnded, Fact
from ..memory.trajectories import Trajectories, droppable

TOLD_BY = (EpisodeEnded, CandidateScored, EliteChanged)


class Retention:
    """Listens to a run. T_0, the elites' episodes and the final episodes stay; `keep_all` drops nothing."""

    def __init__(self, folder: Path, history: Iterable[Fact], *, keep_all: bool = False) -> None:
        self._trajectories = Trajectories(folder)
        self._facts = [fact for fact in history if isinstance(fact, TOLD_BY)]
        self._keep_all = keep_all
        self._drop()  # what a killed controller had no time to drop

    def heed(self, fact: Fact) -> None:
        """Take a committed fact in."""
        if self._keep_all or not isinstance(fact, TOLD_BY):
            return
        self._facts.append(fact)
        if isinstance(fact, EliteChanged):
            self._drop()

    def _drop(self) -> None:
        dropped = droppable(self._facts, keep_all=self._keep_all)
        self._trajectories.delete(dropped)
        # What is dropped is not looked at again, so that a long run does not grow here.
        self._facts = [fact for fact in self._facts if not _is_of(fact, dropped)]


def _is_of(fact: Fact, dropped: frozenset[str]) -> bool:
    return isinstance(fact, EpisodeEnded) and fact.episode.trajectory in dropped
