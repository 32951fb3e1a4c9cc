"""Which recordings of a run stay on disk, and which are dropped first if they take too much space. Pure.

Recordings that the search still needs are never dropped: T_0, the episodes of the current elites and of the final
measure, those of candidates that are not scored yet, and of a confirmation that is not decided. Where the evaluator
moves, they are also those of all candidates of the current generation, any of which may be remembered, and of what the
search remembers (ArchiveChanged): another evaluator scores them again. Those of tried constants and of a cheap twin go
as soon as they are scored. The others are dropped in this order:

    whole     episodes of candidates that lost, if the user keeps all episodes; oldest first
    end       the last steps of episodes that ended with a fault, of candidates that lost; oldest first
    elite     episodes of earlier elites; oldest first
    scored    candidates of the current generation, one of which may become the elite; lowest fitness first
"""

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.events import (
    ArchiveChanged,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    Fact,
    IslandsChanged,
    SaturationChecked,
)
from ..core.order_ids import FRESH, episode_id, fresh_starts, owner_of, parse
from ..core.recording_file import trajectory_key


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionChange:
    """The changes to recordings after a fact.

    `dropped` are deleted; of `shortened` only the last steps stay. `over` are the candidates that lost. `kept` are
    those of a new elite, which must be on this disk.
    """

    dropped: tuple[str, ...] = ()
    shortened: tuple[str, ...] = ()
    over: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


NOTHING = RetentionChange()


class RetentionPolicy:
    """Follows a run's facts. It remembers only the keys of existing recordings."""

    def __init__(self, *, keep_all: bool = False, moving: bool = False) -> None:
        """`moving`: another evaluator may take over."""
        self._keep_all = keep_all
        self._moving = moving
        self._archive: tuple[str, ...] = ()             # what the search remembers for another evaluator
        self._keys: dict[str, list[str]] = {}           # of open candidates, by their ids
        self._scored: dict[str, tuple[int, float]] = {} # their generation and fitness
        self._faulty: set[str] = set()
        self._owners: Counter[str] = Counter()          # owners per recording; several may share it
        self._same: dict[str, str] = {}                 # duplicates, which use the recordings of another candidate
        self._islands: tuple[str, ...] = ()             # the elites of islands, where there are several
        self._needed: frozenset[str] = frozenset()      # the owners of the recordings of all elites
        self._whole: deque[str] = deque()
        self._ends: deque[str] = deque()
        self._elites: deque[str] = deque()

    def apply(self, fact: Fact) -> RetentionChange:
        """Apply a fact. Returns the resulting changes to recordings."""
        if fact.done_with:
            return RetentionChange(dropped=tuple(trajectory_key(rollout) for rollout in fact.done_with))
        rollout = fact.rollout
        if rollout is not None and rollout.trajectory is not None and fact.order is not None:
            faulty = rollout.fault is not None and not fact.practice
            self._own(owner_of(fact.order), rollout.trajectory, faulty=faulty)
        match fact:
            case CandidateScored(candidate=candidate):
                self._scored[candidate.id] = candidate.generation, candidate.fitness
                for episode in candidate.episodes:
                    if episode.trajectory is not None:
                        self._own(candidate.id, episode.trajectory, faulty=episode.fault is not None)
            case DuplicateFound():
                self._same[fact.candidate] = self._same.get(fact.of, fact.of)
            case EliteConfirmed():
                return self._end_meeting(parse(fact.candidate).island)
            case EliteChosen():
                return self._end_meeting()
            case SaturationChecked():
                return self._end_starts(fact)
            case IslandsChanged():
                self._islands = fact.elites
            case ArchiveChanged():
                self._archive = fact.candidates
            case EliteChanged():
                return self._end_generation(fact.generation, fact.candidate)
        return NOTHING

    def give_up(self) -> str | None:
        """The least needed recording, which the caller drops; None if all remaining ones are needed."""
        for waiting in (self._whole, self._ends, self._elites):
            if waiting:
                return waiting.popleft()
        unneeded = [
            (fitness, name, key)
            for name, (_, fitness) in self._scored.items() if name not in self._needed and not self._moving
            for key in self._keys.get(name, ()) if self._owners[key] == 1
        ]
        if not unneeded:
            return None
        _, least, key = min(unneeded)
        self._keys[least].remove(key)
        del self._owners[key]
        self._faulty.discard(key)
        return key

    def _own(self, owner: str, key: str, *, faulty: bool) -> None:
        keys = self._keys.setdefault(owner, [])
        if key not in keys:
            keys.append(key)
            self._owners[key] += 1
            if faulty:
                self._faulty.add(key)

    def _end_generation(self, generation: int, elite: str) -> RetentionChange:
        needed, before = self._lenders((elite, *self._islands, *self._archive)), self._needed
        self._needed = needed
        over = [name for name, (of, _) in self._scored.items() if of <= generation and name not in needed | before]
        dropped: list[str] = []
        shortened: list[str] = []
        for name in over:
            for key in self._disown(name):
                if self._keep_all:
                    self._whole.append(key)
                elif key in self._faulty:
                    shortened.append(key)
                    self._ends.append(key)
                else:
                    dropped.append(key)
                self._faulty.discard(key)
        for name in sorted(before - needed):
            if name in self._scored:        # else it is p_0, whose episodes are T_0
                self._elites.extend(self._disown(name))
        kept = tuple(key for name in sorted(needed) for key in self._keys.get(name, ()))
        return RetentionChange(dropped=tuple(dropped), shortened=tuple(shortened), over=tuple(over), kept=kept)

    def _end_meeting(self, island: int = 0) -> RetentionChange:
        """Fresh episodes are not needed once they have decided: of their results later meetings need the figures.

        Those of a challenge on one island decide nothing on another.
        """
        found = [owner for owner in self._keys if parse(owner).stage in FRESH]
        owners = [owner for owner in found if island in (0, parse(owner).island)]
        keys = [key for owner in owners for key in self._keys.pop(owner, [])]
        for key in keys:
            del self._owners[key]
            self._faulty.discard(key)
        if self._keep_all:
            self._whole.extend(keys)
            return NOTHING
        return RetentionChange(dropped=tuple(keys))

    def _end_starts(self, fact: SaturationChecked) -> RetentionChange:
        """The starts that joined the search's episodes belong to the elite; the others are not needed."""
        owner = str(fresh_starts(fact.generation))
        joined = {trajectory_key(episode_id(owner, place)) for place in fact.joined}
        for key in [key for key in self._keys.get(owner, ()) if key in joined]:
            self._own(fact.candidate, key, faulty=key in self._faulty)
            self._keys[owner].remove(key)
            self._owners[key] -= 1
        return self._end_meeting()

    def _lenders(self, names: Iterable[str]) -> frozenset[str]:
        """The owners of the recordings of candidates: themselves, and the candidates that they duplicate."""
        return frozenset(owner for name in names for owner in (name, self._same.get(name, name)))

    def _disown(self, owner: str) -> Iterable[str]:
        """Remove an owner. Returns the recordings that have no owner any more."""
        del self._scored[owner]
        self._same.pop(owner, None)
        keys = self._keys.pop(owner, [])
        self._owners.subtract(keys)
        lost = [key for key in keys if self._owners[key] <= 0]
        for key in lost:
            del self._owners[key]
        return lost
