"""A run's settings: what they are, where they may come from, and a text that repeats the run.

Precedence, highest first: flags and `--set`, the environment (MEMENTO_…), the file of `--config`, the preset.
"""

import json
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from .core.errors import UsageError, unknown
from .core.events import Fact, RunResumed, RunStarted
from .core.values import JSON
from .domains import load as load_domain
from .domains import names as domain_names
from .methods import method_named
from .presets import DEFAULT_PRESET, preset_named

PREFIX = "MEMENTO_"
ELSEWHERE = frozenset({"MEMENTO_RUNS", "MEMENTO_DISPLAY"})     # variables that the command line reads itself
FLAGS = {"domain": "DOMAIN", "judges": "--judge"}               # where a flag is not called like its setting
EVALUATORS = ("evolve", "reference", "zero-shot")              # anything else is a file

OPTIONS = "options"                                            # the table of whichever domain the run has
BRANCHES = ("k_hc", "k_macro", "k_cross")                      # the slots of a generation of memento
ALIASES = {"memory.detail": "memory_detail", "memory.scope": "memory_scope"}   # as a table of a file
ROLES = ("proposer", "evaluator-writer", "judge")              # who is asked; as in core.ports.Ask
ALL = "all"                                                    # how `sampling` calls what every role shares

Count = Annotated[int, Field(ge=0, le=1_000_000)]
Positive = Annotated[int, Field(ge=1, le=1_000_000)]
Limit = Annotated[int, Field(ge=1, le=10**15)]
Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Role = Literal["proposer", "evaluator-writer", "judge"]


