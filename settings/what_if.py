"""What a what-if may change, and its experiments: states of recorded runs × arms of settings.

A setting may change if it decides only what a prompt shows, how a reply is asked for, or which model answers. What
shapes the state of the search, or the task, may not: the state is recorded.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..core.errors import UsageError, no_such
from ..core.files import read_bounded
from ..core.provenance import GIVEN
from ..core.values import JSON
from ..models.spec import parse_specs
from .checks import model_tables, refuse_unknown, refuse_without_effect, settle_paths, validated
from .effects import contacts, files_named
from .model import ALL, OPTIONS, TABLES, Settings
from .sources import ALIASES, MOST_BYTES, GivenValue, parse_assignments, parse_toml, provenance_of_file

SHOWN: Final = frozenset({
    "feedback", "macro_focus", "memory_detail", "memory_scope", "notes", "partners", "practice_episodes",
    "practice_on", "practice_starts",
    "prompts", "proposer_turns", "repairs", "reply",
})
"""What decides what a prompt shows, and how the reply is asked for."""
CALLS: Final = frozenset({"model", "calls_at_once", "outage_s", "budget_calls", "budget_tokens", "budget_usd"})
"""What decides which model answers, and how it is called."""
_UNLIMITED: Final[Mapping[str, JSON]] = {
    "budget_calls": None, "budget_tokens": None, "budget_usd": None, "budget_wall_s": None, "budget": {},
    "replay": None, "replay_loosely": False,
}
DRAWS, MOST_DRAWS = 8, 1_000     # of a state under an arm: if nothing is given, and at most


def changed_settings(recorded: Settings, given: Mapping[str, GivenValue]) -> Settings:
    """The settings of draws: those of the recorded run without its budgets, and with the given ones.

    Another model is called as these say, and not as the recorded one was. Raises UsageError for a setting that would
    change the state of the search or the task, and for one without effect.
    """
    given = {ALIASES.get(key, key): entry for key, entry in given.items()}
    for key, entry in given.items():
        _require_free(key, entry)
    values: dict[str, Any] = recorded.as_json() | dict(_UNLIMITED)
    own = {} if "model" in given else {spec.name: True for spec in parse_specs(recorded.model)}
    values["sampling"] = values["sampling"] if own else {}
    values["prices"] = {name: price for name, price in values["prices"].items() if name in own}
    for name, table in model_tables({key: entry for key, entry in given.items() if "." in key}).items():
        values[name] = values[name] | {
            key: values[name].get(key, {}) | entry if isinstance(entry, dict) else entry for key, entry in table.items()
        }
    plain: dict[str, Any] = {key: entry.value for key, entry in given.items() if "." not in key}
    settle_paths(plain)
    options = values.pop(OPTIONS)
    settings = validated(values | plain, given, options)
    refuse_without_effect(settings, given)
    return settings.settled().from_there(GIVEN if "model" in given else recorded.provenance)


def asking_settings(settings: Settings) -> Settings:
    """The same settings for the checks of models and budgets: of all roles, a what-if asks proposers alone."""
    sampling = {role: asking for role, asking in settings.sampling.items() if role in (ALL, "proposer")}
    return settings.model_copy(update={
        "evaluator": "reference", "evaluator_model": None, "judges": (), "critic": None, "evaluator_attacks": 0,
        "attacker_model": None, "sampling": sampling,
    })


def _require_free(key: str, entry: GivenValue) -> None:
    """Raise UsageError for a setting that may not change."""
    table, dot, rest = key.partition(".")
    if not dot:
        refuse_unknown({key: entry})
    own = table == "prices" or (table == "sampling" and ("." not in rest or rest.startswith("proposer.")))
    if key in SHOWN | CALLS or (dot and own):
        return
    raise UsageError(
        f"{key!r} cannot change in a what-if, which keeps the recorded state and its task: set what only the prompt or "
        f"the answer depends on, {', '.join(sorted(SHOWN | {'model'}))} or sampling.NAME ({entry.origin})"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfArm:
    """Settings under which the proposals of all states are drawn; without any, those that were recorded."""

    name: str
    given: Mapping[str, GivenValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfPlan:
    """States × arms: `states` are pairs of a run and a candidate or a pattern such as g*/macro/*.

    The arms are compared with the first one. `draws` are the proposals of each state under each arm.
    """

    states: tuple[tuple[str, str], ...]
    arms: tuple[WhatIfArm, ...]
    draws: int
    title: str = ""


RECORDED: Final = WhatIfArm(name="recorded")


def plan_of_flags(
    states: Sequence[tuple[str, str]], assignments: Sequence[str], *, model: str | None, draws: int, control: bool
) -> WhatIfPlan:
    """The plan of a command: one arm with the given settings, and with `control` the recorded one before it.

    Raises UsageError.
    """
    given = parse_assignments(assignments)
    if model is not None:
        if "model" in given:
            raise UsageError("'model' is given twice, by --model and by --set: keep only one")
        given["model"] = GivenValue(value=model, origin="--model")
    if control and not given:
        raise UsageError("--control has no effect without --set or --model: the recorded settings are the only arm")
    name = ", ".join(f"{key}={_word(entry.value)}" for key, entry in given.items())
    arms = (WhatIfArm(name=name, given=given),) if given else ()
    return _checked(WhatIfPlan(
        states=tuple(states), arms=(RECORDED, *arms) if control or not given else arms, draws=draws
    ), "-n")


def _word(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def plan_of_file(path: Path, *, trusted: bool = False) -> WhatIfPlan:
    """The plan in a TOML file. Raises UsageError, also for a file outside the present folder that is not `trusted` and
    names models or prompts.
    """
    try:
        table = parse_toml(read_bounded(path, MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the experiment {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the experiment {path} is not TOML: {error}") from None
    where = f"the experiment {path}"
    _require_keys(table, {"title", "draws", "states", "arms"}, where)
    states: list[tuple[str, str]] = []
    for each in _tables(table.get("states"), "states", where):
        _require_keys(each, {"run", "candidates"}, f"{where}, states")
        run, patterns = each.get("run"), each.get("candidates")
        if not isinstance(run, str) or not isinstance(patterns, list) or not all(isinstance(p, str) for p in patterns):
            raise UsageError(f'{where}, states: write them as run = "first" and candidates = ["g*/macro/*"]')
        states += [(run, str(pattern)) for pattern in patterns]
    arms = []
    for each in _tables(table.get("arms"), "arms", where):
        _require_keys(each, {"name", "set"}, f"{where}, arms")
        name, values = each.get("name"), each.get("set", {})
        if not isinstance(name, str) or not isinstance(values, dict):
            raise UsageError(f'{where}, arms: write them as name = "none" and set = {{ memory_detail = "none" }}')
        arms.append(WhatIfArm(name=name, given=_given(values, f"{path}, arm {name!r}", path.parent)))
    if not trusted:
        given: list[dict[str, object]] = [{key: entry.value for key, entry in arm.given.items()} for arm in arms]
        models = [str(each["model"]) for each in given if "model" in each]
        effects = [*contacts(models), *(effect for each in given for effect in files_named(each))]
        provenance_of_file(path).require(effects)
    draws = table.get("draws", DRAWS)
    if not isinstance(draws, int) or isinstance(draws, bool):
        raise UsageError(f"{where}: draws must be a whole number")
    return _checked(
        WhatIfPlan(states=tuple(states), arms=tuple(arms), draws=draws, title=str(table.get("title", ""))), "draws"
    )


def _given(values: Mapping[str, JSON], origin: str, folder: Path, prefix: str = "") -> dict[str, GivenValue]:
    """The settings of an arm with dotted names; a folder of prompts is relative to the file."""
    found: dict[str, GivenValue] = {}
    for key, value in values.items():
        depth = prefix.count(".")
        if isinstance(value, dict) and (prefix or key in TABLES or key == "memory") and depth < 2:
            found |= _given(value, origin, folder, f"{prefix}{key}.")
        else:
            path = key == "prompts" and not prefix and isinstance(value, str)
            found[f"{prefix}{key}"] = GivenValue(value=str(folder / str(value)) if path else value, origin=origin)
    return found


def _checked(plan: WhatIfPlan, draws: str) -> WhatIfPlan:
    """The plan. Raises UsageError for one without states or arms, with one name twice, or with too many draws."""
    if not 1 <= plan.draws <= MOST_DRAWS:
        raise UsageError(f"{draws} must be from 1 to {MOST_DRAWS}, not {plan.draws}")
    if not plan.states:
        raise UsageError("which state? name a run and a candidate, as in: memento what-if first g2/macro/0")
    if not plan.arms:
        raise UsageError("the experiment names no arm: give [[arms]] with a name and set")
    names = [arm.name for arm in plan.arms]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the experiment has the arm {name!r} twice: name it differently")
    return plan


def _tables(found: JSON, name: str, where: str) -> list[dict[str, Any]]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise UsageError(f"{where} has no [[{name}]]")
    return [each for each in found if isinstance(each, dict)]


def _require_keys(table: Mapping[str, Any], known: set[str], where: str) -> None:
    for key in table:
        if key not in known:
            raise UsageError(f"{where}: {no_such('key', key, known)}")
