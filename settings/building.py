"""The settings of a run, from all their sources and checked.

Precedence, highest first: flags and `--set`, the environment (MEMENTO_…), the file of `--config`, the preset.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.errors import StoreError, UsageError
from ..core.events import Fact, RunResumed, RunStarted
from ..core.methods import load_method
from ..core.provenance import GIVEN, Provenance
from ..core.text import one_line
from ..core.values import JSON
from ..core.variables import pass_also
from ..domains import load as load_domain
from ..domains import names as domain_names
from .checks import (
    domain_options,
    method_parameters,
    model_tables,
    refuse_empty_search,
    refuse_gate_without_twin,
    refuse_idle_islands,
    refuse_robust_without_conditions,
    refuse_unknown,
    refuse_without_effect,
    settle_paths,
    settle_step_limit,
    validated,
)
from .effects import effects_of_domain, passes
from .model import BRANCHES, OPTIONS, PARAMETERS, Settings
from .presets import DEFAULT_PRESET, TASK_OPTIONS, preset_named
from .recorded import recorded_settings
from .schedule import (
    refuse_small_budget,
    settle_episodes,
    settle_generations,
    settle_practice,
    settle_rolls,
    settle_tuning,
    settle_width,
)
from .sources import ALIASES, GivenValue, from_command_line, from_environment, from_file


def usable_cpus() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def build_settings(
    flags: Mapping[str, JSON],
    *,
    assignments: Sequence[str] = (),
    config: Path | None = None,
    environment: Mapping[str, str],
    origin: str | None = None,
    provenance: Provenance = GIVEN,
) -> Settings:
    """The settings of a run from all their sources; None stands for a flag that was not given.

    `origin` says where `flags` come from if not from the command line, with {} for the key; `provenance` is
    that of `config`, or of the flags where they are read from a plan.
    Raises UsageError with one sentence that names the key, the source and the fix.
    """
    layers = [
        {} if config is None else from_file(config),
        from_environment(environment),
        from_command_line(flags, assignments, origin=origin),
    ]
    given: dict[str, GivenValue] = {}
    for layer in layers:
        given |= {ALIASES.get(key, key): entry for key, entry in layer.items()}
    plain = {key: entry for key, entry in given.items() if "." not in key}
    refuse_unknown(plain)
    if "domain" not in plain:
        known = ", ".join(domain_names())
        raise UsageError(f"which domain? name one of {known}, gym:ID or robosuite:TASK, as in: memento run hanoi")
    named_there = config is not None and _is_from(plain, "domain", config)
    domain = load_domain(str(plain["domain"].value), provenance if config is None or named_there else GIVEN)
    preset = str(plain["preset"].value) if "preset" in plain else DEFAULT_PRESET
    own = {**TASK_OPTIONS.get(preset, {}).get(domain.name, {}), **domain_options(given, domain.name)}
    values: dict[str, Any] = {"workers": usable_cpus(), **preset_named(preset)}
    values["k"] = sum(values[branch] for branch in BRANCHES)   # every method has the same budget
    values |= {key: entry.value for key, entry in plain.items()}
    values |= _method(given, plain, provenance if config is not None and _is_from(plain, "method", config) else GIVEN)
    settle_generations(values, plain)
    settle_width(values)
    settle_episodes(values, plain)
    settle_paths(values)
    values |= model_tables(given)
    if config is not None:      # before the domain's options look at a simulator
        provenance.require(_at_once(given, str(config), str(plain["domain"].value)))
    if "env" in plain and isinstance(names := plain["env"].value, list | tuple):
        pass_also(map(str, names), origin=plain["env"].origin)      # the domain's options may look at a simulator
    options = domain.options(own, preset=preset)
    settle_step_limit(values, plain, domain, options)
    settle_practice(values, plain, domain, options)
    settle_tuning(values, plain, domain, options)
    settle_rolls(values, plain)
    settings = validated(values, given, options)
    refuse_without_effect(settings, given)
    refuse_empty_search(settings)
    refuse_idle_islands(settings)
    refuse_gate_without_twin(settings, domain)
    refuse_robust_without_conditions(settings, domain)
    refuse_small_budget(settings)
    return settings.settled().from_there(provenance)


def _is_from(plain: Mapping[str, GivenValue], key: str, config: Path) -> bool:
    return key in plain and plain[key].origin == str(config)


def _method(
    given: Mapping[str, GivenValue], plain: Mapping[str, GivenValue], provenance: Provenance
) -> dict[str, dict[str, JSON]]:
    """The parameters of the method; one from outside is imported."""
    name = str(plain["method"].value if "method" in plain else Settings.model_fields["method"].default)
    return {PARAMETERS: method_parameters(given, load_method(name, provenance))}


def _at_once(given: Mapping[str, GivenValue], file: str, domain: str) -> Iterator[str]:
    """What the values of a file would start and pass while a domain completes its options, as ends of a sentence."""
    theirs = {key: entry.value for key, entry in given.items() if entry.origin == file}
    options = {key.partition(".")[2]: value for key, value in theirs.items() if "." in key}
    yield from (effect for effect in effects_of_domain(domain, options) if not effect.startswith("import "))
    yield from passes(theirs.get("env"))


def parse_budgets(flags: Mapping[str, JSON], assignments: Sequence[str]) -> dict[str, JSON]:
    """The budgets for a resumed run, by their full names, such as "budget.judge.calls". Raises UsageError."""
    given = from_command_line(flags, assignments)
    for key, entry in given.items():
        if key == "budget_episodes":
            raise UsageError(
                f"{key!r} cannot change in a resumed run, because the search was planned with it: start a new run "
                f"({entry.origin})"
            )
        if not _may_change(key):
            raise UsageError(f"{key!r} cannot change in a resumed run: only budgets can ({entry.origin})")
    return {key: entry.value for key, entry in given.items()}


def _may_change(key: str) -> bool:
    """Whether a setting is a budget that a resumed run can have another value of."""
    return key.startswith(("budget_", "budget.")) and key != "budget_episodes"


def with_budgets(settings: Settings, budgets: Mapping[str, JSON]) -> Settings:
    """The settings with other budgets, given by their full names. Raises UsageError."""
    given = {
        key: GivenValue(value=value, origin="--set" if "." in key else f"--{key.replace('_', '-')}")
        for key, value in budgets.items()
    }
    plain = {key: entry for key, entry in given.items() if "." not in key}
    refuse_unknown(plain)
    refuse_without_effect(settings, given)
    values: dict[str, Any] = settings.as_json() | {key: entry.value for key, entry in plain.items()}
    for role, limits in model_tables(given)["budget"].items():
        values["budget"][role] = values["budget"].get(role, {}) | limits
    return validated(values, given, values.pop(OPTIONS)).from_there(settings.provenance)


def with_model(settings: Settings, model: str) -> Settings:
    """The settings with another model in place of the run's; with "" as they are. Raises UsageError."""
    if not model:
        return settings
    given = {"model": GivenValue(value=model, origin="--model")}
    refuse_without_effect(settings, given)
    values: dict[str, Any] = settings.as_json() | {"model": model}
    return validated(values, given, values.pop(OPTIONS)).from_there(settings.provenance)


def settings_in(facts: Iterable[Fact]) -> Settings | None:
    """The settings of a run with the budgets of its last resume; None if it never started. Of unknown provenance.

    Raises StoreError for a log that begins twice, changes other settings than budgets and the model, or is of another
    version.
    """
    settings: Settings | None = None
    for fact in facts:
        if isinstance(fact, RunStarted):
            if settings is not None:
                raise StoreError("the log is damaged: its run begins twice")
            settings = recorded_settings(fact.settings)
        elif isinstance(fact, RunResumed) and settings is not None and (fact.budgets or fact.model):
            settings = _resumed(settings, fact.budgets, fact.model)
    return settings


def _resumed(settings: Settings, budgets: Mapping[str, JSON], model: str) -> Settings:
    """The settings with the recorded budgets and model of a resume. Raises StoreError."""
    for key in budgets:
        if not _may_change(key):
            raise StoreError(f"the log is damaged: it changes {one_line(repr(key), 80)}, and only budgets can change")
    try:
        return with_model(with_budgets(settings, budgets), model)
    except UsageError as error:
        raise StoreError(f"the log is damaged: the settings of a resumed run are wrong: {error}") from error