def usable_cpus() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Part(BaseModel):
    """A table within the settings. What is None was not given."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class RoleBudget(_Part):
    """What one role may spend at most: `[budget.judge]`."""

    calls: Limit | None = None
    tokens: Limit | None = None
    usd: Amount | None = None
    wall_s: Amount | None = None


class Asking(_Part):
    """How a role's models are asked, `[sampling.judge]`, or all models, `[sampling]`; None leaves it to the service.

    `total_s` bounds a call with its retries, `read_s` the silence within one request, `attempts` the requests.
    """

    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] | None = None
    max_output_tokens: Limit | None = None
    thinking: Literal["minimal", "low", "medium", "high", "xhigh"] | None = None
    stream: bool | None = None
    total_s: Amount | None = None
    read_s: Amount | None = None
    connect_s: Amount | None = None
    attempts: Positive | None = None


class TokenPrice(_Part):
    """US dollars for a million tokens: `[prices]` with `"lab:qwen3" = { input = 0.1, output = 0.4 }`."""

    input: Dollars
    output: Dollars


class Settings(BaseModel):
    """Everything that decides a run, and `workers`, which only decides how fast it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: str = Field(description="the task, one of `memento domains`")
    method: str = Field("memento", description="the search method, one of `memento methods`")
    preset: str = Field(DEFAULT_PRESET, description="where unset numbers come from: smoke, quick or paper")
    model: str = Field("offline", description="who writes programs, one of `memento models`")
    evaluator_model: str | None = Field(None, description="who writes evaluators; none: `model`")
    judges: tuple[str, ...] = Field((), description="models of the judges, seats dealt in turn; none: `model`")
    calls_at_once: Positive = Field(8, description="model calls in flight, of a role and of an account")
    budget_calls: Limit | None = Field(None, description="model calls that the run may begin")
    budget_tokens: Limit | None = Field(None, description="tokens that the run may use, input and output together")
    budget_usd: Amount | None = Field(None, description="US dollars that the run may spend on models")
    budget_wall_s: Amount | None = Field(None, description="seconds that the run may take, pauses not counted")
    budget: dict[Role, RoleBudget] = Field(default_factory=dict, description="budgets of single roles")
    sampling: dict[Role | Literal["all"], Asking] = Field(default_factory=dict, description="how models are asked")
    prices: dict[str, TokenPrice] = Field(default_factory=dict, description="prices of models, by model name")
    replay: str | None = Field(None, description="the recorded run whose replies are repeated; set by --replay")
    evaluator: str = Field("evolve", description="evolve, reference, zero-shot or the path of a Python file")
    initial: str | None = Field(None, description="the path of a policy file to begin with as p_0")
    seed: int = Field(0, ge=0, lt=2**63, description="all randomness of the run comes from it")
    workers: Positive = Field(1, description="rollouts at once; the result does not depend on it")
    require_sandbox: bool = Field(False, description="refuse to run where generated code cannot be isolated")

    generations: Positive = Field(description="G, generations of policy search")
    k_hc: Count = Field(description="hill-climb proposals a generation")
    k_macro: Count = Field(description="macro-mutations a generation")
    k_cross: Count = Field(description="crossovers a generation")
    k: Positive = Field(24, description="candidates a generation, in methods with one kind of proposal")
    n_roll: Positive = Field(description="N_roll, episodes a candidate")
    evaluator_pool: Positive = Field(description="n, evaluators in a pool")
    evaluator_generations: Positive = Field(description="T, generations of evaluator search, the first pool among them")
    evaluator_judges: Positive = Field(description="k, judges who vote on a pool")
    racing: bool = Field(True, description="end a candidate's rollouts once it cannot win; changes no result")
    duplicates: bool = Field(False, description="a known program takes its episodes over; changes no result")
    speculation: bool = Field(False, description="ask for the next climb before the verdict; changes no result")
    memory_detail: Literal["summary", "full"] = Field("summary", description="show why edits were rejected, too")
    memory_scope: Literal["generation", "run"] = Field("generation", description="how long rejected edits are kept")
    keep_trajectories: bool = Field(False, description="keep every recorded episode, not T_0's and the elites' only")
    final_episodes: Positive = Field(description="unseen episodes on which p_0 and the elite are compared")

    options: dict[str, Any] = Field(default_factory=dict, description="the domain's own options, all of them")

    def as_json(self) -> dict[str, JSON]:
        """Plain values, for the log and for reports."""
        values: dict[str, JSON] = self.model_dump(mode="json")
        return values

    def as_toml(self) -> str:
        """A file for `--config` that repeats this run. It names only what has an effect."""
        left_out = without_effect(self.method, self.evaluator) | {OPTIONS, *TABLES, "replay"}
        values = {key: value for key, value in self.as_json().items() if key not in left_out}
        lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value not in (None, [])]
        lines += [line for name in TABLES for line in _table_lines(name, self.as_json()[name])]
        options = [f"{_toml_key(key)} = {_toml(value)}" for key, value in self.options.items() if value is not None]
        table = self.domain if _is_bare(self.domain) else OPTIONS
        return "\n".join([*lines, "", f"[{table}]", *options]) + "\n"


TABLES: Mapping[str, type[_Part]] = {"budget": RoleBudget, "sampling": Asking, "prices": TokenPrice}
_OF_MODELS = frozenset({
    "model", "evaluator_model", "judges", "calls_at_once", "budget_calls", "budget_tokens", "budget_usd",
    "budget_wall_s", "replay", *TABLES,
})  # heeded with every method


def without_effect(method: str, evaluator: str) -> frozenset[str]:
    """The settings that change nothing with this method and this choice of evaluator."""
    silent = frozenset(Settings.model_fields) - method_named(method).settings - {OPTIONS} - _OF_MODELS
    silent |= {f"{table}.{role}" for table in ("budget", "sampling") for role in ROLES if role not in asked(evaluator)}
    if "evaluator-writer" not in asked(evaluator):
        silent |= {"evaluator_model"}
    if "judge" not in asked(evaluator):
        silent |= {"evaluator_pool", "evaluator_generations", "evaluator_judges", "judges"}
    return silent


