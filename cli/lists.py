"""`memento domains`, `memento methods`, `memento settings` and `memento models`: what can be chosen."""

import os
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


def domains(domain: Domain = None, assignments: flags.DomainSettings = None, env: flags.Env = None) -> None:
    """List the domains, or describe one: its task, the interface of a policy, its options."""
    from ..core.variables import pass_also
    from ..domains import titles

    pass_also(env or (), origin="--env")
    if domain is not None:
        _describe(domain, assignments or ())
    elif assignments:
        raise UsageError("--set has no effect without a domain: name one, as in memento domains hanoi")
    else:
        print_table([*titles().items()])


def _describe(name: str, assignments: Sequence[str]) -> None:
    """Markdown with the task, the contract of a policy, and the options with the paper's values."""
    from ..core.provenance import GIVEN
    from ..domains import load
    from ..settings.evaluate import given_options

    domain = load(name, GIVEN)
    options = domain.options(given_options(domain.name, flags={}, assignments=assignments), preset="paper")
    brief = domain.brief(options)
    for text in (f"# {domain.title}", brief.task, brief.policy_interface, brief.uncertainties, "## Options"):
        if text.strip():
            print_text(f"{text.strip()}\n")
    if not options:
        print_text("This domain has no options.")
    print_table([(f"{domain.name}.{key}", one_line(str(value), MOST_CHARS)) for key, value in options.items()])


METHODS_EXAMPLE: Final = "memento methods"


def methods() -> None:
    """List the search methods."""
    from ..core.methods import METHODS

    print_table([(method.name, method.title) for method in METHODS.values()])


SETTINGS_EXAMPLE: Final = "memento settings confirm_episodes"

Setting = Annotated[str | None, typer.Argument(metavar="NAME", help="Describe this setting.", show_default=False)]


def settings(name: Setting = None) -> None:
    """List the settings of runs by group, or describe one: its meaning, default, values, and where it has an effect."""
    from ..settings.describing import described, in_groups

    if name is not None:
        for line in described(name):
            print_text(line)
        return
    for place, (group, rows) in enumerate(in_groups()):
        print_text(f"{chr(10) if place else ''}{group}")
        print_table(rows)


MODELS_EXAMPLE: Final = "memento models"

Check = Annotated[
    str | None,
    typer.Option("--check", metavar="MODEL", help="Ask this model two small questions, and say what it can.",
                 show_default=False),
]


def models(check: Check = None) -> None:
    """List the ways to name a language model, or check one: is it reachable, and what can it do?"""
    from ..models.providers import PROVIDERS

    if check is not None:
        _check(check)
        return
    print_table([(each.form, each.words or _key(each.key_variable or "")) for each in PROVIDERS.values()])


def _check(name: str) -> None:
    """What is known of each model after its questions. Raises UsageError and ModelError."""
    from ..models.checking import check
    from .execution import run_until_signalled

    for place, found in enumerate(run_until_signalled(check(name))):
        print_text(f"{chr(10) if place else ''}{found.name}{f' at {found.where}' if found.where else ''}")
        print_table([(f"  {what}", words) for what, words in found.words()])


def _key(variable: str) -> str:
    """The variable of the API key and whether it is set, never its value."""
    state = "set" if os.environ.get(variable, "").strip() else "not set"
    return f"needs the key in {variable}, which is {state}"
