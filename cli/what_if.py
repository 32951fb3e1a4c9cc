"""`memento what-if`: recorded proposals, drawn again under other settings or by another model."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError
from . import completion, flags

if TYPE_CHECKING:
    from ..app.cluster import Cluster
    from ..app.recorded_state import RecordedState
    from ..app.what_if_figures import WhatIfResult
    from ..settings.what_if import WhatIfArm, WhatIfPlan

    States = list[list[tuple[RecordedState, WhatIfArm]]]

EXAMPLE: Final = "memento what-if first g2/macro/0 --set memory_detail=none -n 8"
_CANDIDATE: Final = re.compile(r"(i[\d*?]+/)?(g[\d*?\[][^/]*/[^/]+/[^/]+)|(init|eval|final|choice|confirm|starts)/.+")

Words = Annotated[
    list[str],
    typer.Argument(metavar="RUN CANDIDATE...", show_default=False, autocompletion=completion.runs,
                   help="A run and its candidates, or patterns such as 'g*/macro/*'; more runs may follow. Or the TOML"
                   " file of an experiment."),
]
Draws = Annotated[
    int | None,
    typer.Option("-n", "--draws", metavar="N", help="Proposals of each state under each arm; 8 if not given."),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting that only prompts and replies depend on; repeat it."),
]
Model = Annotated[str | None, typer.Option(metavar="MODEL", help="Another model that answers.")]
Control = Annotated[
    bool, typer.Option("--control", help="Also draw under the recorded settings, and compare with that.")
]
Prompt = Annotated[bool, typer.Option("--prompt", help="Print the prompts, and ask no model.")]
Replay = Annotated[
    bool, typer.Option("--replay", help="Roll the recorded proposals out again: no model is asked, nothing is kept.")
]


def what_if(
    states: Words,
    assignments: Assignments = None,
    model: Model = None,
    draws: Draws = None,
    control: Control = False,
    prompt: Prompt = False,
    replay: Replay = False,
    workers: flags.Workers = None,
    cluster: flags.Cluster = None,
    mixed_nodes: flags.MixedNodes = False,
    trust: flags.Trust = False,
    runs: flags.Runs = flags.RUNS,
    as_json: flags.AsJson = False,
) -> None:
    """Ask for recorded proposals again, with another prompt or model; resumable. The run stays as it is."""
    from .execution import execute
    from .output import print_json_line, print_text, say
    from .what_if_text import describe_what_if

    flags.require_at_least("--workers", workers, 1)
    plan = _plan(states, assignments or (), model=model, draws=draws, control=control, trusted=trust)
    places = _states(plan, runs, trusted=trust)
    if prompt:
        print_text(execute(_prompts(places)))
        return
    work = _carry_out(
        plan, places, cluster=flags.cluster_at(cluster, workers, mixed=mixed_nodes), workers=workers, repeated=replay
    )
    result = execute(work, again="the same command goes on with the proposals that are left")
    if as_json:
        print_json_line(result.line())
    else:
        print_text(describe_what_if(result))
    if not result.done:
        say("not all proposals were drawn; the same command goes on, within a larger budget if one is spent")


def _plan(
    words: Sequence[str], assignments: Sequence[str], *, model: str | None, draws: int | None, control: bool,
    trusted: bool,
) -> "WhatIfPlan":
    """The plan of the flags, or of an experiment's file. Raises UsageError."""
    from ..settings.what_if import DRAWS, plan_of_file, plan_of_flags

    if len(words) == 1 and words[0].endswith(".toml"):
        flags_given = {"--set": assignments, "--model": model, "-n": draws, "--control": control}
        for flag, given in flags_given.items():
            if given:
                raise UsageError(f"{flag} has no effect on an experiment: write it into {words[0]}")
        return plan_of_file(Path(words[0]), trusted=trusted)
    return plan_of_flags(
        pairs_of(words), assignments, model=model, draws=DRAWS if draws is None else draws, control=control
    )


def pairs_of(words: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a run and a candidate from "one g1/hill/0 g1/hill/1 two g*/macro/*". Raises UsageError."""
    pairs: list[tuple[str, str]] = []
    run, named = "", True
    for place, word in enumerate(words):
        if place and _CANDIDATE.fullmatch(word):
            pairs.append((run, word))
            named = True
        else:
            if not named:
                break
            run, named = word, False
    if not named:
        raise UsageError(f"which candidate of {run!r}? name one, as in: memento what-if {run} g2/macro/0")
    return pairs


def _states(plan: "WhatIfPlan", runs: Path, *, trusted: bool) -> "States":
    """The states of the plan (rows) under its arms (columns); what cannot be drawn is refused before anything is spent.
    """
    from ..app.recorded_state import candidates_in, state_before
    from ..memory.runs import find_run

    places = [
        (folder, name) for run, pattern in plan.states for folder in [find_run(runs, run)]
        for name in candidates_in(folder, pattern)
    ]
    return [
        [(state_before(folder, name, arm.given, trusted=trusted), arm) for arm in plan.arms]
        for folder, name in dict.fromkeys(places)
    ]


async def _prompts(states: "States") -> str:
    """The prompt of every state under every arm, under a line that names them where there are several."""
    from ..app.what_if import prompt_of

    parts = [(state, arm, await prompt_of(state)) for row in states for state, arm in row]
    if len(parts) == 1:
        return parts[0][2]
    return "\n\n".join(f"==> {state.run.name} {state.candidate}, {arm.name}\n\n{text}" for state, arm, text in parts)


async def _carry_out(
    plan: "WhatIfPlan", states: "States", *, cluster: "Cluster | None", workers: int | None, repeated: bool
) -> "WhatIfResult":
    """Draw every state under every arm, one after the other."""
    from ..app.cluster import machines
    from ..app.what_if import draw
    from ..app.what_if_figures import result_of
    from .output import say

    isolated = any(state.settings.require_sandbox for row in states for state, _ in row)
    async with machines(cluster, isolated=isolated) as where:
        drawn = []
        for row in states:
            say(f"{row[0][0].run.name} {row[0][0].candidate}")
            drawn.append([
                await draw(state, arm, plan.draws, where, workers=workers, repeated=repeated, report=say)
                for state, arm in row
            ])
    return result_of(plan.title, plan.draws, drawn, repeated=repeated)
