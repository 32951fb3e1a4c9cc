"""Every command with its flags. The work is done elsewhere, and imported when a command is called."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import completion as completing
from .kitchen import kitchen_commands

if TYPE_CHECKING:
    from ..core.values import JSON

commands = typer.Typer(
    help="Evolves executable robot policies with language models.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
commands.add_typer(kitchen_commands, name="kitchen", epilog="Example: memento kitchen record FloorPlan1 --out kitchens")


class DisplayKind(StrEnum):
    """How a run tells what it does, on stderr."""

    RICH = "rich"
    PLAIN = "plain"
    NONE = "none"


Run = Annotated[
    str,
    typer.Argument(
        help="A run: its name, or its folder.", metavar="RUN", show_default=False, autocompletion=completing.runs
    ),
]
Runs = Annotated[Path, typer.Option("--runs", envvar="MEMENTO_RUNS", help="The folder that holds the runs.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting, or a domain's option: hanoi.goal_update=achieved."),
]
Display = Annotated[
    DisplayKind,
    typer.Option("--display", envvar="MEMENTO_DISPLAY", help="Progress, on stderr; rich needs a terminal, else plain."),
]
Variant = Annotated[str | None, typer.Option(help="A variant of the task.")]
Randomisation = Annotated[str | None, typer.Option(help="How episodes differ: table, light, none.")]
Scenes = Annotated[str | None, typer.Option(metavar="A,B", help="The scenes to play in.")]
DomainSet = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="DOMAIN.KEY=VALUE", help="An option: see `memento domains DOMAIN`."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line of stdout.")]
Workers = Annotated[int | None, typer.Option(help="Rollouts at once; changes the time, never the result.")]
BudgetCalls = Annotated[int | None, typer.Option(metavar="N", help="End cleanly after N model calls.")]
BudgetTokens = Annotated[int | None, typer.Option(metavar="N", help="End cleanly after N tokens.")]
BudgetUsd = Annotated[float | None, typer.Option(metavar="USD", help="End cleanly after this much money.")]
StatusPort = Annotated[
    int | None, typer.Option(min=0, max=65535, metavar="N", help="Serve /status, /facts and /metrics; 0: any port.")
]
StatusHost = Annotated[str | None, typer.Option(metavar="HOST", help="Where to serve it; else on this machine only.")]
BudgetWall = Annotated[float | None, typer.Option(metavar="S", help="End cleanly after S seconds.")]


def _domain_flags(variant: str | None, randomisation: str | None, scenes: str | None) -> "dict[str, JSON]":
    return {
        "variant": variant, "randomisation": randomisation,
        "scenes": [*(scene.strip() for scene in scenes.split(","))] if scenes is not None else None,
    }


@commands.command(epilog="Example: memento run hanoi-kinematic --preset smoke --name first")
def run(
    context: typer.Context,
    domain: Annotated[
        str | None,
        typer.Argument(help="One of `memento domains`.", show_default=False, autocompletion=completing.domains),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="The budget: smoke, quick (the default) or paper.", autocompletion=completing.presets),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="One of `memento methods`.", autocompletion=completing.methods)
    ] = None,
    model: Annotated[str | None, typer.Option(help="Who writes programs: one of `memento models`.")] = None,
    evaluator_model: Annotated[str | None, typer.Option(help="Who writes evaluators; else --model.")] = None,
    judge: Annotated[list[str] | None, typer.Option(help="A judge's model; repeat it to mix models.")] = None,
    evaluator: Annotated[str | None, typer.Option(help="evolve, reference, zero-shot, or a Python file.")] = None,
    initial: Annotated[str | None, typer.Option(metavar="FILE", help="A policy to begin with.")] = None,
    seed: Annotated[int | None, typer.Option(help="All randomness comes from it.")] = None,
    scenes: Annotated[
        str | None, typer.Option(metavar="A,B", help="The scenes to search in, where a domain has scenes.")
    ] = None,
    workers: Workers = None,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_wall_s: BudgetWall = None,
    replay: Annotated[
        str | None, typer.Option(metavar="RUN", help="Repeat a finished run from its recorded replies; asks no model.")
    ] = None,
    require_sandbox: Annotated[
        bool, typer.Option("--require-sandbox", help="Refuse to run where programs cannot be isolated.")
    ] = False,
    runs: Runs = Path("runs"),
    name: Annotated[str | None, typer.Option(help="What to call the run; else domain, time and a tag.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE.toml", help="Settings from a file.")] = None,
    assignments: Set = None,
    status_port: StatusPort = None,
    status_host: StatusHost = None,
    display: Display = DisplayKind.RICH,
    tui: Annotated[bool, typer.Option("--tui", help="Watch it in the terminal program, which can be closed.")] = False,
    json: Json = False,
) -> None:
    """Evolve an evaluator, then a policy."""
    from .start import start_run

    flags: dict[str, JSON] = {
        "domain": domain, "preset": preset, "method": method, "model": model, "judges": [*judge] if judge else None,
        "evaluator_model": evaluator_model, "budget_calls": budget_calls, "budget_tokens": budget_tokens,
        "budget_usd": budget_usd, "budget_wall_s": budget_wall_s,
        "evaluator": evaluator, "initial": initial, "seed": seed, "workers": workers,
        "require_sandbox": require_sandbox or None,
    }
    assigned = [*(assignments or ()), *([] if scenes is None else [f"options.scenes={scenes}"])]
    start_run(
        flags, assignments=assigned, config=config, replay=replay, runs_dir=runs, name=name,
        status=(status_port, status_host), display=display, json=json,
        tui=context.find_root().obj if tui else None,
    )


@commands.command(epilog="Example: memento resume first")
def resume(
    run: Run,
    runs: Runs = Path("runs"),
    workers: Workers = None,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    budget_wall_s: BudgetWall = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A role's budget: budget.judge.calls=40.")
    ] = None,
    require_sandbox: Annotated[
        bool, typer.Option("--require-sandbox", help="Refuse to go on where programs cannot be isolated.")
    ] = False,
    status_port: StatusPort = None,
    status_host: StatusHost = None,
    display: Display = DisplayKind.RICH,
    json: Json = False,
) -> None:
    """Go on from where a run stopped, was stopped, spent its budget or was killed."""
    from .start import resume_run

    budgets: dict[str, JSON] = {
        "budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd,
        "budget_wall_s": budget_wall_s,
    }
    resume_run(
        run, runs_dir=runs, workers=workers, budgets=budgets, assignments=assignments or (),
        require_sandbox=require_sandbox, status=(status_port, status_host), display=display, json=json,
    )


@commands.command(epilog="Example: memento evaluate elite.py --domain hanoi --episodes 5")
def evaluate(
    policy: Annotated[Path, typer.Argument(help="A policy file.", metavar="POLICY.py", show_default=False)],
    domain: Annotated[
        str, typer.Option(help="One of `memento domains`.", show_default=False, autocompletion=completing.domains)
    ],
    variant: Variant = None,
    randomisation: Randomisation = None,
    scenes: Scenes = None,
    episodes: Annotated[int, typer.Option(help="How many episodes.")] = 10,
    seed: Annotated[int, typer.Option(help="All randomness comes from it.")] = 0,
    evaluator: Annotated[str, typer.Option(help="reference, or a Python file.")] = "reference",
    workers: Workers = None,
    assignments: DomainSet = None,
    json: Json = False,
) -> None:
    """Roll a policy file out and say how well it does."""
    from .start import evaluate_policy

    flags = _domain_flags(variant, randomisation, scenes)
    evaluate_policy(
        policy, domain, flags=flags, assignments=assignments or (), episodes=episodes, seed=seed,
        evaluator=evaluator, workers=workers, json=json,
    )


@commands.command(epilog="Example: memento compare main --domain hanoi --seeds 1-3")
def compare(
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="An experiment (main, generalisation, zero-shot, evaluator, operators, search-scenes, ladder), a TOML"
            " file, or a comparison to go on with.", show_default=False, autocompletion=completing.experiments,
        ),
    ] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="A domain; repeat it.", autocompletion=completing.domains)
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="A search method; repeat it.", autocompletion=completing.methods)
    ] = None,
    model: Annotated[list[str] | None, typer.Option(help="Who writes programs; repeat it to compare models.")] = None,
    seeds: Annotated[str | None, typer.Option(metavar="1-10", help="The seeds, which all methods share.")] = None,
    preset: Annotated[
        str | None, typer.Option(help="The budget of each run.", autocompletion=completing.presets)
    ] = None,
    evaluator: Annotated[
        str | None, typer.Option(help="evolve (once a seed, shared), zero-shot, reference, or a Python file.")
    ] = None,
    initial: Annotated[str | None, typer.Option(metavar="FILE", help="A policy for all to begin with.")] = None,
    episodes: Annotated[int | None, typer.Option(min=1, help="Unseen episodes of each final measure.")] = None,
    jobs: Annotated[int | None, typer.Option(help="Runs at once; else one for each processor.")] = None,
    workers: Annotated[int | None, typer.Option(help="Rollouts at once in each run; else one.")] = None,
    no_measure: Annotated[bool, typer.Option("--no-measure", help="Leave the final measures for later.")] = False,
    runs: Runs = Path("runs"),
    name: Annotated[str | None, typer.Option(help="What to call the comparison; else as the experiment.")] = None,
    assignments: Set = None,
    display: Display = DisplayKind.RICH,
    json: Json = False,
) -> None:
    """Compare methods on common seeds, each from the same p_0 under the same evaluator; call it again to go on."""
    from .compare import compare as carry_out

    raise typer.Exit(
        carry_out(
            experiment,
            flags={"domains": domain or (), "methods": method or (), "models": model or ()},
            words={"seeds": seeds, "preset": preset, "evaluator": evaluator, "initial": initial},
            assignments=assignments or (), episodes=episodes, runs_dir=runs, name=name,
            effort=(jobs, workers, not no_measure), display=display, json=json,
        )
    )


@commands.command(epilog="Example: memento report first --out first.html")
def report(
    runs_or_comparison: Annotated[
        list[str],
        typer.Argument(
            help="Runs, or one comparison: names or folders; or an archive.", metavar="RUN…|COMPARISON|FILE.json.xz",
            show_default=False,
            autocompletion=completing.runs,
        ),
    ],
    out: Annotated[Path | None, typer.Option(metavar="FILE.html", help="The page; written over.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="DIR", help="The rows behind it, as CSV files.")] = None,
    archive: Annotated[
        Path | None, typer.Option(metavar="FILE.json.xz", help="All that the page is made of, in one small file.")
    ] = None,
    no_pictures: Annotated[bool, typer.Option("--no-pictures", help="Draw no moments of episodes.")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """Make one self-contained page of runs or of a comparison: curves, tables, tests, descent, votes, costs."""
    from .report import report as make_report

    make_report(runs_or_comparison, runs_dir=runs, out=out, csv=csv, archive=archive, pictures=not no_pictures)


@commands.command(epilog="Example: memento domains hanoi")
def domains(
    domain: Annotated[
        str | None, typer.Argument(help="Tell all of this one.", show_default=False, autocompletion=completing.domains)
    ] = None,
) -> None:
    """The tasks there are, or what a policy for one of them must do."""
    from .listing import list_domains, tell_domain

    if domain is None:
        list_domains()
    else:
        tell_domain(domain)


@commands.command(epilog="Example: memento methods")
def methods() -> None:
    """The search methods there are."""
    from .listing import list_methods

    list_methods()


@commands.command(epilog="Example: memento models")
def models() -> None:
    """How to name a language model, and which keys are there."""
    from .listing import list_models

    list_models()


@commands.command(epilog="Example: memento show first g1/macro/0 --diff")
def show(
    run: Annotated[
        str | None,
        typer.Argument(
            help="A run: its name, or its folder; none: list them.", metavar="RUN", show_default=False,
            autocompletion=completing.runs,
        ),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Argument(
            help="Such as g2/macro/1, eval/g1/3 or eval/g1/judge/4.", show_default=False,
            autocompletion=completing.candidates,
        ),
    ] = None,
    code: Annotated[bool, typer.Option("--code", help="The candidate's program.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Its program against its parent's.")] = False,
    metrics: Annotated[bool, typer.Option("--metrics", help="Its metrics against its parent's.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="What the model was asked.")] = False,
    reply: Annotated[bool, typer.Option("--reply", help="What the model answered.")] = False,
    settings: Annotated[bool, typer.Option("--settings", help="A file for --config that repeats the run.")] = False,
    runs: Runs = Path("runs"),
) -> None:
    """List the runs, tell the story of one, or show one candidate."""
    from .show import show_run

    asked = {"code": code, "diff": diff, "metrics": metrics, "prompt": prompt, "reply": reply}
    show_run(run, candidate, runs_dir=runs, settings=settings, parts=[part for part, wanted in asked.items() if wanted])


@commands.command(epilog="Example: memento export first --out elite.py")
def export(
    run: Run,
    out: Annotated[Path, typer.Option(metavar="FILE.py", help="Never an existing file.", show_default=False)],
    candidate: Annotated[
        str | None, typer.Argument(help="Else the elite.", show_default=False, autocompletion=completing.candidates)
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Write a candidate's program, or the elite's, to a file."""
    from .export import export_program

    export_program(run, candidate, runs_dir=runs, out=out)


