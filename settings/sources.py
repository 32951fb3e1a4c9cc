"""Where settings come from: the command line, the environment, a file."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import UsageError
from ..core.files import read_bounded
from ..core.provenance import Provenance
from ..core.values import JSON
from ..models.command_model import VARIABLES
from .groups import EVALUATORS

PREFIX = "MEMENTO_"
MOST_BYTES = 1_000_000     # of a settings file
# Read by the command line, set by the launcher, or set for programs:
ELSEWHERE = frozenset({"MEMENTO_RUNS", "MEMENTO_DISPLAY", "MEMENTO_CALLED", *VARIABLES})
FLAGS = {"domain": "DOMAIN", "judges": "--judge"}  # flags with another name than their setting
ALIASES = {"memory.detail": "memory_detail", "memory.scope": "memory_scope"}  # settings as a table in a file


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenValue:
    """A given value and its source, which error messages name."""

    value: JSON
    origin: str


def parse_toml(text: str) -> dict[str, JSON]:
    """The values of a TOML text. Raises TOMLDecodeError, also where it is nested too deep or a number is too long."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deep") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:     # Python refuses a number of more than 4,300 digits
        raise tomllib.TOMLDecodeError(str(error)) from None


def parse_assignments(assignments: Iterable[str]) -> dict[str, GivenValue]:
    """`key=value` texts of `--set`. Raises UsageError for a text without "=" and for a key given twice."""
    found: dict[str, GivenValue] = {}
    for text in assignments:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise UsageError(f"--set {text!r} is not of the form key=value, as in --set k_hc=5")
        if key in found:
            raise UsageError(f"--set gives {key!r} twice: keep only one")
        found[key] = GivenValue(value=_parse(key, value.strip()), origin="--set")
    return found


def from_command_line(
    flags: Mapping[str, JSON], assignments: Sequence[str], *, origin: str | None = None
) -> dict[str, GivenValue]:
    """The values of flags (None: not given) and of `--set`. Raises UsageError for a key given by both.

    `origin` says where the values come from if not from flags, with {} for the key.
    """
    chosen = {
        key: GivenValue(value=value, origin=_flag(key) if origin is None else origin.format(key))
        for key, value in flags.items()
        if value is not None
    }
    assigned = parse_assignments(assignments)
    for key in chosen.keys() & assigned.keys():
        raise UsageError(f"{key!r} is given twice, by {chosen[key].origin} and by --set: keep only one")
    return chosen | assigned


def _flag(key: str) -> str:
    return FLAGS.get(key, f"--{key.replace('_', '-')}")


def from_environment(environment: Mapping[str, str]) -> dict[str, GivenValue]:
    """MEMENTO_K_HC=5 sets k_hc, MEMENTO_HANOI__GOAL_UPDATE=desired sets hanoi.goal_update."""
    found = {}
    for variable, text in environment.items():
        if variable.startswith(PREFIX) and variable not in ELSEWHERE:
            key = variable.removeprefix(PREFIX).lower().replace("__", ".")
            found[key] = GivenValue(value=_parse(key, text), origin=f"the environment variable {variable}")
    return found


def provenance_of_file(path: Path) -> Provenance:
    """A file of settings in the present folder, or below it, is trusted: another may be somebody else's."""
    own = Path.cwd().resolve() in path.resolve().parents
    return Provenance(place=f"the file {path.name!r}, which is outside this folder", trusted=own)


def from_file(path: Path) -> dict[str, GivenValue]:
    """The values of a TOML file: settings at the top, the domain's options in a table with its name."""
    try:
        values = parse_toml(read_bounded(path, MOST_BYTES).decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the settings file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"the settings file {path} is not TOML: {error}") from None
    found: dict[str, GivenValue] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            inner = _flat(value, key, depth=2 if key in ("budget", "sampling") else 1)
            found |= {name: GivenValue(value=each, origin=str(path)) for name, each in inner}
        elif key in {"initial", "evaluator", "prompts"} and isinstance(value, str) and value not in EVALUATORS:
            found[key] = GivenValue(value=str(path.parent / value), origin=str(path))   # relative to the file
        else:
            found[key] = GivenValue(value=value, origin=str(path))
    return found


def _flat(table: Mapping[str, JSON], name: str, *, depth: int) -> Iterator[tuple[str, JSON]]:
    """The dotted names in a table, at most `depth` levels down."""
    for key, value in table.items():
        if depth > 1 and isinstance(value, dict):
            yield from _flat(value, f"{name}.{key}", depth=depth - 1)
        else:
            yield f"{name}.{key}", value


_TEXTS = frozenset(
    {
        "domain", "method", "preset", "model", "evaluator_model", "attacker_model", "evaluator", "initial", "prompts",
        "exploits", "salt",
    }
)


def _parse(key: str, text: str) -> JSON:
    """The value of a text in TOML syntax, else the text itself; commas separate names of judges and of variables."""
    if key in _TEXTS:
        return text
    if key in ("judges", "env") and not text.startswith("["):
        return [name.strip() for name in text.split(",") if name.strip()]
    try:
        return parse_toml(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
