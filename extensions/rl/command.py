"""`memento baseline`: trains a learned baseline and measures it as a search is measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...cli import flags
from ...cli.typer_classes import CONTEXT, Command, CommandGroup

if TYPE_CHECKING:
    from ...core.ports import Clock

EXAMPLE: Final = "memento baseline sac-her --domain hanoi --reward sparse --steps 300000 --environments 2"

baseline = typer.Typer(
    help="Train a baseline by reinforcement learning.", cls=CommandGroup, rich_markup_mode=None,
    context_settings=CONTEXT, add_completion=False, epilog=f"Example: {EXAMPLE}",
)

Domain = Annotated[
    str, typer.Option(metavar="DOMAIN", show_default=False,
                      help="The task: hanoi, hanoi-kinematic, or gym: and a goal environment."),
]
Steps = Annotated[int, typer.Option(metavar="N", show_default=False, help="The steps of the training.")]
Reward = Annotated[str | None, typer.Option(metavar="sparse|dense", help="The reward of a tower; by default sparse.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of the training.")]
Environments = Annotated[
    int, typer.Option(metavar="N", help="Environments at once; their number is part of the result.")
]
Processes = Annotated[
    int, typer.Option(metavar="N", help="Processes that share the environments; 1 is the trainer's own.")
]
Checkpoint = Annotated[int, typer.Option(metavar="N", help="The steps between two checkpoints.")]
EvaluateEvery = Annotated[
    int | None,
    typer.Option(metavar="N", help="The steps between two evaluations; by default a million, or a tenth if that is"
                                   " less; 0 for none."),
]
Episodes = Annotated[int, typer.Option(metavar="N", help="The unseen episodes of the final measure.")]
MeasureSeed = Annotated[int, typer.Option(metavar="N", help="Their seed, as in `memento evaluate --seed`.")]
Salt = Annotated[
    str | None,
    typer.Option(metavar="HEX", envvar="MEMENTO_SALT", show_envvar=False,
                 help="Their salt, for the episodes of an earlier evaluation; by default a new one."),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="The name of the run; by default method, domain and time.")
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE",
                 help="An option of the domain (hanoi.KEY), of the training alone (train.KEY), or a hyperparameter"
                      " (sac.KEY)."),
]


@baseline.callback()
def baseline_group() -> None:
    """Without a callback Typer would make the only command the group itself."""


@baseline.command("sac-her", cls=Command, epilog=f"Example: {EXAMPLE}")
def sac_her(
    domain: Domain,
    steps: Steps,
    reward: Reward = None,
    variant: flags.Variant = None,
    randomisation: flags.Randomisation = None,
    seed: Seed = 0,
    environments: Environments = 1,
    processes: Processes = 1,
    checkpoint: Checkpoint = 50_000,
    evaluate_every: EvaluateEvery = None,
    episodes: Episodes = 10,
    measure_seed: MeasureSeed = 0,
    salt: Salt = None,
    assignments: Assignments = None,
    runs: flags.Runs = flags.RUNS,
    name: Name = None,
    as_json: flags.AsJson = False,
) -> None:
    """Train SAC with hindsight on a goal environment; then measure it on unseen episodes."""
    from ...cli.output import say
    from ...core.seeds import new_salt
    from ...runtime.clock import SystemClock
    from .run import begin
    from .settings import BaselineArguments, build

    settings = build(BaselineArguments(
        domain=domain, steps=steps, seed=seed, salt=salt or new_salt(), assignments=assignments or (), reward=reward,
        flags=flags.domain_options(variant, randomisation, None), environments=environments, processes=processes,
        checkpoint=checkpoint, episodes=episodes, measure_seed=measure_seed, evaluate_every=evaluate_every,
    ))
    clock = SystemClock()
    folder = begin(settings, runs, name, clock)
    say(f"{folder}; to continue it after an interruption: memento resume {folder}")
    continue_baseline(folder, clock, as_json=as_json)


def continue_baseline(folder: Path, clock: "Clock", *, as_json: bool, trust: bool = False) -> None:
    """Train and measure from where the run is, and print its result. After a signal, raises typer.Exit(130)."""
    from ...cli.execution import INTERRUPTED, stop_requests
    from ...cli.output import print_json, print_text, say
    from ...evidence.baseline_rows import EvaluationPoint
    from .command_text import describe_baseline
    from .log import TrainingProgress, read_record
    from .pace import line_of, point_line
    from .results import result_of
    from .run import work

    known = read_record(folder)
    seen = [*known.progress]

    def report(now: TrainingProgress | EvaluationPoint) -> None:
        if isinstance(now, EvaluationPoint):
            say(f"evaluated {point_line(now)}")
            return
        seen.append(now)
        say(line_of(seen, steps=int(known.settings["steps"])))

    def play(number: int, count: int) -> None:
        say(f"plays unseen episode {number} of {count}")

    with stop_requests() as stopped:
        record = work(folder, clock, report=report, play=play, stopped=stopped, trusted=trust)
    if record.result is None:
        say(f"stopped, nothing is lost; continue with: memento resume {folder}")
        raise typer.Exit(INTERRUPTED)
    if as_json:
        print_json(result_of(record))
    else:
        print_text(describe_baseline(record))
