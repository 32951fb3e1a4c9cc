"""`memento compare`: methods × seeds at an equal budget."""

from typing import Annotated, Final

import typer

from ..core.extras import require
from . import completion, flags
from .flags import DisplayKind

EXAMPLE: Final = "memento compare main --domain hanoi --seeds 1-3"

ExperimentName = Annotated[
    str | None,
    typer.Argument(metavar="EXPERIMENT", show_default=False, autocompletion=completion.experiments,
                   help="An experiment ({experiments}), a TOML file, or a comparison to continue."),
]
Domains = Annotated[
    list[str] | None,
    typer.Option(metavar="DOMAIN", autocompletion=completion.domains, help="A domain: {tasks}; repeat the flag."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", autocompletion=completion.methods,
                 help="A search method: {methods}; repeat the flag."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(metavar="MODEL", help="The model that writes programs; repeat the flag to compare models."),
]
Seeds = Annotated[
    str | None,
    typer.Option(metavar="1-10", help="The seeds, common to all methods, such as 1-10 or 3,5; 2 is that seed alone."),
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", autocompletion=completion.presets, help="The size of each run: {presets}."),
]
Evaluator = Annotated[
    str | None,
    typer.Option(metavar="NAME|FILE",
                 help="The evaluator: {evaluators}, or a Python file. With evolve it is evolved once per seed and"
                 " shared by the methods."),
]
Initial = Annotated[str | None, typer.Option(metavar="FILE", help="The policy that all runs start from.")]
Episodes = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Held-out episodes of each final measure.")
]
Jobs = Annotated[int | None, typer.Option(metavar="N", help="Parallel runs; by default one per processor.")]
Workers = Annotated[int | None, typer.Option(metavar="N", help="Parallel rollouts in each run; by default one.")]
NoMeasure = Annotated[bool, typer.Option("--no-measure", help="Leave the final measures for later.")]
Estimate = Annotated[
    bool,
    typer.Option("--estimate", help="Print the calls, tokens and dollars of the runs as a range, and run nothing."),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="The name of the comparison; by default that of the experiment.")
]


def compare(
    experiment: ExperimentName = None,
    domain: Domains = None,
    method: Methods = None,
    model: Models = None,
    seeds: Seeds = None,
    preset: Preset = None,
    evaluator: Evaluator = None,
    initial: Initial = None,
    episodes: Episodes = None,
    jobs: Jobs = None,
    workers: Workers = None,
    cluster: flags.Cluster = None,
    mixed_nodes: flags.MixedNodes = False,
    no_measure: NoMeasure = False,
    runs: flags.Runs = flags.RUNS,
    name: Name = None,
    assignments: flags.Settings = None,
    trust: flags.Trust = False,
    display: flags.Display = DisplayKind.RICH,
    as_json: flags.AsJson = False,
    only_estimate: Estimate = False,
) -> None:
    """Compare methods on common seeds, each from the same p_0 under the same evaluator. Run it again to continue."""
    require("compare", "memento compare")
    from ..evidence.comparing import default_effort
    from ..settings import parse_assignments
    from .comparison import carry_out
    from .comparison_plan import Changes, plan
    from .estimates import show_estimates

    flags.require_at_least("--jobs", jobs, 1)
    flags.require_at_least("--workers", workers, 1)
    changes = Changes(
        domains=domain or (), methods=method or (), models=model or (), seeds=seeds, preset=preset,
        evaluator=evaluator, initial=initial, episodes=episodes,
        settings={key: entry.value for key, entry in parse_assignments(assignments or ()).items()},
    )
    planned = plan(experiment, changes, runs_dir=runs, name=name, keys=not only_estimate, trusted=trust)
    if only_estimate:
        show_estimates(planned, as_json=as_json, runs_dir=runs)
        return
    flags.cluster_at(cluster, workers, mixed=mixed_nodes)
    effort = default_effort(
        jobs=jobs, workers=workers, measure=not no_measure, cluster=cluster, mixed=mixed_nodes, trust=trust
    )
    raise typer.Exit(carry_out(planned, effort, display=display, as_json=as_json))
