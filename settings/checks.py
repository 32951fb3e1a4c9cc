"""Checks of settings. Each error is one sentence that names the key, the source and the fix."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..core.call_times import REAL_TIME
from ..core.errors import UsageError, nearest, unknown
from ..core.methods import method_named
from ..core.ports import Domain, Numeric, Periodic, twin_for
from ..core.values import JSON
from ..domains import names as domain_names
from .model import ALL, BRANCHES, EVALUATORS, OPTIONS, ROLES, TABLES, Settings, without_effect
from .presets import DEFAULT_PRESET, TUNES
from .schedule import room_for_tuning
from .sources import GivenValue


def refuse_unknown(plain: Mapping[str, GivenValue]) -> None:
    """Raises UsageError for an unknown setting."""
    known = set(Settings.model_fields) - {OPTIONS, "replay", "replay_loosely", *TABLES}
    for key, entry in plain.items():
        if key not in known:
            raise UsageError(f"{unknown('setting', key, known)} ({entry.origin})")


def domain_options(given: Mapping[str, GivenValue], domain: str) -> dict[str, JSON]:
    """The values from the table of this domain and from the table [options], which applies to any domain."""
    own: dict[str, JSON] = {}
    for key, entry in given.items():
        table, dot, name = key.partition(".")
        if not dot or table in TABLES:
            continue
        if table.replace("_", "-") in (domain.replace("_", "-"), OPTIONS):
            if name in own:
                raise UsageError(f"{name!r} is given in two tables: keep only one ({entry.origin})")
            own[name] = entry.value
        elif table in domain_names():
            raise UsageError(f"{key!r} has no effect in the domain {domain!r}: remove it ({entry.origin})")
        else:
            raise UsageError(f"{unknown('settings table', table, {*domain_names(), domain, OPTIONS})} ({entry.origin})")
    return own


def settle_search(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """Derive settings of the search from other settings. Raises UsageError for a setting without effect."""
    if values.get("memory_detail") == "full":
        _leave_out_speculation(values, plain, (
            "with memory_detail = 'full', which shows every verdict before the next question: remove it, or set "
            "memory_detail to 'summary'"
        ))
    if values.get("proposer_turns"):
        _leave_out_speculation(values, plain, (
            "with proposer_turns, since conversations for nothing cost too much: remove it, or set proposer_turns to 0"
        ))
    elif "practice_episodes" in plain:
        raise UsageError(
            "'practice_episodes' has no effect without proposer_turns: remove it, or set proposer_turns "
            f"({plain['practice_episodes'].origin})"
        )
    _settle_gate(values, plain)
    if "generations" not in plain and "generations" not in method_named(str(values.get("method", "memento"))).settings:
        values["generations"] = 1


def _settle_gate(values: dict[str, Any], plain: Mapping[str, GivenValue]) -> None:
    """With a gate nothing is asked ahead of a verdict. Raises UsageError for a setting without effect."""
    if values.get("gate", "off") == "off":
        for key in ("gate_episodes", "gate_audit"):
            if key in plain:
                raise UsageError(f"{key!r} has no effect without a gate: remove it, or set gate to 'on' "
                                 f"({plain[key].origin})")
        return
    _leave_out_speculation(values, plain, (
        "with a gate, whose verdict comes before the next question: remove it, or set gate to 'off'"
    ))


def _leave_out_speculation(values: dict[str, Any], plain: Mapping[str, GivenValue], why: str) -> None:
    """Ask nothing ahead of a verdict. Raises UsageError if speculation was asked for."""
    given = plain.get("speculation")
    if given is not None and given.value is True:
        raise UsageError(f"'speculation' has no effect {why} ({given.origin})")
    values["speculation"] = False


def settle_tuning(
    values: dict[str, Any], plain: Mapping[str, GivenValue], domain: Domain, options: Mapping[str, JSON]
) -> None:
    """Tune constants by default where the offline model needs it, and the preset and a budget of episodes have room.

    The number of candidates of a user who sets `k_tune` stays what it is.
    """
    if values.get("preset", DEFAULT_PRESET) not in TUNES or "k_tune" in plain or not isinstance(domain, Numeric):
        return
    model = Settings.model_fields["model"].default
    offline = values.get("model", model) == model
    able = "k_tune" in method_named(str(values.get("method", "memento"))).settings
    episodes = domain.tuning_episodes(options) if offline and able else 0
    room = room_for_tuning(values)
    if episodes and (room is None or room >= episodes):
        values |= {"k_tune": 1, "tune_episodes": values.get("tune_episodes", room or episodes)}


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
    for key in ("initial", "prompts"):
        if isinstance(values.get(key), str):
            values[key] = str(Path(values[key]).absolute())


def evaluator_file(given: str, words: Iterable[str]) -> str:
    """The absolute path of an evaluator's file. Raises UsageError if a keyword was probably intended."""
    if not Path(given).exists() and nearest(given, words):
        raise unknown("evaluator", given, words)
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
            raise UsageError(f"{unknown(f'role in {key!r}', role, ROLES)} ({entry.origin})")
        if name not in TABLES[table].model_fields:
            raise UsageError(f"{unknown(f'setting of {table}', name, TABLES[table].model_fields)} ({entry.origin})")
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
    """Raises UsageError for a setting without effect with this method and this choice of evaluator."""
    method_alone = without_effect(settings.method, "evolve")
    silent = without_effect(settings.method, settings.evaluator)
    for key in sorted(given):
        if key in silent or key.replace("_", "-").rpartition(".")[0] in silent:
            where = f"method {settings.method!r}" if key in method_alone else f"evaluator {settings.evaluator!r}"
            raise UsageError(f"{key!r} has no effect with the {where}: remove it ({given[key].origin})")


def refuse_small_budget(settings: Settings) -> None:
    """Raises UsageError if the budget of episodes has no room for p_0, one candidate and its confirmation."""
    practice = settings.practice_episodes if settings.proposer_turns else 0
    limit, least = settings.budget_episodes, 2 * settings.n_roll + 2 * settings.confirm_episodes + practice
    if limit is not None and limit < least:
        raise UsageError(
            f"budget_episodes = {limit} has no room for the first policy and one candidate, which take {least} "
            "episodes: raise it, or lower n_roll or confirm_episodes"
        )


def refuse_gate_without_twin(settings: Settings, domain: Domain) -> None:
    """Raises UsageError if a run has a gate, and its domain has no cheap twin under its options."""
    if settings.gate == "on":
        twin_for(domain, settings.options)


def refuse_empty_search(settings: Settings) -> None:
    """Raises UsageError if no branch of the method would propose anything."""
    slots = {*BRANCHES} & method_named(settings.method).settings
    if slots and not any(getattr(settings, key) for key in slots):
        raise UsageError(f"{', '.join(sorted(slots))} are all 0: nothing would be proposed; set one of them")
