"""Counts the saved episodes: for each candidate, the episodes of T_0 minus those rolled out for it."""

from collections import Counter
from dataclasses import dataclass, field, replace

from ..core.events import (
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EpisodeEnded,
    Fact,
    InitialChosen,
    ProposalMade,
    SpeculationEnded,
    TuningEnded,
)
from ..core.order_ids import INITIAL, SEARCH, owner_of, parse


@dataclass(slots=True)
class _Trial:
    """The counts of a candidate of an open generation. A candidate without a program has no episodes to save."""

    run: int = 0
    proposed: bool = False
    ahead: bool = False         # proposed speculatively
    kept: bool = False          # and its assumption was right
    scored: bool = False
    duplicate: bool = False


@dataclass(slots=True)
class SavedEpisodes:
    """Holds the candidates of open generations and the sums of finished ones, so that it stays small."""

    _full: int = 0                                              # episodes of T_0
    _initial: str | None = None                                 # the id of p_0, whose episodes they are
    _attempts: Counter[str] = field(default_factory=Counter)    # episodes of attempts at p_0
    _open: dict[str, _Trial] = field(default_factory=dict)
    _total: int = 0
    _by_duplicates: int = 0

    def total(self) -> int:
        """All saved episodes of the search."""
        return self._total + sum(self._spared(trial) for trial in self._open.values())

    def by_duplicates(self) -> int:
        """The saved episodes of already known programs."""
        return self._by_duplicates + sum(self._spared(trial) for trial in self._open.values() if trial.duplicate)

    def copy(self) -> "SavedEpisodes":
        """An independent copy."""
        trials = {key: replace(trial) for key, trial in self._open.items()}
        return SavedEpisodes(
            self._full, self._initial, self._attempts.copy(), trials, self._total, self._by_duplicates
        )

    def apply(self, fact: Fact) -> None:
        """Add a fact."""
        match fact:
            case EpisodeEnded(order=str(order)):
                self._end_episode(order)
            case ProposalMade(order=str(order)) | TuningEnded(order=str(order)):
                self._propose(order)
            case SpeculationEnded():
                self._trial(fact.slot).kept = fact.kept
            case CandidateScored():
                self._trial(fact.candidate.id).scored = True
            case DuplicateFound():
                self._trial(fact.candidate).duplicate = True
            case InitialChosen(order=str(order)):
                self._initial, self._full = order, self._attempts[order]
            case EliteChanged():
                self._close(fact.generation)

    def _propose(self, order: str) -> None:
        identity = parse(order)
        if identity.stage != SEARCH:
            return
        if identity.part == "ahead":
            self._trial(owner_of(order)).ahead = True
        else:
            self._trial(owner_of(order)).proposed = True

    def _end_episode(self, order: str) -> None:
        owner = owner_of(order)
        trial = self._open.get(owner)
        if trial is not None:
            trial.run += 1
        elif parse(owner).stage == SEARCH:
            self._trial(owner).run += 1
        elif parse(owner).stage == INITIAL:
            self._attempts[owner] += 1
            if owner == self._initial:
                self._full += 1

    def _trial(self, candidate: str) -> _Trial:
        return self._open.setdefault(candidate, _Trial())

    def _spared(self, trial: _Trial) -> int:
        made = trial.ahead if trial.kept else trial.proposed
        return max(0, self._full - trial.run) if trial.scored and made else 0

    def _close(self, generation: int) -> None:
        """Sum up a finished generation, whose candidates get no more episodes."""
        for key in [key for key in self._open if parse(key).generation <= generation]:
            trial = self._open.pop(key)
            saved = self._spared(trial)
            self._total += saved
            self._by_duplicates += saved if trial.duplicate else 0
