"""What settings would import, start, contact or read: the list for the question before a folder from elsewhere is used.

All are ends of a sentence, such as "import 'my.module:DOMAIN'".
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from ..core.import_strings import is_import_string
from ..core.ports import Starting
from ..core.values import JSON
from ..domains import is_ours, is_shipped, load
from ..models.spec import ModelSpec, parse_specs
from .groups import EVALUATORS
from .model import Settings

MODELS = ("model", "evaluator_model", "critic", "attacker_model", "judges")       # settings that name models
FILES = ("initial", "evaluator", "prompts", "exploits")     # settings that name a file or a folder


def effects(settings: Settings, *, models: Iterable[str]) -> Iterator[str]:
    """What a run with these settings would import, start and contact. `models`: the names of those that it asks."""
    yield from effects_of_domain(settings.domain, settings.options)
    if is_import_string(settings.method):
        yield f"import {settings.method!r}"
    yield from passes(settings.env)
    yield from contacts(models)


def effects_of_domain(name: str, options: Mapping[str, JSON]) -> Iterator[str]:
    """What a domain would import and start under these options. Imports nothing that does not come with MEMENTO."""
    if not is_shipped(name):
        yield f"import {name!r}"
    if is_ours(name):
        domain = load(name)
        programs = domain.programs(options) if isinstance(domain, Starting) else ()
        yield from (f"start the program {program!r}" for program in programs)
    else:
        yield from _of_gym(name, options)


def _of_gym(name: str, options: Mapping[str, JSON]) -> Iterator[str]:
    """What the options of a Gymnasium environment name. What is known of one names its id again, which is made."""
    if options.get("python") is not None:
        yield f"start the program {str(options['python'])!r}"
    try:
        known = json.loads(str(options.get("description")))["id"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    if f"gym:{known}" != name:
        yield f"import {f'gym:{known}'!r}"


def passes(variables: object) -> Iterator[str]:
    """What simulators would get of the environment beyond the default."""
    names = variables if isinstance(variables, list | tuple) else ()
    if names:
        yield f"pass {', '.join(map(str, names))} of the environment to its simulator"


def contacts(models: Iterable[str]) -> Iterator[str]:
    """Where prompts and keys would go, and which programs would answer.

    Two specs of one name can have different addresses: each is listed.
    """
    for spec in sorted(paid_specs(models), key=lambda spec: (spec.name, spec.base_url or "")):
        if spec.is_command:
            yield f"run the program {spec.model!r} with your rights"
            continue
        where = f" at {spec.base_url}" if spec.base_url else ""
        yield f"send prompts and the key in {spec.key_variable} to {spec.name!r}{where}"


def paid_specs(models: Iterable[str]) -> frozenset[ModelSpec]:
    """The models that these names stand for and that may cost something: at services, each with its address, and
    programs."""
    return frozenset(spec for text in models for spec in parse_specs(text) if not spec.free)


def files_named(values: Mapping[str, object]) -> Iterator[str]:
    """The files and folders that settings would read."""
    for key in FILES:
        path = values.get(key)
        if isinstance(path, str) and not (key == "evaluator" and path in EVALUATORS):
            yield f"read {path!r}"
