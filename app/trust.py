"""What a run folder would make this program do, and the refusal of a folder from elsewhere without `--trust`."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..core.errors import UsageError
from ..core.ports import Starting
from ..core.values import JSON
from ..domains import is_shipped
from ..domains import load as load_domain
from ..memory.origin import is_written_here
from ..models.spec import parse_specs
from ..settings import Settings
from .budgets import models_of


def require_trust(folder: Path, begun: Mapping[str, JSON], settings: Settings, *, trusted: bool, models: bool) -> None:
    """Raise UsageError where the run in `folder` is not from here and would import, start or contact something.

    `begun` are the settings in its first fact. `models`: whether its models would be asked.
    """
    if trusted or is_written_here(folder, begun):
        return
    found = list(effects(settings, models=models))
    if found:
        raise UsageError(
            f"this installation did not write the run {folder.name!r}, which would {'; '.join(found)}: "
            "add --trust if you trust whoever made it"
        )


def effects(settings: Settings, *, models: bool) -> Iterator[str]:
    """What a run with these settings would import, start or contact, as ends of a sentence. `models`: contact too."""
    if not is_shipped(settings.domain):
        yield f"import {settings.domain!r}"
    else:
        domain = load_domain(settings.domain)
        programs = domain.programs(settings.options) if isinstance(domain, Starting) else ()
        yield from (f"start the program {program!r}" for program in programs)
    named = {text for texts in models_of(settings).values() for text in texts} if models else set()
    specs = {spec.name: spec for text in named for spec in parse_specs(text)}
    for _, spec in sorted(specs.items()):
        if not spec.free:
            where = f" at {spec.base_url}" if spec.base_url else ""
            yield f"send prompts and the key in {spec.key_variable} to {spec.name!r}{where}"
