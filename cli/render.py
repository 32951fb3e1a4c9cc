"""`memento render`: an episode of a run's candidate, or of a policy file, as a film or a picture."""

from pathlib import Path
from typing import Annotated, Final

import typer

from . import completion, flags
from .output import print_json, print_text

EXAMPLE: Final = "memento render first --out elite.mp4"

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
Salt = Annotated[
    str | None,
    typer.Option(metavar="HEX", help="With --seed: the salt of an evaluation, for the same episode.",
                 show_default=False),
]


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
    salt: Salt = None,
    variant: flags.Variant = None,
    randomisation: flags.Randomisation = None,
    scenes: flags.Scenes = None,
    assignments: flags.DomainSettings = None,
    trust: flags.Trust = False,
    runs: flags.Runs = flags.RUNS,
    as_json: flags.AsJson = False,
) -> None:
    """Draw an episode as a film or a picture."""
    from .drawing import DomainChoice, EpisodeChoice, draw, wanted_episode
    from .look import Look

    look = Look(out=out, camera=camera, size=size, speed=speed, every=every, at=at)
    look.check()
    chosen = EpisodeChoice(index=episode, given=seed, salt=salt)
    chosen.check()
    options = flags.domain_options(variant, randomisation, scenes)
    task = DomainChoice(name=domain, options=options, assignments=assignments or (), trusted=trust)
    wanted = wanted_episode(run, candidate, task=task, episode=chosen, runs_dir=runs)
    drawn = draw(wanted, look)
    if as_json:
        print_json(drawn)
    else:
        print_text(str(out))
