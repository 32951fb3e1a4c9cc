"""`memento evaluate`: a policy file, rolled out."""

from pathlib import Path
from typing import Annotated, Final

import typer

from . import completion, flags

EXAMPLE: Final = "memento evaluate elite.py --domain hanoi --episodes 5"

Policy = Annotated[Path, typer.Argument(help="A policy file.", metavar="POLICY.py", show_default=False)]
Domain = Annotated[
    str, typer.Option(metavar="DOMAIN", help="The task: {tasks}.", show_default=False,
                      autocompletion=completion.domains),
]
Episodes = Annotated[int, typer.Option(metavar="N", help="The number of episodes.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of the first episode; it counts up from there.")]
Salt = Annotated[
    str | None,
    typer.Option(metavar="HEX", envvar="MEMENTO_SALT", show_envvar=False,
                 help="The salt of an earlier evaluation, for the same episodes; by default a new one."),
]
Evaluator = Annotated[str, typer.Option(metavar="reference|FILE", help="The evaluator: reference, or a Python file.")]

Verbose = Annotated[
    bool, typer.Option("--verbose", help="Show the stages, report, printed lines and traceback of every episode.")
]
ALL_FAULTED: Final = 1      # the exit code


def evaluate(
    policy: Policy,
    domain: Domain,
    variant: flags.Variant = None,
    randomisation: flags.Randomisation = None,
    scenes: flags.Scenes = None,
    domain_python: flags.DomainPython = None,
    env: flags.Env = None,
    episodes: Episodes = 10,
    seed: Seed = 0,
    salt: Salt = None,
    evaluator: Evaluator = "reference",
    workers: flags.Workers = None,
    step_limit_ms: flags.StepLimit = None,
    cluster: flags.Cluster = None,
    mixed_nodes: flags.MixedNodes = False,
    assignments: flags.DomainSettings = None,
    yes: flags.Yes = False,
    verbose: Verbose = False,
    as_json: flags.AsJson = False,
) -> None:
    """Roll out a policy file and report its success and fitness.

    The exit code is 1 if every episode failed.
    """
    from .. import app
    from ..core.variables import pass_also
    from ..settings.evaluate import build_evaluate_settings
    from .execution import execute
    from .output import print_json_line, print_text
    from .result_text import describe_evaluation

    pass_also(env or (), origin="--env")
    flags.confirm_workers(workers, cluster=cluster is not None, yes=yes)
    settings = build_evaluate_settings(
        policy, domain, flags=flags.domain_options(variant, randomisation, scenes, domain_python),
        assignments=assignments or (), episodes=episodes, seed=seed, salt=salt or app.new_salt(), evaluator=evaluator,
        workers=workers if cluster is None else None, step_limit_ms=step_limit_ms,
    )
    result = execute(app.evaluate(settings, cluster=flags.cluster_at(cluster, workers, mixed=mixed_nodes)))
    if as_json:
        print_json_line(result.line())
    else:
        print_text(describe_evaluation(result, verbose=verbose))
    if result.all_faulted:
        raise typer.Exit(ALL_FAULTED)