def asked(evaluator: str) -> frozenset[str]:
    """The roles that a run with this choice of evaluator asks."""
    if evaluator == "evolve":
        return frozenset(ROLES)
    return frozenset({"proposer", "evaluator-writer"} if evaluator == "zero-shot" else {"proposer"})


# ------------------------------------------------------------------------------------------- sources


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A value that somebody gave, and where, so that a complaint can name the place."""

    value: JSON
    origin: str


def build_settings(
    flags: Mapping[str, JSON],
    *,
    assignments: Sequence[str] = (),
    config: Path | None = None,
    environment: Mapping[str, str],
) -> Settings:
    """The settings of a run from all their sources; a flag that is None was not given.

    Raises UsageError with one sentence that names the key, the place and the mend.
    """
    layers = [
        {} if config is None else _from_file(config),
        _from_environment(environment),
        _from_command_line(flags, assignments),
    ]
    given: dict[str, Given] = {}
    for layer in layers:
        given |= {ALIASES.get(key, key): entry for key, entry in layer.items()}
    plain = {key: entry for key, entry in given.items() if "." not in key}
    _refuse_unknown(plain)
    if "domain" not in plain:
        raise UsageError(f"which domain? name one of {', '.join(domain_names())}, as in: memento run hanoi")
    domain = load_domain(str(plain["domain"].value))
    preset = str(plain["preset"].value) if "preset" in plain else DEFAULT_PRESET
    own = _domain_options(given, domain.name)
    values: dict[str, Any] = {"workers": usable_cpus(), **preset_named(preset)}
    values["k"] = sum(values[branch] for branch in BRANCHES)   # every method has the same budget
    values |= {key: entry.value for key, entry in plain.items()}
    _settle_search(values, plain)
    _settle_paths(values)
    values |= _model_tables(given)
    settings = _validated(values, given, domain.options(own, preset=preset))
    _refuse_without_effect(settings, given)
    _refuse_empty_search(settings)
    return settings


def parse_budgets(flags: Mapping[str, JSON], assignments: Sequence[str]) -> dict[str, JSON]:
    """The budgets for a resumed run, by their full names, such as "budget.judge.calls". Raises UsageError."""
    given = _from_command_line(flags, assignments)
    for key, entry in given.items():
        if not key.startswith(("budget_", "budget.")):
            raise UsageError(f"{key!r} cannot change in a resumed run: only budgets can ({entry.origin})")
    return {key: entry.value for key, entry in given.items()}


def with_budgets(settings: Settings, budgets: Mapping[str, JSON]) -> Settings:
    """The settings with other budgets, given by their full names. Raises UsageError."""
    given = {
        key: Given(value=value, origin="--set" if "." in key else f"--{key.replace('_', '-')}")
        for key, value in budgets.items()
    }
    plain = {key: entry for key, entry in given.items() if "." not in key}
    _refuse_unknown(plain)
    _refuse_without_effect(settings, given)
    values: dict[str, Any] = settings.as_json() | {key: entry.value for key, entry in plain.items()}
    for role, limits in _model_tables(given)["budget"].items():
        values["budget"][role] = values["budget"].get(role, {}) | limits
    return _validated(values, given, values.pop(OPTIONS))


def settings_in(facts: Iterable[Fact]) -> Settings | None:
    """The settings of a run with the budgets that it was resumed with; None where it never started."""
    settings: Settings | None = None
    for fact in facts:
        if isinstance(fact, RunStarted):
            settings = Settings.model_validate(dict(fact.settings))
        elif isinstance(fact, RunResumed) and settings is not None and fact.budgets:
            settings = with_budgets(settings, fact.budgets)
    return settings


def parse_assignments(assignments: Iterable[str]) -> dict[str, Given]:
    """`key=value` texts of `--set`. Raises UsageError for a text without "=" and for a key given twice."""
    found: dict[str, Given] = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(f"--set {text!r} is not of the form key=value, as in --set k_hc=5")
        if key in found:
            raise UsageError(f"--set gives {key!r} twice: leave one")
        found[key] = Given(value=_parse(key, value.strip()), origin="--set")
    return found


def _from_command_line(flags: Mapping[str, JSON], assignments: Sequence[str]) -> dict[str, Given]:
    chosen = {
        key: Given(value=value, origin=FLAGS.get(key, f"--{key.replace('_', '-')}"))
        for key, value in flags.items()
        if value is not None
    }
    assigned = parse_assignments(assignments)
    for key in chosen.keys() & assigned.keys():
        raise UsageError(f"{key!r} is given twice, by {chosen[key].origin} and by --set: leave one")
    return chosen | assigned


def _from_environment(environment: Mapping[str, str]) -> dict[str, Given]:
    """MEMENTO_K_HC=5 sets k_hc, MEMENTO_HANOI__GOAL_UPDATE=desired sets hanoi.goal_update."""
    found = {}
    for variable, text in environment.items():
        if variable.startswith(PREFIX) and variable not in ELSEWHERE:
            key = variable.removeprefix(PREFIX).lower().replace("__", ".")
            found[key] = Given(value=_parse(key, text), origin=f"the environment variable {variable}")
    return found


def _from_file(path: Path) -> dict[str, Given]:
    """A TOML file: settings at the top, the domain's options in a table of its name."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the settings file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the settings file {path} is not TOML: {error}") from None
    found: dict[str, Given] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            inner = _flat(value, key, depth=2 if key in ("budget", "sampling") else 1)
            found |= {name: Given(value=each, origin=str(path)) for name, each in inner}
        elif key in {"initial", "evaluator"} and isinstance(value, str) and value not in EVALUATORS:
            found[key] = Given(value=str(path.parent / value), origin=str(path))   # relative to the file
        else:
            found[key] = Given(value=value, origin=str(path))
    return found


