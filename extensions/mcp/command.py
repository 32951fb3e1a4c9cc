"""`memento mcp`: a server for coding agents, over stdin and stdout."""

import sys
from typing import Annotated, Final

import typer

from ...cli import flags
from ...cli.typer_classes import CONTEXT, Command
from ...core.errors import UsageError
from ...core.extras import require

EXAMPLE: Final = "memento mcp --runs runs"

Spend = Annotated[
    bool, typer.Option("--allow-spending", help="Let agents start runs with the models of --model, within budgets.")
]
Models = Annotated[
    list[str] | None, typer.Option("--model", metavar="MODEL", help="A model that runs may ask; repeat the flag.")
]
Calls = Annotated[int | None, typer.Option(min=1, metavar="N", help="The most calls of all runs together.")]
Tokens = Annotated[int | None, typer.Option(min=1, metavar="N", help="The most tokens of all runs together.")]
Usd = Annotated[float | None, typer.Option(metavar="USD", help="The most money of all runs together.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Let agents name code and files from elsewhere, such as gym:ID.")
]
Skill = Annotated[bool, typer.Option("--skill", help="Print how an agent should use MEMENTO, as Markdown, and exit.")]

commands = typer.Typer(rich_markup_mode=None, context_settings=CONTEXT, add_completion=False)


@commands.command(cls=Command, epilog=f"Example: {EXAMPLE}")
def mcp(
    runs: flags.Runs = flags.RUNS,
    allow_spending: Spend = False,
    models: Models = None,
    budget_calls: Calls = None,
    budget_tokens: Tokens = None,
    budget_usd: Usd = None,
    trust: Trust = False,
    skill: Skill = False,
) -> None:
    """Serve coding agents over stdin and stdout, by the Model Context Protocol. Clients start this command."""
    if skill:
        from ...cli.output import print_text
        from .skill import read_skill

        print_text(read_skill(), newline=False)
        return
    most = {"calls": budget_calls, "tokens": budget_tokens, "usd": budget_usd}
    _check(allow_spending, models or [], most)
    require("mcp", "memento mcp")
    if sys.stdin.isatty():
        raise UsageError("memento mcp talks to a program, not to a terminal: name it in the settings of your agent")
    from ...models.spec import parse_spec
    from .acting import Rules
    from .server import serve
    from .spending import Bounds

    bounds = Bounds(
        models=tuple(map(parse_spec, models or ())),
        most={kind: float(amount) for kind, amount in most.items() if amount is not None},
    )
    serve(runs.absolute(), Rules(bounds=bounds if allow_spending else None, trust=trust))


def _check(allow_spending: bool, models: list[str], most: dict[str, "int | float | None"]) -> None:
    """Raise UsageError for spending without bounds, and for bounds without spending."""
    given = [kind for kind, amount in most.items() if amount is not None]
    if not allow_spending:
        if models or given:
            flag = "--model" if models else f"--budget-{given[0]}"
            raise UsageError(f"{flag} has no effect without --allow-spending: give both, or neither")
        return
    if not models:
        raise UsageError("--allow-spending needs the models that may be asked: add --model MODEL")
    if not given:
        raise UsageError("--allow-spending needs a bound: add --budget-usd, --budget-tokens or --budget-calls")
    flags.require_at_least("--budget-usd", most["usd"], 0)
