"""`memento run`: a new run, or a finished one repeated from its recorded replies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from . import completion, flags

if TYPE_CHECKING:
    from ..core.values import JSON

EXAMPLE: Final = "memento run hanoi-kinematic --preset smoke --name first"

Domain = Annotated[
    str | None,
    typer.Argument(metavar="DOMAIN", show_default=False, autocompletion=completion.domains,
                   help="The task: {tasks}, or PACKAGE.MODULE:ATTRIBUTE for your own."),
]
Preset = Annotated[
    str | None,
    typer.Option(metavar="NAME", autocompletion=completion.presets,
                 help="The size of the search: {presets}; by default quick."),
]
Method = Annotated[
    str | None,
    typer.Option(metavar="NAME", autocompletion=completion.methods, help="The search method: {methods}."),
]
Model = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The model that writes programs: see `memento models`.")
]
EvaluatorModel = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The model that writes evaluators; by default that of --model.")
]
Judge = Annotated[
    list[str] | None, typer.Option(metavar="MODEL", help="The model of a judge; repeat the flag to mix models.")
]
Critic = Annotated[
    str | None, typer.Option(metavar="MODEL", help="The model of a critic, which looks at pictures of episodes.")
]
Evaluator = Annotated[
    str | None, typer.Option(metavar="NAME|FILE", help="The evaluator: {evaluators}, or a Python file.")
]
Initial = Annotated[str | None, typer.Option(metavar="FILE", help="The policy to start from.")]
Prompts = Annotated[
    str | None, typer.Option(metavar="DIR", help="A folder of prompts that replace those of MEMENTO by file name.")
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="The seed of all randomness, with the run's salt; --set salt=none: alone."),
]
Scenes = Annotated[str | None, typer.Option(metavar="A,B", help="The scenes to search in, if the domain has scenes.")]
Replay = Annotated[
    str | None,
    typer.Option(metavar="RUN|FILE", help="Repeat a finished run from its recorded replies, without calling a model."),
]
ReplayLoosely = Annotated[
    bool,
    typer.Option("--replay-loosely", help="With --replay: go on by order where a prompt has changed since."),
]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="The name of the run; by default domain, time and a tag.")
]
Config = Annotated[Path | None, typer.Option(metavar="FILE.toml", help="A file of settings.")]
Estimate = Annotated[
    bool, typer.Option("--estimate", help="Print the calls, tokens and dollars of the run as a range, and run nothing.")
]
Tui = Annotated[bool, typer.Option("--tui", help="Follow the run in the terminal UI; closing it leaves the run alive.")]


def run(
    context: typer.Context,
    domain: Domain = None,
    preset: Preset = None,
    method: Method = None,
    model: Model = None,
    evaluator_model: EvaluatorModel = None,
    judge: Judge = None,
    critic: Critic = None,
    evaluator: Evaluator = None,
    initial: Initial = None,
    prompts: Prompts = None,
    seed: Seed = None,
    scenes: Scenes = None,
    domain_python: flags.DomainPython = None,
    env: flags.Env = None,
    workers: flags.Workers = None,
    cluster: flags.Cluster = None,
    mixed_nodes: flags.MixedNodes = False,
    budget_calls: flags.BudgetCalls = None,
    budget_tokens: flags.BudgetTokens = None,
    budget_usd: flags.BudgetUsd = None,
    budget_wall_s: flags.BudgetWall = None,
    budget_episodes: flags.BudgetEpisodes = None,
    replay: Replay = None,
    replay_loosely: ReplayLoosely = False,
    require_sandbox: flags.RequireSandbox = False,
    trust: flags.Trust = False,
    yes: flags.Yes = False,
    runs: flags.Runs = flags.RUNS,
    name: Name = None,
    config: Config = None,
    assignments: flags.Settings = None,
    status_port: flags.StatusPort = None,
    status_host: flags.StatusHost = None,
    display: flags.Display = flags.DisplayKind.RICH,
    tui: Tui = False,
    only_estimate: Estimate = False,
    as_json: flags.AsJson = False,
) -> None:
    """Evolve an evaluator, then a policy."""
    from .execution import StatusOptions
    from .new_run import Place, RunArguments, Showing, start

    given: dict[str, JSON] = {
        "domain": domain, "preset": preset, "method": method, "model": model, "judges": [*judge] if judge else None,
        "evaluator_model": evaluator_model, "evaluator": evaluator, "initial": initial, "prompts": prompts,
        "seed": seed, "workers": workers if cluster is None else None, "require_sandbox": require_sandbox or None,
        "budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd,
        "budget_wall_s": budget_wall_s, "budget_episodes": budget_episodes, "critic": critic,
        "env": [*env] if env else None,
    }
    of_domain = {"scenes": scenes, "python": domain_python}
    options = [f"options.{name}={value}" for name, value in of_domain.items() if value is not None]
    start(
        RunArguments(flags=given, assignments=[*(assignments or ()), *options], config=config),
        replay=replay,
        loosely=replay_loosely,
        trust=trust,
        place=Place(
            runs_dir=runs, name=name, cluster=flags.cluster_at(cluster, workers, mixed=mixed_nodes), yes=yes
        ),
        showing=Showing(
            display=display, status=StatusOptions(port=status_port, host=status_host), as_json=as_json,
            command_line=context.find_root().obj if tui else None, only_estimate=only_estimate,
        ),
    )