def _flat(table: Mapping[str, JSON], name: str, *, depth: int) -> Iterator[tuple[str, JSON]]:
    """The dotted names in a table, at most `depth` levels down."""
    for key, value in table.items():
        if depth > 1 and isinstance(value, dict):
            yield from _flat(value, f"{name}.{key}", depth=depth - 1)
        else:
            yield f"{name}.{key}", value


_TEXTS = frozenset({"domain", "method", "preset", "model", "evaluator_model", "evaluator", "initial"})


def _parse(key: str, text: str) -> JSON:
    """A value as TOML would read it, else the text itself; a comma separates the names of judges."""
    if key in _TEXTS:
        return text
    if key == "judges" and not text.startswith("["):
        return [name.strip() for name in text.split(",") if name.strip()]
    try:
        value: JSON = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value


# -------------------------------------------------------------------------------------------- checks


def _refuse_unknown(plain: Mapping[str, Given]) -> None:
    known = set(Settings.model_fields) - {OPTIONS, "replay", *TABLES}
    for key, entry in plain.items():
        if key not in known:
            raise UsageError(f"{unknown('setting', key, known)} ({entry.origin})")


def _domain_options(given: Mapping[str, Given], domain: str) -> dict[str, JSON]:
    """The values for the table of this domain, or for the table [options], which is any domain's."""
    own: dict[str, JSON] = {}
    for key, entry in given.items():
        table, dot, name = key.partition(".")
        if not dot or table in TABLES:
            continue
        if table.replace("_", "-") in (domain.replace("_", "-"), OPTIONS):
            if name in own:
                raise UsageError(f"{name!r} is given in two tables: leave one ({entry.origin})")
            own[name] = entry.value
        elif table in domain_names():
            raise UsageError(f"{key!r} has no effect in the domain {domain!r}: leave it out ({entry.origin})")
        else:
            raise UsageError(f"{unknown('settings table', table, {*domain_names(), domain, OPTIONS})} ({entry.origin})")
    return own


