"""`memento render`: an episode of a run's candidate, or of a policy file, as a film or a picture."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError, unknown
from . import completion, flags
from .look import Look
from .output import print_json, say

if TYPE_CHECKING:
    from ..app.rendering import Wanted
    from ..core.ports import Renderer
    from ..core.recording import Recording
    from ..core.values import JSON

EXAMPLE: Final = "memento render first --out elite.mp4"
MAX_SHEET: Final = 120           # pictures

Subject = Annotated[
    str,
    typer.Argument(metavar="RUN|POLICY.py", show_default=False, autocompletion=completion.runs,
                   help="A run: its name or its folder; or, with --domain, a policy file."),
]
Out = Annotated[
    Path, typer.Option(metavar="FILE", help="Ends in .mp4, .gif or .png; is replaced.", show_default=False)
]
Candidate = Annotated[
    str | None,
    typer.Argument(metavar="CANDIDATE", show_default=False, autocompletion=completion.candidates,
                   help="By default the elite; final/elite and final/initial: on held-out seeds."),
]
Domain = Annotated[
    str | None, typer.Option(metavar="DOMAIN", help="The domain of a policy file.", show_default=False,
                             autocompletion=completion.domains)
]
Episode = Annotated[int, typer.Option(metavar="K", help="Which episode of the candidate, from 0.")]
Camera = Annotated[
    str | None, typer.Option(metavar="NAME", help="Camera name; an unknown one lists the choices.", show_default=False)
]
At = Annotated[
    str | None,
    typer.Option(metavar="STEP", help="A PNG of one moment: a step, start or end; by default a sheet of moments."),
]
Size = Annotated[str | None, typer.Option(metavar="WxH", help="The size of one picture in pixels.")]
Speed = Annotated[
    float | None, typer.Option(metavar="X", help="Playback speed; by default chosen to fit into 30 s.")
]
Every = Annotated[int | None, typer.Option(metavar="N", help="Draw every N-th step.")]
Seed = Annotated[int | None, typer.Option(metavar="N", help="Roll out a new episode with this seed instead.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeChoice:
    """Which episode of a candidate: its index, or a new one with this seed."""

    index: int
    seed: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainChoice:
    """The domain of a policy file, None for a run's own, and the domain's options as given."""

    name: str | None
    options: "dict[str, JSON]"
    assignments: Sequence[str]


def render(
    run: Subject,
    out: Out,
    candidate: Candidate = None,
    domain: Domain = None,
    episode: Episode = 0,
    camera: Camera = None,
    at: At = None,
    size: Size = None,
    speed: Speed = None,
    every: Every = None,
    seed: Seed = None,
    variant: flags.Variant = None,
    randomisation: flags.Randomisation = None,
    scenes: flags.Scenes = None,
    assignments: flags.DomainSettings = None,
    runs: flags.Runs = flags.RUNS,
    as_json: flags.AsJson = False,
) -> None:
    """Draw an episode as a film or a picture."""
    flags.require_at_least("--episode", episode, 0)
    flags.require_at_least("--seed", seed, 0)
    look = Look(out=out, camera=camera, size=size, speed=speed, every=every, at=at)
    look.check()
    options = flags.domain_options(variant, randomisation, scenes)
    choice = EpisodeChoice(index=episode, seed=seed)
    task = DomainChoice(name=domain, options=options, assignments=assignments or ())
    wanted = _wanted(run, candidate, task=task, episode=choice, runs_dir=runs)
    _draw(wanted, look, as_json=as_json)


def _wanted(
    subject: str, candidate: str | None, *, task: DomainChoice, episode: EpisodeChoice, runs_dir: Path
) -> "Wanted":
    """What is to be drawn. Raises UsageError."""
    from ..app import rendering
    from ..memory.runs import find_run
    from ..settings.evaluate import build_evaluate_settings

    if task.name is None:
        if subject.endswith(".py"):
            raise UsageError(f"{subject} is a policy file: name its domain, as in --domain hanoi")
        return rendering.of_run(
            find_run(runs_dir, subject), candidate, index=episode.index, seed=episode.seed, flags=task.options,
            assignments=task.assignments,
        )
    if candidate is not None:
        raise UsageError(f"a policy file has no candidate {candidate!r}: omit it, or omit --domain for a run")
    settings = build_evaluate_settings(
        Path(subject), task.name, flags=task.options, assignments=task.assignments, episodes=1,
        seed=episode.seed or 0, evaluator="reference", workers=1,
    )
    return rendering.of_policy(
        settings.policy, task.name, options=settings.options, index=episode.index, seed=settings.seed
    )


def _draw(wanted: "Wanted", look: Look, *, as_json: bool) -> None:
    """Draw one episode. What can be refused is refused before anything is rolled out."""
    import asyncio

    from ..app import rendering

    renderer = rendering.renderer_of(wanted)
    if look.camera is not None and look.camera not in renderer.cameras:
        raise unknown("camera", look.camera, renderer.cameras)
    renderer.require()
    found = asyncio.run(rendering.fetch(wanted))
    say(f"{wanted.title}, episode {wanted.index}: {found.source}")
    pictures = _write(found.recording, renderer, look, title=f"{wanted.title} e{wanted.index}")
    if as_json:
        print_json({
            "file": str(look.out), "domain": wanted.domain, "episode": wanted.index, "seed": wanted.seed,
            "steps": found.recording.steps, "source": found.source, "pictures": pictures,
        })
    else:
        typer.echo(str(look.out))


def _write(recording: "Recording", renderer: "Renderer", look: Look, *, title: str) -> int:
    """Write the file; returns the number of its pictures. Raises UsageError."""
    from contextlib import closing

    from .episode_images import Captioned, pace, save_film, save_sheet

    width, height = look.pixels()
    rows = _sheet(look, recording.steps)
    camera = look.camera or renderer.cameras[0]
    with closing(renderer.stage(recording, camera=camera, width=width, height=height)) as stage:
        captioned = Captioned(stage, title=title, steps=recording.steps)
        if rows:
            save_sheet(look.out, captioned, rows, progress=_progress(len(rows)))
            return len(rows)
        how = pace(look.kind, recording.steps, stage.step_s, speed=look.speed, every=look.every)
        save_film(look.out, captioned, how, progress=_progress(len(how.rows)))
        return len(how.rows)


def _sheet(look: Look, steps: int) -> tuple[int, ...]:
    """The rows of a PNG: one moment, or a sheet of them; none for a film. Raises UsageError."""
    from .episode_images import moments

    if look.kind != ".png":
        return ()
    if look.at is not None:
        return (look.row(steps),)
    rows = moments(steps, look.every)
    if len(rows) > MAX_SHEET:
        raise UsageError(f"--every {look.every} gives {len(rows)} pictures on a sheet; at most {MAX_SHEET} fit")
    return rows


def _progress(count: int) -> Callable[[int], None]:
    """Shows how many of the pictures are drawn, on a terminal only."""

    def show(done: int) -> None:
        if sys.stderr.isatty():
            end = "\n" if done == count else ""
            sys.stderr.write(f"\rmemento: picture {done} of {count}{end}")
            sys.stderr.flush()

    return show
