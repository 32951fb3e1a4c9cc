"""`memento audit`: how often programs please an evaluator without doing the task, and what recorded runs show of it."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from ..core.extras import require
from . import completion, flags

EXAMPLE: Final = "memento audit hanoi-kinematic --evaluator first --out worst"

Subjects = Annotated[
    list[str], typer.Argument(metavar="DOMAIN|RUN…|FILE.json.xz…", show_default=False,
                              help="The task: {tasks}. Or runs or archives, whose candidates are compared with their"
                                   " success.", autocompletion=completion.domains),
]
Evaluator = Annotated[
    str, typer.Option(metavar="reference|FILE.py|RUN",
                      help="The evaluator: reference, a Python file, or the one that a run chose.")
]
Programs = Annotated[int, typer.Option(metavar="N", help="How many programs to breed.")]
Episodes = Annotated[int, typer.Option(metavar="N", help="The number of episodes of each program.")]
Seed = Annotated[int, typer.Option(metavar="N", help="The seed of the first episode and of breeding.")]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="A folder for the worst programs; the commands that film them are printed."),
]
Keep = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Add the exploits that attacks in these runs found to this folder."),
]


def audit(
    domain_or_runs: Subjects,
    evaluator: Evaluator = "reference",
    variant: flags.Variant = None,
    randomisation: flags.Randomisation = None,
    scenes: flags.Scenes = None,
    assignments: flags.DomainSettings = None,
    programs: Programs = 60,
    episodes: Episodes = 3,
    seed: Seed = 0,
    out: Out = None,
    keep: Keep = None,
    workers: flags.Workers = None,
    trust: flags.Trust = False,
    runs: flags.Runs = flags.RUNS,
    as_json: flags.AsJson = False,
) -> None:
    """Count programs with F >= 0.9 and S = 0: hand-written ones, and ones bred to please the evaluator.

    For runs and archives: how F ranks their candidates against S, and the largest F of one that never succeeded.
    """
    from ..app.audit import audit as run_audit
    from ..app.audit import find_evaluator
    from ..memory.audits import write_audit
    from ..settings.audit import build_audit_settings
    from .audit_text import as_object, describe, films, write_programs
    from .execution import execute
    from .output import print_json, print_text, say

    if _are_runs(domain_or_runs, runs):
        if evaluator != "reference" or out is not None or assignments:
            raise UsageError("--evaluator, --out and --set have an effect with a DOMAIN only: omit them")
        if keep is not None:
            _keep(domain_or_runs, runs, keep)
        _compare(domain_or_runs, runs, as_json=as_json)
        return
    if keep is not None:
        raise UsageError("--keep takes the exploits of runs: name runs instead of a domain")
    domain = domain_or_runs[0]
    found = find_evaluator(
        domain, evaluator, flags=flags.domain_options(variant, randomisation, scenes), assignments=assignments or (),
        runs_dir=runs, trusted=trust,
    )
    settings = build_audit_settings(
        domain, options=found.options, evaluator=found.program, evaluator_name=found.name, episodes=episodes,
        programs=programs, seed=seed, workers=workers, candidates=found.candidates,
    )

    def report(judged: int, expected: int) -> None:
        if judged % 20 == 0:
            say(f"{judged} of {expected} programs judged")

    done = execute(run_audit(settings, report))
    if found.run is not None:
        say(f"the result is in {write_audit(found.run, done.audit)}, where memento report finds it")
    commands = []
    if out is not None:
        write_programs(done, out)
        commands = films(done, out, found.run)
    if as_json:
        print_json(as_object(done.audit, commands))
    else:
        print_text(describe(done.audit, commands))


def _are_runs(names: list[str], runs: Path) -> bool:
    """Whether the arguments name runs or archives; one name is a domain's where there is such a domain."""
    if len(names) > 1 or names[0].endswith(".json.xz"):
        return True
    from ..domains import names as domains

    return names[0] not in domains() and ((runs / names[0]).is_dir() or Path(names[0]).is_dir())


def _keep(names: list[str], runs: Path, folder: Path) -> None:
    from ..app.exploits import keep_exploits
    from ..core.text import plural
    from ..memory.runs import find_run
    from .output import say

    if any(name.endswith(".json.xz") for name in names):
        raise UsageError("--keep takes the exploits of runs, and an archive holds none: name the runs")
    kept = keep_exploits([find_run(runs, name) for name in names], folder)
    say(f"{plural(kept.added, 'exploit')} added to {folder}, {kept.known} known; --set exploits={folder} uses them")


def _compare(names: list[str], runs: Path, *, as_json: bool) -> None:
    require("compare", "memento audit RUN")
    from dataclasses import asdict

    from ..app.api.reporting import load
    from ..evidence.validity import find_validity
    from .audit_text import describe_validity
    from .output import print_json, print_text

    found = find_validity(load(names, runs)[0].records)
    if not found:
        raise UsageError("none of these runs has an evaluator and candidates with F and S: there is nothing to compare")
    if as_json:
        print_json({"runs": [asdict(each) for each in found]})
    else:
        print_text(describe_validity(found))
