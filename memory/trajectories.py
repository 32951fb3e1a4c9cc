"""The trajectories of a run: one recording a file, and which of them may go when a generation is over."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..core.errors import StoreError
from ..core.events import CandidateScored, EliteChanged, EpisodeEnded, Fact
from ..core.recording import Recording
from ..core.recording_file import SUFFIX, read_recording, write_recording
from .runs import TRAJECTORIES

_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


class Trajectories:
    """The recordings in the trajectories folder of one run, by key; key "g1/macro/7/e3" is that path.

    Workers write the same files themselves with core.recording_file, so this holds no state.
    """

    def __init__(self, run_folder: str | os.PathLike[str]) -> None:
        self.folder = Path(run_folder) / TRAJECTORIES

    def load(self, key: str) -> Recording:
        """The recording with this key. Raises StoreError where it is gone or damaged."""
        try:
            return read_recording(self.path(key))
        except FileNotFoundError as error:
            raise StoreError(
                f'the trajectory "{key}" is not in {self.folder}: it was dropped after its generation '
                "(settings can keep all), or never written"
            ) from error
        except (OSError, ValueError) as error:
            raise StoreError(f'the trajectory "{key}" cannot be read: {error}') from error

    def save(self, key: str, recording: Recording) -> None:
        """Write a recording, whole or not at all. Raises StoreError."""
        try:
            write_recording(self.path(key), recording)
        except (OSError, ValueError) as error:
            raise StoreError(f'the trajectory "{key}" cannot be written: {error}') from error

    def keys(self) -> Iterator[str]:
        """All keys, sorted."""
        for path in sorted(self.folder.rglob(f"*{SUFFIX}")):
            if not path.name.startswith("."):
                yield path.relative_to(self.folder).as_posix().removesuffix(SUFFIX)

    def sizes(self) -> dict[str, int]:
        """The size of each file in bytes, by key."""
        return {key: self.path(key).stat().st_size for key in self.keys()}

    def delete(self, keys: Iterable[str]) -> int:
        """Remove these recordings and return how many bytes that freed. An absent one is no error."""
        freed = 0
        for key in keys:
            path = self.path(key)
            try:
                size = path.stat().st_size
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(f'the trajectory "{key}" cannot be deleted: {error.strerror}') from error
            freed += size
        return freed

    def path(self, key: str) -> Path:
        """The file of a key. Raises StoreError for a key that would leave the folder."""
        if not all(_SEGMENT.fullmatch(segment) for segment in key.split("/")):
            raise StoreError(f'"{key}" is no key of a trajectory')
        return self.folder / f"{key}{SUFFIX}"


def droppable(facts: Iterable[Fact], *, keep_all: bool = False) -> frozenset[str]:
    """The keys that nothing needs any more, given the facts so far.

    Kept for good: T_0, the episodes of every elite so far, and the final episodes. A candidate's others go
    when it is scored and its generation is over, for until then it may still become the elite. What is
    shared with something kept is kept. `keep_all` drops nothing.
    """
    if keep_all:
        return frozenset()
    keys: dict[str, set[str]] = {}
    scored: dict[str, int] = {}
    elites: set[str] = set()
    over = 0
    for fact in facts:
        match fact:
            case EpisodeEnded(order=str(order), episode=episode) if episode.trajectory is not None:
                keys.setdefault(order.rpartition("/")[0], set()).add(episode.trajectory)
            case CandidateScored(candidate=candidate):
                scored[candidate.id] = candidate.generation
                shared = {episode.trajectory for episode in candidate.episodes if episode.trajectory is not None}
                keys.setdefault(candidate.id, set()).update(shared)
            case EliteChanged():
                elites.add(fact.candidate)
                over = max(over, fact.generation)
    done = {candidate for candidate, generation in scored.items() if generation <= over} - elites
    dropped = {key for owner in done for key in keys.get(owner, ())}
    kept = {key for owner, owned in keys.items() if owner not in done for key in owned}
    return frozenset(dropped - kept)
