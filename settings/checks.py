"""Checks of settings. Each error is one sentence that names the key, the source and the fix."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ..core.errors import UsageError, nearest, no_such
from ..core.methods import Method
from ..core.ports import Domain, Periodic, conditions_for, twin_for
from ..core.step_limit import REAL_TIME
from ..core.values import JSON
from ..domains import names as domain_names
from ..domains.gallery import policy_file
from ..search.setting_groups import ROLES, Values
from .groups import EVALUATORS
from .model import ALL, BRANCHES, OPTIONS, PARAMETERS, TABLES, Settings, fits, group_of
from .presets import DEFAULT_PRESET
from .sources import GivenValue


def refuse_unknown(plain: Mapping[str, GivenValue]) -> None:
    """Raises UsageError for an unknown setting."""
    known = set(Settings.model_fields) - {OPTIONS, PARAMETERS, "replay", "replay_loosely", *TABLES}
    for key, entry in plain.items():
        if key not in known:
            raise UsageError(f"{no_such('setting', key, known)} ({entry.origin})")


def domain_options(given: Mapping[str, GivenValue], domain: str) -> dict[str, JSON]:
    """The values from the table of this domain and from the table [options], which applies to any domain."""
    own: dict[str, JSON] = {}
    for key, entry in given.items():
        table, dot, name = key.partition(".")
        if not dot or table in TABLES or table == PARAMETERS:
            continue
        if table.replace("_", "-") in (domain.replace("_", "-"), OPTIONS):
            if name in own:
                raise UsageError(f"{name!r} is given in two tables: keep only one ({entry.origin})")
            own[name] = entry.value
        elif table in domain_names():
            raise UsageError(f"{key!r} has no effect in the domain {domain!r}: remove it ({entry.origin})")
        else:
            raise UsageError(f"{no_such('settings table', table, {*domain_names(), domain, OPTIONS})} ({entry.origin})")
    return own


def method_parameters(given: Mapping[str, GivenValue], method: Method) -> dict[str, JSON]:
    """The parameters of a method, those that are not given with their defaults. Raises UsageError."""
    own = {key.partition(".")[2]: entry for key, entry in given.items() if key.startswith(f"{PARAMETERS}.")}
    if method.parameters is None:
        for key, entry in own.items():
            raise UsageError(
                f"'{PARAMETERS}.{key}' has no effect with the method {method.name!r}, which has no parameters: remove "
                f"it ({entry.origin})"
            )
        return {}
    for key, entry in own.items():
        known = [each.name for each in fields(method.parameters)]
        if key not in known:
            raise UsageError(f"{no_such(f'parameter of {method.name}', key, known)} ({entry.origin})")
    adapter = TypeAdapter(method.parameters)
    try:
        made = adapter.validate_python({key: entry.value for key, entry in own.items()})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = str(first["loc"][0])
        origin = own[key].origin if key in own else f"the method {method.name}"
        complaint = first["msg"][:1].lower() + first["msg"][1:]
        raise UsageError(f"{PARAMETERS}.{key} = {first['input']!r} ({origin}): {complaint}") from None
    found: dict[str, JSON] = adapter.dump_python(made, mode="json")
    return found


def settle_step_limit(
    values: dict[str, Any], plain: Mapping[str, GivenValue], domain: Domain, options: Mapping[str, JSON]
) -> None:
    """Replace "real-time" by the control period of the domain in ms. Raises UsageError if it has none."""
    if values.get("step_limit_ms") == REAL_TIME:
        values["step_limit_ms"] = control_step_ms(
            domain, options, name=str(values.get("domain")), origin=plain["step_limit_ms"].origin
        )


def control_step_ms(domain: Domain, options: Mapping[str, JSON], *, name: str, origin: str) -> float:
    """The control period of a domain in ms, for which "real-time" stands. Raises UsageError if it has none.

    `name` is the domain's in the command, `origin` says where the limit was given.
    """
    period_ms = domain.control_period_ms(options) if isinstance(domain, Periodic) else None
    if period_ms is None:
        raise UsageError(
            f"the control step of {name!r} has no known duration, so step_limit_ms = {REAL_TIME!r} is not possible: "
            f"give a number of milliseconds ({origin})"
        )
    return round(period_ms, 6)


def settle_paths(values: dict[str, Any]) -> None:
    """Make file paths absolute, so that the settings have the same meaning in any working directory."""
    evaluator = values.get("evaluator", "evolve")
    if isinstance(evaluator, str) and evaluator not in EVALUATORS:
        values["evaluator"] = evaluator_file(evaluator, EVALUATORS)
    for key in ("initial", "prompts", "exploits"):
        if isinstance(values.get(key), str):
            values[key] = str(policy_file(values[key]).absolute())


def evaluator_file(given: str, words: Iterable[str]) -> str:
    """The absolute path of an evaluator's file. Raises UsageError if a keyword was probably intended."""
    if not Path(given).exists() and nearest(given, words):
        raise no_such("evaluator", given, words)
    return str(Path(given).absolute())