@commands.command(epilog="Example: memento watch first")
def watch(
    run: Annotated[
        str | None,
        typer.Argument(
            help="A run: its name, or its folder; none: choose one.", metavar="RUN", show_default=False,
            autocompletion=completing.runs,
        ),
    ] = None,
    runs: Runs = Path("runs"),
) -> None:
    """Watch a live or finished run in the terminal program."""
    from .watch import watch_run

    watch_run(run, runs_dir=runs)


@commands.command(epilog="Example: memento stop first")
def stop(run: Run, runs: Runs = Path("runs")) -> None:
    """Ask a live run to stop; nothing is lost."""
    from .requests import ask_of_run

    ask_of_run(run, "stop", runs_dir=runs)


@commands.command(epilog="Example: memento pause first")
def pause(run: Run, runs: Runs = Path("runs")) -> None:
    """Ask a live run to pause; `resume` ends the pause."""
    from .requests import ask_of_run

    ask_of_run(run, "pause", runs_dir=runs)


@commands.command(epilog="Example: memento render first --out elite.mp4")
def render(
    run: Annotated[
        str,
        typer.Argument(
            help="A run: its name, or its folder; or, with --domain, a policy file.", metavar="RUN|POLICY.py",
            show_default=False, autocompletion=completing.runs,
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Ends in .mp4, .gif or .png; is replaced.", show_default=False)
    ],
    candidate: Annotated[
        str | None,
        typer.Argument(
            help="Else the elite; final/elite and final/initial: on unseen seeds.", show_default=False,
            autocompletion=completing.candidates,
        ),
    ] = None,
    domain: Annotated[
        str | None, typer.Option(help="Of a policy file.", show_default=False, autocompletion=completing.domains)
    ] = None,
    episode: Annotated[int, typer.Option(metavar="K", help="Which of its episodes.")] = 0,
    camera: Annotated[
        str | None, typer.Option(help="From where; a wrong name lists them.", show_default=False)
    ] = None,
    at: Annotated[
        str | None, typer.Option(metavar="STEP", help="A PNG of one moment: a step, start or end; else a sheet.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Of one picture, in pixels.")] = None,
    speed: Annotated[
        float | None, typer.Option(metavar="X", help="Times as fast as it was; else so that it lasts 30 s at most.")
    ] = None,
    every: Annotated[int | None, typer.Option(metavar="N", help="Draw every N-th step.")] = None,
    seed: Annotated[int | None, typer.Option(help="Roll an episode with this seed out.")] = None,
    variant: Variant = None,
    randomisation: Randomisation = None,
    scenes: Scenes = None,
    assignments: DomainSet = None,
    runs: Runs = Path("runs"),
    json: Json = False,
) -> None:
    """Draw an episode as a film or a picture."""
    from .render import Look, render_episode

    flags = _domain_flags(variant, randomisation, scenes)
    render_episode(
        run, candidate, domain=domain, flags=flags, assignments=assignments or (), episode=episode, seed=seed,
        look=Look(out=out, camera=camera, size=size, speed=speed, every=every, at=at), runs_dir=runs, json=json,
    )


@commands.command(epilog="Example: memento bench steps --json")
def bench(
    name: Annotated[str, typer.Argument(help="kitchen, overhead, search or steps.", show_default=False)],
    json: Json = False,
) -> None:
    """Measure this project on this machine; needs the source checkout."""
    from .bench import run_benchmark

    run_benchmark(name, json=json)


@commands.command(epilog="Example: memento doctor")
def doctor(json: Json = False) -> None:
    """Say what this machine can do. Exit code 1 where something essential is missing."""
    from .doctor import examine

    raise typer.Exit(examine(json=json))


@commands.command(epilog="Example: memento completion bash >> ~/.bashrc")
def completion(
    shell: Annotated[
        str, typer.Argument(help="bash, zsh or fish.", show_default=False, autocompletion=completing.shells)
    ],
) -> None:
    """Print the script that lets a shell complete commands, runs and candidates."""
    completing.tell_script(shell)