def _settle_search(values: dict[str, Any], plain: Mapping[str, Given]) -> None:
    """What follows for the search from other settings. Raises UsageError for a choice without effect."""
    if values.get("memory_detail") == "full":
        given = plain.get("speculation")
        if given is not None and given.value is True:
            raise UsageError(
                "'speculation' has no effect with memory_detail = 'full', which shows every verdict before the next "
                f"question: leave one out ({given.origin})"
            )
        values["speculation"] = False
    if "generations" not in plain and "generations" not in method_named(str(values.get("method", "memento"))).settings:
        values["generations"] = 1


def _settle_paths(values: dict[str, Any]) -> None:
    """Files by their absolute paths, so that the settings mean the same wherever they are read again."""
    evaluator = values.get("evaluator", "evolve")
    if isinstance(evaluator, str) and evaluator not in EVALUATORS:
        values["evaluator"] = evaluator_file(evaluator, EVALUATORS)
    if isinstance(values.get("initial"), str):
        values["initial"] = str(Path(values["initial"]).absolute())


def evaluator_file(given: str, words: Iterable[str]) -> str:
    """The absolute path of an evaluator's file. Raises UsageError where a word was probably meant."""
    if not Path(given).exists() and get_close_matches(given, list(words)):
        raise unknown("evaluator", given, words)
    return str(Path(given).absolute())


def _model_tables(given: Mapping[str, Given]) -> dict[str, dict[str, Any]]:
    """The tables on models as nested dicts. Raises UsageError for an unknown role or name."""
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


def _validated(values: dict[str, Any], given: Mapping[str, Given], options: Mapping[str, JSON]) -> Settings:
    try:
        return Settings(**values, options=dict(options))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"]).replace(f".{ALL}.", ".")
        origins = [entry.origin for name, entry in given.items() if f"{key}.".startswith(f"{name}.")]
        origin = origins[0] if origins else f"preset {values.get('preset', DEFAULT_PRESET)}"
        complaint = first["msg"][:1].lower() + first["msg"][1:]
        raise UsageError(f"{key} = {first['input']!r} ({origin}): {complaint}") from None


def _refuse_without_effect(settings: Settings, given: Mapping[str, Given]) -> None:
    method_alone = without_effect(settings.method, "evolve")
    silent = without_effect(settings.method, settings.evaluator)
    for key in sorted(given):
        if key in silent or key.replace("_", "-").rpartition(".")[0] in silent:
            where = f"method {settings.method!r}" if key in method_alone else f"evaluator {settings.evaluator!r}"
            raise UsageError(f"{key!r} has no effect with the {where}: leave it out ({given[key].origin})")


def _refuse_empty_search(settings: Settings) -> None:
    slots = {*BRANCHES} & method_named(settings.method).settings
    if slots and not any(getattr(settings, key) for key in slots):
        raise UsageError(f"{', '.join(sorted(slots))} are all 0: nothing would be proposed; set one of them")


# ---------------------------------------------------------------------------------------------- text


def _table_lines(name: str, table: JSON) -> Iterator[str]:
    """One of `TABLES` as TOML, without what was not given."""
    assert isinstance(table, dict)
    if name == "prices" and table:
        yield from ("", "[prices]", *(f"{_toml_key(model)} = {_toml(price)}" for model, price in table.items()))
    for role, values in table.items() if name != "prices" else ():
        assert isinstance(values, dict)
        lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
        if lines:
            yield from ("", f"[{name}]" if role == ALL else f"[{name}.{role}]", *lines)


def _is_bare(key: str) -> bool:
    return bool(key) and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in key)


def _toml_key(key: str) -> str:
    return key if _is_bare(key) else json.dumps(key)


def _toml(value: JSON) -> str:
    """One value as TOML. Raises TypeError for null within a list or table, which TOML does not have."""
    if isinstance(value, str | bool | int):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_toml_key(key)} = {_toml(item)}' for key, item in value.items())} }}"
    raise TypeError(f"TOML has no {type(value).__name__}")
