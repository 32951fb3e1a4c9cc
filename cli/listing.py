"""What there is: domains, methods, models."""

import os

import typer


def list_domains() -> None:
    """`memento domains`."""
    from ..domains import load as load_domain
    from ..domains import names as domain_names

    _table([(name, load_domain(name).title) for name in domain_names()])


def tell_domain(name: str) -> None:
    """`memento domains DOMAIN`: the task, the contract of a policy, and the options, as the paper has them."""
    from ..domains import load as load_domain

    domain = load_domain(name)
    options = domain.options({}, preset="paper")
    brief = domain.brief(options)
    for text in (f"# {domain.title}", brief.task, brief.policy_interface, brief.uncertainties, "## Options"):
        if text.strip():
            typer.echo(f"{text.strip()}\n")
    _table([(f"{domain.name}.{key}", str(value)) for key, value in options.items()])


def list_methods() -> None:
    """`memento methods`."""
    from ..core.methods import METHODS

    _table([(method.name, method.title) for method in METHODS.values()])


def list_models() -> None:
    """`memento models`: the forms of a model's name. Whether a key is there is said, never what it is."""
    from ..runtime.models.spec import FORMS, KEY_VARIABLES

    told = {
        "offline": "the embedded mutator: no language model, no network (the default)",
        "compatible": "any server with OpenAI's chat completions, such as compatible:ollama@http://localhost:11434/v1#qwen3",
    }
    rows = []
    for scheme, form in FORMS.items():
        variable = KEY_VARIABLES.get(scheme, "")
        state = "set" if os.environ.get(variable, "").strip() else "not set"
        rows.append((form, told.get(scheme) or f"needs the key in {variable}, which is {state}"))
    _table(rows)


def _table(rows: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        typer.echo(f"{name:<{width}}  {text}")
