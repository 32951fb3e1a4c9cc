"""Draws one episode for `memento render`: loads it or rolls it out, and writes the film or the picture."""

import asyncio
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..app import rendering
from ..app.picture_files import moments, pace, save_film, save_sheet
from ..app.rendering import WantedEpisode
from ..core.errors import UsageError, no_such
from ..core.ports import Renderer
from ..core.recording import Recording
from ..core.seeds import UNSALTED, salted_seed
from ..core.text import credible
from ..core.values import JSON
from ..memory.runs import find_run
from ..runtime.pictures import Captioned
from ..settings.evaluate import build_evaluate_settings
from ..settings.model import SALT_PATTERN
from ..tui.words import coarse
from .flags import require_at_least
from .look import Look
from .output import say

MAX_SHEET: Final = 120           # pictures
LINE_EVERY_S: Final = 10.0       # between two lines on the pictures drawn, in a pipe
LEAST_LEFT_S: Final = 5.0        # less is not worth a word


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeChoice:
    """Which episode of a candidate: its index, or a new one with this seed, mixed with a salt as in an evaluation."""

    index: int
    given: int | None
    salt: str | None = None

    @property
    def seed(self) -> int | None:
        """The seed of a new episode; None for one of the candidate's own."""
        return None if self.given is None else salted_seed(self.given, self.salt)

    def check(self) -> None:
        """Raise UsageError for a negative number, a salt that is none, or one without a seed."""
        require_at_least("--episode", self.index, 0)
        require_at_least("--seed", self.given, 0)
        if self.salt is not None and self.given is None:
            raise UsageError("--salt has no effect without --seed: add --seed N, as the evaluation printed it")
        if self.salt is not None and re.fullmatch(SALT_PATTERN, self.salt) is None:
            raise UsageError(f"--salt is 32 hexadecimal digits or none, not {self.salt!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainChoice:
    """The domain of a policy file, None for a run's own, and the domain's options as given."""

    name: str | None
    options: Mapping[str, JSON]
    assignments: Sequence[str]
    trusted: bool = False           # a run from elsewhere may import or start what it names


def wanted_episode(
    subject: str, candidate: str | None, *, task: DomainChoice, episode: EpisodeChoice, runs_dir: Path
) -> WantedEpisode:
    """The episode of a run's candidate or of a policy file. Raises UsageError."""
    if task.name is None:
        if subject.endswith(".py"):
            raise UsageError(f"{subject} is a policy file: name its domain, as in --domain hanoi")
        return rendering.of_run(
            find_run(runs_dir, subject), candidate, index=episode.index, seed=episode.seed, flags=task.options,
            assignments=task.assignments, trusted=task.trusted,
        )
    if candidate is not None:
        raise UsageError(f"a policy file has no candidate {candidate!r}: omit it, or for a run omit --domain")
    settings = build_evaluate_settings(
        Path(subject), task.name, flags=task.options, assignments=task.assignments, episodes=1,
        seed=episode.seed or 0, salt=UNSALTED, evaluator="reference", workers=1,
    )
    return rendering.of_policy(
        settings.policy, task.name, options=settings.options, index=episode.index, seed=settings.seed
    )


def draw(wanted: WantedEpisode, look: Look) -> dict[str, JSON]:
    """Draw an episode; returns the object for `--json`. Raises UsageError, where possible before a rollout."""
    renderer = rendering.renderer_of(wanted)
    if look.camera is not None and look.camera not in renderer.cameras:
        raise no_such("camera", look.camera, renderer.cameras)
    renderer.require()
    found = asyncio.run(rendering.fetch(wanted))
    say(f"{wanted.title}, episode {wanted.index}: {found.source}")
    with rendering.drawing(found):
        pictures = write(found.recording, renderer, look, title=f"{wanted.title} e{wanted.index}")
    return {
        "file": str(look.out), "domain": wanted.domain, "episode": wanted.index, "seed": wanted.seed,
        "steps": found.recording.steps, "source": found.source, "pictures": pictures,
    }


def write(recording: Recording, renderer: Renderer, look: Look, *, title: str) -> int:
    """Draw a recording into the file; returns the number of its pictures. Raises UsageError."""
    width, height = look.pixels()
    rows = _sheet(look, recording.steps)
    camera = look.camera or renderer.cameras[0]
    with closing(renderer.playback(recording, camera=camera, width=width, height=height)) as playback:
        captioned = Captioned(playback, title=title, steps=recording.steps)
        if rows:
            save_sheet(look.out, captioned, rows, progress=drawing_progress(len(rows), look.out))
            return len(rows)
        how = pace(look.kind, recording.steps, playback.step_s, speed=look.speed, every=look.every)
        save_film(look.out, captioned, how, progress=drawing_progress(len(how.rows), look.out))
        return len(how.rows)


def _sheet(look: Look, steps: int) -> tuple[int, ...]:
    """The rows of a PNG: one moment, or a sheet of them; none for a film. Raises UsageError."""
    if look.kind != ".png":
        return ()
    if look.at is not None:
        return (look.row(steps),)
    rows = moments(steps, look.every)
    if len(rows) > MAX_SHEET:
        raise UsageError(f"--every {look.every} gives {len(rows)} pictures on a sheet; at most {MAX_SHEET} fit")
    return rows


def drawing_progress(
    count: int, file: Path, *, clock: Callable[[], float] = time.monotonic
) -> Callable[[int], None]:
    """Shows how many of `count` pictures are drawn: in place on a terminal, else a line every 10 s.

    The time left is what the pictures so far took. Writing the file comes after the last picture, and is named.
    """
    began = shown = clock()

    def show(done: int) -> None:
        nonlocal shown
        now = clock()
        left = credible((now - began) / done * (count - done), measured_s=now - began) or 0.0
        words = f"picture {done} of {count}" + (f", about {coarse(left)} left" if left >= LEAST_LEFT_S else "")
        if sys.stderr.isatty():
            with suppress(OSError, ValueError):
                last = f"; writing {file.name}\n" if done == count else ""
                sys.stderr.write(f"\r\x1b[Kmemento: {words}{last}")
                sys.stderr.flush()
        elif now - shown >= LINE_EVERY_S:
            shown = now
            say(words)

    return show