def model_tables(given: Mapping[str, GivenValue]) -> dict[str, dict[str, Any]]:
    """The tables for models as nested dicts. Raises UsageError for an unknown role or name."""
    tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
    for key, entry in given.items():
        table, dot, rest = key.partition(".")
        if not dot or table not in TABLES:
            continue
        if table == "prices":
            tables[table][rest] = entry.value
            continue
        role, _, name = rest.rpartition(".")
        role = role.replace("_", "-")
        if not role and table == "budget":
            raise UsageError(f"{key!r} names no role: the run's own budget is budget_{name} ({entry.origin})")
        role = role or ALL
        if role not in (ROLES if table == "budget" else (*ROLES, ALL)):
            raise UsageError(f"{no_such(f'role in {key!r}', role, ROLES)} ({entry.origin})")
        if name not in TABLES[table].model_fields:
            raise UsageError(f"{no_such(f'setting of {table}', name, TABLES[table].model_fields)} ({entry.origin})")
        tables[table].setdefault(role, {})[name] = entry.value
    return tables


def validated(values: dict[str, Any], given: Mapping[str, GivenValue], options: Mapping[str, JSON]) -> Settings:
    """The settings with these values; `given` holds the source of each, for error messages. Raises UsageError."""
    try:
        return Settings(**values, options=dict(options))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]).replace(f".{ALL}.", ".")
        origins = [entry.origin for name, entry in given.items() if f"{key}.".startswith(f"{name}.")]
        origin = origins[0] if origins else f"preset {values.get('preset', DEFAULT_PRESET)}"
        complaint = first["msg"][:1].lower() + first["msg"][1:]
        raise UsageError(f"{key} = {first['input']!r} ({origin}): {complaint}") from None


def refuse_without_effect(settings: Settings, given: Mapping[str, GivenValue]) -> None:
    """Raises UsageError for a given setting without effect in this run."""
    values = settings.as_json()
    for key in sorted(given):
        why = _without_effect(key, given[key].value, values)
        if why:
            raise UsageError(f"{key!r} has no effect {why} ({given[key].origin})")


def _without_effect(key: str, value: JSON, values: Values) -> str:
    """Why the setting has no effect, as the end of a sentence; "" if it has one.

    To turn off what is off without a switch anyway is no mistake.
    """
    group, method, evaluator = group_of(key), str(values["method"]), str(values["evaluator"])
    if not group.fits(method, "evolve"):
        return f"with the method {method!r}: remove it"
    if not group.fits(method, evaluator):
        return f"with the evaluator {evaluator!r}: remove it"
    missing = None if value is False or value in ("off", "never") else group.switched_off(key, values)
    return "" if missing is None else missing.otherwise


def refuse_gate_without_twin(settings: Settings, domain: Domain) -> None:
    """Raises UsageError if a run has a gate or tries drafts on a twin, and its domain has none under its options."""
    if settings.gate == "on" or settings.practice_on == "twin":
        twin_for(domain, settings.options)


def refuse_robust_without_conditions(settings: Settings, domain: Domain) -> None:
    """Raises UsageError if a run measures under changed conditions, and its domain has none under its options."""
    if settings.robust == "on":
        conditions_for(domain, settings.options)


def refuse_empty_search(settings: Settings) -> None:
    """Raises UsageError if no branch of the method would propose anything."""
    slots = [key for key in BRANCHES if fits(key, settings.method, settings.evaluator)]
    if slots and not any(getattr(settings, key) for key in slots):
        raise UsageError(f"{', '.join(sorted(slots))} are all 0: nothing would be proposed; set one of them")


def refuse_idle_islands(settings: Settings) -> None:
    """Raises UsageError if a generation has fewer climbs than islands, each of which is a whole search."""
    if settings.islands > 1 and settings.k_hc < settings.islands:
        raise UsageError(
            f"islands = {settings.islands} share k_hc = {settings.k_hc} climbs, and each needs one: raise k_hc, or "
            "set fewer islands"
        )
