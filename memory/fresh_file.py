"""The file of the fresh episodes of `memento rank`, in a run's folder: `rank.jsonl`.

A first line names the run by a digest, then comes one line per episode, on the disk before the next one begins. A kill
can cut the last line off; it is dropped. Each line is signed by the installation that rolled the episode out: one that
another wrote or changed does not count, and the episode is rolled out again.
"""

import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, Final

from ..core.errors import RunRefused, StoreError, os_problem
from ..core.events import RunStarted
from ..core.files import open_regular
from .origin import is_signature_of, signature_of

FILE: Final = "rank.jsonl"
SIGNED: Final = "signed"    # the field of a line's signature
LARGEST: Final = 2**28      # bytes
_FORMAT: Final = 1
_TEXT: Final = 4_000        # characters of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshEpisode:
    """One episode of a program that no search has seen.

    `under` digests what else its figures depend on: the evaluators and the versions. `fitness` is f_e under the run's
    evaluator, `reference` under the domain's, if that is another one; `success` and `episode_return` are None where the
    task has none; `error` is the fault of the policy or an evaluator.
    """

    program: str        # SHA-256 of its text
    under: str
    index: int
    seed: int
    steps: int
    ended_by: str
    fitness: float
    reference: float | None
    success: bool | None
    episode_return: float | None
    error: str | None


Key = tuple[str, str, int, int]


def key_of(episode: FreshEpisode) -> Key:
    """What makes an episode another one: program, circumstances, index and seed."""
    return episode.program, episode.under, episode.index, episode.seed


def digest_of(started: RunStarted) -> str:
    """SHA-256 of how a run began; its salt makes it unique."""
    text = json.dumps([started.settings, started.versions], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class FreshEpisodes:
    """The file, open and locked: what it holds, and room for more."""

    def __init__(self, path: Path, file: IO[bytes], run: str) -> None:
        self._path, self._file, self._run = path, file, run
        self.known: dict[Key, FreshEpisode] = {}
        self._read(run)

    def add(self, episode: FreshEpisode) -> None:
        """Append an episode, on the disk when this returns. Raises StoreError."""
        values = asdict(episode)
        self._append({**values, SIGNED: signature_of({"run": self._run, **values})})
        self.known[key_of(episode)] = episode

    def _read(self, run: str) -> None:
        data = self._file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise self._unusable(f"is larger than {LARGEST / 1e6:.0f} MB")
        *lines, cut = data.split(b"\n")
        header = {"what": "rank", "format": _FORMAT, "run": run}
        beginning = json.dumps({"what": "rank"})[:-1].encode()
        if not lines and not (beginning.startswith(cut) or cut.startswith(beginning)):
            raise self._unusable("is damaged: it has no first line")
        if lines:
            self._check(lines[0], header)
        for number, line in enumerate(lines[1:], start=2):
            try:
                found = json.loads(line)
                signed = found.pop(SIGNED, None) if isinstance(found, dict) else None
                episode = _episode_of(found)
            except (ValueError, TypeError, OverflowError, RecursionError):
                raise self._unusable(f"is damaged in line {number}") from None
            if is_signature_of(signed, {"run": run, **asdict(episode)}):
                self.known[key_of(episode)] = episode
        if cut:
            self._file.truncate(len(data) - len(cut))
        if not lines:
            self._append(header)

    def _check(self, line: bytes, header: Mapping[str, Any]) -> None:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise self._unusable("is damaged in line 1") from None
        if not isinstance(found, dict) or found.get("what") != "rank" or found.get("format") != _FORMAT:
            raise self._unusable("is not a file of `memento rank`, or one of another version")
        if found != header:
            raise self._unusable("belongs to another run")

    def _append(self, values: Mapping[str, Any]) -> None:
        try:
            self._file.write(json.dumps(values, allow_nan=False).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise StoreError(f"{self._path} cannot be written: {os_problem(error)}") from error

    def _unusable(self, why: str) -> StoreError:
        return StoreError(f"{self._path} {why}: delete it, and its episodes are rolled out again")


@contextmanager
def fresh_episodes(folder: Path, run: str) -> Iterator[FreshEpisodes]:
    """The file in the folder of a run with this digest, made where there is none.

    Raises StoreError for a file that is damaged, of another run or cannot be written, and RunRefused while another
    process has it open.
    """
    path = folder / FILE
    try:
        descriptor = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {os_problem(error)}; memento rank keeps its episodes there"
        ) from error
    with os.fdopen(descriptor, "r+b") as file:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RunRefused(f"another memento rank works on {folder.name!r}: wait for its end, or stop it") from None
        yield FreshEpisodes(path, file, run)


def _episode_of(found: Any) -> FreshEpisode:
    """The episode of a line. Raises ValueError, TypeError and OverflowError."""
    if not isinstance(found, dict) or found.keys() != {each.name for each in fields(FreshEpisode)}:
        raise ValueError("other fields")
    episode = FreshEpisode(**found)
    whole = (episode.index, episode.seed, episode.steps)
    numbers = (episode.fitness, *(each for each in (episode.reference, episode.episode_return) if each is not None))
    texts = (episode.program, episode.under, episode.ended_by, *([] if episode.error is None else [episode.error]))
    if not all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in whole):
        raise ValueError("not a count")
    if any(isinstance(each, bool) or not math.isfinite(each) for each in numbers):
        raise ValueError("not a number")
    if not all(0 <= each <= 1 for each in (episode.fitness, episode.reference or 0)):
        raise ValueError("not a fitness")
    if not all(isinstance(each, str) and len(each) <= _TEXT for each in texts):
        raise ValueError("not a text")
    if not isinstance(episode.success, bool | None):
        raise ValueError("not a verdict")
    return episode
