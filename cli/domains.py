"""`memento domains`: the tasks, or one of them in full."""

from collections.abc import Sequence
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from ..core.text import one_line
from . import completion, flags
from .output import print_table, print_text

EXAMPLE: Final = "memento domains hanoi"

MOST_CHARS: Final = 160      # of an option's value

Domain = Annotated[
    str | None,
    typer.Argument(metavar="DOMAIN", help="Show this domain's full description.", show_default=False,
                   autocompletion=completion.domains),
]


def domains(domain: Domain = None, assignments: flags.DomainSettings = None) -> None:
    """List the domains, or describe one: its task, the interface of a policy, its options."""
    from ..domains import titles

    if domain is not None:
        _describe(domain, assignments or ())
    elif assignments:
        raise UsageError("--set has no effect without a domain: name one, as in memento domains hanoi")
    else:
        print_table([*titles().items()])


def _describe(name: str, assignments: Sequence[str]) -> None:
    """Markdown with the task, the contract of a policy, and the options with the paper's values."""
    from ..domains import load
    from ..settings.evaluate import given_options

    domain = load(name)
    options = domain.options(given_options(domain.name, flags={}, assignments=assignments), preset="paper")
    brief = domain.brief(options)
    for text in (f"# {domain.title}", brief.task, brief.policy_interface, brief.uncertainties, "## Options"):
        if text.strip():
            print_text(f"{text.strip()}\n")
    if not options:
        print_text("This domain has no options.")
    print_table([(f"{domain.name}.{key}", one_line(str(value), MOST_CHARS)) for key, value in options.items()])
