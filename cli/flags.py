"""Flags and arguments that several commands share. A command's own flags are in its module.

Placeholders in braces in a help text become choices, see `command.Command`.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError
from . import completion

if TYPE_CHECKING:
    from ..app import Cluster as ClusterAddress
    from ..core.values import JSON

RUNS: Final = Path("runs")      # the folder of runs without --runs


class DisplayKind(StrEnum):
    """How a run shows its progress, on stderr."""

    RICH = "rich"
    PLAIN = "plain"
    NONE = "none"


Run = Annotated[
    str,
    typer.Argument(help="A run: its name or its folder.", metavar="RUN", show_default=False,
                   autocompletion=completion.runs),
]
Runs = Annotated[
    Path, typer.Option("--runs", metavar="DIR", envvar="MEMENTO_RUNS", help="The folder that holds the runs.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE",
                 help="A setting, or an option of the domain such as hanoi.goal_update=achieved."),
]
Display = Annotated[
    DisplayKind,
    typer.Option("--display", metavar="|".join(DisplayKind), envvar="MEMENTO_DISPLAY",
                 help="How progress is shown on stderr; rich needs a terminal, otherwise plain is used."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]
MOST_ON_CLUSTER: Final = 16_384     # rollouts at once on all nodes; one controller is busy long before
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Parallel rollouts; changes the time, never the result.")
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Roll out on a Ray cluster: auto, HOST:PORT or ray://HOST:PORT."),
]
MixedNodes = Annotated[
    bool, typer.Option("--mixed-nodes", help="Allow nodes of a cluster whose episodes differ in the last bits.")
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Accept what is from elsewhere, and would import, start or contact something.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Start far more workers than this machine has processors.")]
MOST_PER_CPU: Final = 16        # workers per processor without a question: each is a process with a simulator
RequireSandbox = Annotated[
    bool, typer.Option("--require-sandbox", help="Refuse to run where programs cannot be isolated.")
]

BudgetCalls = Annotated[int | None, typer.Option(metavar="N", help="Stop cleanly after N model calls.")]
BudgetTokens = Annotated[int | None, typer.Option(metavar="N", help="Stop cleanly after N tokens.")]
BudgetUsd = Annotated[float | None, typer.Option(metavar="USD", help="Stop cleanly after this much money.")]
BudgetEpisodes = Annotated[
    int | None, typer.Option(metavar="N", help="Search within N episodes, then measure the result.")
]
BudgetWall = Annotated[float | None, typer.Option(metavar="S", help="Stop cleanly after S seconds.")]

StatusPort = Annotated[
    int | None,
    typer.Option(min=0, max=65535, metavar="PORT", help="Serve /status, /facts and /metrics; 0 takes any free port."),
]
StatusHost = Annotated[
    str | None, typer.Option(metavar="HOST", help="The address to serve the status at; by default this machine only.")
]

Variant = Annotated[str | None, typer.Option(metavar="NAME", help="A variant of the task.")]
Randomisation = Annotated[
    str | None, typer.Option(metavar="NAME", help="How episodes differ: {randomisations}.")
]
Scenes = Annotated[str | None, typer.Option(metavar="A,B", help="The scenes to play in, if the domain has scenes.")]
DomainSettings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="DOMAIN.KEY=VALUE", help="An option of the domain: see `memento domains DOMAIN`."),
]


DomainPython = Annotated[
    str | None,
    typer.Option("--domain-python", metavar="PATH",
                 help="The Python that has the environment of a gym: task installed, if it is another one."),
]
Env = Annotated[
    list[str] | None,
    typer.Option("--env", metavar="NAME",
                 help="A variable of the environment, by its name, that simulators get besides the usual ones."),
]
StepLimit = Annotated[
    str | None,
    typer.Option("--step-limit-ms", metavar="MS|real-time",
                 help="The CPU time of a call of the policy above which an episode fails; real-time: a control step."),
]


def domain_options(
    variant: str | None, randomisation: str | None, scenes: str | None, python: str | None = None
) -> "dict[str, JSON]":
    """The options of a domain that have a flag, by name; None for a flag that was not given."""
    return {
        "variant": variant,
        "randomisation": randomisation,
        "scenes": None if scenes is None else [scene.strip() for scene in scenes.split(",")],
        "python": python,
    }


def require_at_least(flag: str, value: float | None, least: int) -> None:
    """Raise UsageError for a number below the least. None is a flag that was not given."""
    if value is not None and value < least:
        raise UsageError(f"{flag} must be at least {least}, not {value}")


def cluster_at(address: str | None, workers: int | None, *, mixed: bool) -> "ClusterAddress | None":
    """The cluster at a given address, with at most `workers` rollouts at once. Raises UsageError."""
    if address is None:
        if mixed:
            raise UsageError("--mixed-nodes has no effect without --cluster: leave it out")
        return None
    from ..app.cluster import Cluster as ClusterAddress
    from ..app.cluster import service_of

    service_of(address).require(address)
    require_at_least("--workers", workers, 1)
    if workers is not None and workers > MOST_ON_CLUSTER:
        raise UsageError(f"--workers must be at most {MOST_ON_CLUSTER} on a cluster, not {workers}")
    return ClusterAddress(address=address, workers=workers, mixed=mixed)


def confirm_workers(workers: int | None, *, cluster: bool, yes: bool) -> None:
    """Ask before far more workers start than this machine has processors; nothing on a cluster.

    Raises UsageError where nobody can answer, and typer.Abort for the answer no.
    """
    from ..settings import usable_cpus

    cpus = usable_cpus()
    if yes or cluster or workers is None or workers <= MOST_PER_CPU * cpus:
        return
    what = f"{workers} workers are as many processes with a simulator, and {cpus} processors can be used here"
    if not sys.stdin.isatty():
        raise UsageError(f"{what}: use --workers {cpus}, or add --yes")
    typer.confirm(f"{what}. Start them?", abort=True, err=True)
