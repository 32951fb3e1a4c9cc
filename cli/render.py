"""`memento render`: pictures of an episode, of a run's candidate or of a policy file."""

import asyncio
import json as json_lines
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from ..core.errors import UsageError, unknown
from ..core.ports import Renderer
from ..core.recording import Recording
from ..core.values import JSON
from ..memory.runs import find_run
from ..settings.evaluate import build_evaluate_settings
from .pictures import KINDS, Captioned, moments, pace, save_film, save_sheet

SIDE: Final = (16, 4096)        # of a picture, in pixels
SIZES: Final = {".mp4": (640, 480), ".gif": (480, 360), ".png": (640, 480)}
SHEET_SIZE: Final = (400, 300)
MAX_SHEET: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How an episode is to be shown; None for what was left to us."""

    out: Path
    camera: str | None
    size: str | None
    speed: float | None
    every: int | None
    at: str | None

    @property
    def kind(self) -> str:
        """The kind of file, ".mp4", ".gif" or ".png"."""
        return self.out.suffix.lower()


def render_episode(
    what: str, candidate: str | None, *, domain: str | None, flags: Mapping[str, JSON], assignments: Sequence[str],
    episode: int, seed: int | None, look: Look, runs_dir: Path, json: bool,
) -> None:
    """Draw one episode. Everything that can be refused is refused before anything is rolled out."""
    _check(look, episode, seed)
    from ..app import rendering

    if domain is None:
        if what.endswith(".py"):
            raise UsageError(f"{what} is a policy file: say in which domain it is to act, as in --domain hanoi")
        wanted = rendering.of_run(
            find_run(runs_dir, what), candidate, index=episode, seed=seed, flags=flags, assignments=assignments
        )
    else:
        if candidate is not None:
            raise UsageError(f"a policy file has no candidate {candidate!r}: leave it out, or --domain for a run")
        settings = build_evaluate_settings(
            Path(what), domain, flags=flags, assignments=assignments, episodes=1, seed=seed or 0,
            evaluator="reference", workers=1,
        )
        wanted = rendering.of_policy(
            settings.policy, domain, options=settings.options, index=episode, seed=settings.seed
        )
    renderer = rendering.renderer_of(wanted)
    if look.camera is not None and look.camera not in renderer.cameras:
        raise unknown("camera", look.camera, renderer.cameras)
    renderer.require()
    found = asyncio.run(rendering.fetch(wanted))
    typer.echo(f"memento: {wanted.title}, episode {episode}: {found.source}", err=True)
    shown = _draw(found.recording, renderer, look, title=f"{wanted.title} e{episode}")
    if json:
        typer.echo(json_lines.dumps({
            "file": str(look.out), "domain": wanted.domain, "episode": episode, "seed": wanted.seed,
            "steps": found.recording.steps, "source": found.source, "pictures": shown,
        }))
    else:
        typer.echo(str(look.out))


def _check(look: Look, episode: int, seed: int | None) -> None:
    if look.kind not in KINDS:
        raise UsageError(f"--out {look.out}: what kind of file? Let its name end in {', '.join(KINDS)}")
    if not look.out.parent.is_dir():
        raise UsageError(f"--out {look.out}: there is no folder {look.out.parent}")
    for name, number, least in (("--episode", episode, 0), ("--seed", seed, 0), ("--every", look.every, 1)):
        if number is not None and number < least:
            raise UsageError(f"{name} must be at least {least}, not {number}")
    if look.speed is not None and not 0.01 <= look.speed <= 10_000:
        raise UsageError(f"--speed must be from 0.01 to 10000, not {look.speed:g}")
    if look.kind == ".png" and look.speed is not None:
        raise UsageError("--speed has no effect on a PNG, which does not move: leave it out")
    if look.at is not None and look.kind != ".png":
        raise UsageError(f"--at is for one moment as a PNG: leave it out, or let --out end in .png, not {look.kind}")
    if look.at is not None and look.every is not None:
        raise UsageError("--at is one moment, --every a sheet of many: leave one out")
    _size(look)
    if look.at is not None:
        _row(look.at, None)


def _size(look: Look) -> tuple[int, int]:
    """Width and height of one picture, without its caption. Raises UsageError."""
    if look.size is None:
        return SHEET_SIZE if look.kind == ".png" and look.at is None else SIZES[look.kind]
    found = re.fullmatch(r"(\d{1,5})[xX](\d{1,5})", look.size.strip())
    sides = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(SIDE[0] <= side <= SIDE[1] for side in sides):
        raise UsageError(
            f"--size {look.size!r}: give width and height in pixels, each {SIDE[0]} to {SIDE[1]}, as in 640x480"
        )
    return sides


def _row(at: str, steps: int | None) -> int:
    """The row of a moment: a step, "start" or "end". Raises UsageError."""
    if at in ("start", "end"):
        return 0 if at == "start" else steps or 0
    if not at.isdecimal():
        raise UsageError(f"--at {at!r}: give a step, or start, or end")
    if steps is not None and int(at) > steps:
        raise UsageError(f"--at {at}: the episode has steps 0 to {steps}")
    return int(at)


def _draw(recording: Recording, renderer: Renderer, look: Look, *, title: str) -> int:
    """Write the file; returns how many pictures it has."""
    width, height = _size(look)
    camera = look.camera or renderer.cameras[0]
    rows: tuple[int, ...] = ()
    if look.at is not None:
        rows = (_row(look.at, recording.steps),)
    elif look.kind == ".png":
        rows = moments(recording.steps, look.every)
        if len(rows) > MAX_SHEET:
            raise UsageError(f"--every {look.every} gives {len(rows)} pictures on a sheet; at most {MAX_SHEET} fit")
    with closing(renderer.playback(recording, camera=camera, width=width, height=height)) as playback:
        captioned = Captioned(playback, title=title, steps=recording.steps)
        if rows:
            save_sheet(look.out, captioned, rows, progress=_progress(len(rows)))
            return len(rows)
        how = pace(look.kind, recording.steps, playback.step_s, speed=look.speed, every=look.every)
        save_film(look.out, captioned, how, progress=_progress(len(how.rows)))
        return len(how.rows)


def _progress(count: int) -> Callable[[int], None]:
    """Tells how many pictures are drawn, on a terminal only."""

    def tell(done: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == count else ""
            sys.stderr.write(f"\rmemento: picture {done} of {count}{end}")
            sys.stderr.flush()

    return tell
