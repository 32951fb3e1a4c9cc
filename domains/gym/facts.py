"""What is in force in a made environment: its arguments. For the helper process only.

Nothing is stepped: signatures and attributes are read. All texts are bounded.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from ...core.text import one_line

MOST_ARGUMENTS: Final = 2_500   # characters of all arguments
MOST_VALUE: Final = 1_200       # of one value on a line
MOST_WORDS: Final = 140         # of what the documentation says of an argument
_MAP_SIZE: Final = 2_000        # characters of a map that is shown as it is
_OF_PICTURES: Final = re.compile(
    r"render|camera|screen|window|visual|highlight|tile_size|max_geom|agent_pov|colou?r|canvas|background|_offset$"
    r"|grid_origin|cell_size|_pos$|centering|scaling|trajector|manual_control|real_time"
    r"|^((observation|visualization|image|window)_)?(width|height)$"
)
_NO_FACTS: Final = re.compile(
    r"^spec$|seed|^initial_qpos$|_file$|_path$|^id$|^file$|^isopen$|metadata|num_envs|_config$"
)
_NOT_GIVEN: Final = inspect.Parameter.empty


def arguments_text(bare: Any, kwargs: Mapping[str, Any], documentation: str) -> str:
    """The arguments in force, one a line with what the documentation says of each; "" for none."""
    lines: list[str] = []
    room = MOST_ARGUMENTS
    values = [*_in_force(bare, kwargs)]
    for place, (name, value) in enumerate(values):
        shown = _value(value)
        if shown is None:
            continue
        words = _said_of(name, documentation)
        line = f"- {name} = {shown}" + (f"{chr(10) if chr(10) in shown else ' '}({words})" if words else "")
        if len(line) > room:
            lines.append(f"- ({len(values) - place} more arguments are left out.)")
            break
        room -= len(line) + 1
        lines.append(line)
    return "\n".join(["### Arguments in force", "", *lines]) if lines else ""


def values_in_force(bare: Any, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """By name, the value of each argument."""
    return dict(_in_force(bare, kwargs))


def _in_force(bare: Any, kwargs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Name and value of each argument: as given, as the environment holds it, or the default of its own class."""
    seen: set[str] = set()
    own = True
    for each in type(bare).__mro__:
        init = each.__dict__.get("__init__")
        if init is None or each is object:
            continue
        try:
            parameters = [*inspect.signature(init).parameters.values()][1:]
        except (TypeError, ValueError):
            break
        for parameter in parameters:
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or parameter.name in seen:
                continue
            seen.add(parameter.name)
            value = kwargs.get(parameter.name, _held_value(bare, parameter, own=own))
            if value is not _NOT_GIVEN and value is not None and not is_no_fact(parameter.name):
                yield parameter.name, value
        own = False
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            break
    yield from ((name, kwargs[name]) for name in kwargs if name not in seen and not is_no_fact(name))


def is_no_fact(name: str) -> bool:
    """Whether an attribute of this name says nothing of a task."""
    return bool(_OF_PICTURES.search(name) or _NO_FACTS.search(name) or name == "max_episode_steps")


def _held_value(bare: Any, parameter: inspect.Parameter, *, own: bool) -> Any:
    """What the environment holds under the name of an argument; a base class's default may have been replaced."""
    default = parameter.default
    if own and default is not _NOT_GIVEN and default is not None:
        return default
    attributes = getattr(bare, "__dict__", {})
    return attributes.get(parameter.name, attributes.get(f"_{parameter.name}", None))


def _value(value: Any) -> str | None:
    """A value as text, a map as a block; None for what is no plain value."""
    if (rows := map_text(value)) is not None:
        return "\n\n" + "\n".join(f"    {row}" for row in rows) + "\n"
    plain = plain_text(value)
    return None if plain is None else one_line(plain, MOST_VALUE)


def map_text(value: Any) -> list[str] | None:
    """The rows of a grid of short cells or of equally long texts; None for anything else."""
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "SU":
        value = [[cell.decode() if isinstance(cell, bytes) else str(cell) for cell in row] for row in value]
    if not isinstance(value, list | tuple) or len(value) < 2:
        return None
    if all(isinstance(row, str) for row in value):
        rows = [*value] if len(value) > 2 and len({len(row) for row in value}) == 1 else []
    else:
        whole = all(isinstance(row, list | tuple) and len(row) > 2 for row in value)
        cells = [[str(cell) for cell in row] for row in value] if whole else []
        small = all(len(cell) == 1 for row in cells for cell in row)
        rows = [" ".join(row) for row in cells] if small and len({len(row) for row in cells}) == 1 else []
    return rows if rows and sum(map(len, rows)) <= _MAP_SIZE else None


def plain_text(value: Any) -> str | None:
    """A plain value in short; None for objects."""
    match value:
        case bool() | np.bool_() | None:
            return str(value)
        case int() | np.integer():
            return str(int(value))
        case float() | np.floating():
            return f"{float(value):.6g}"
        case str():
            return repr(value)
        case np.ndarray() if value.size <= 16 and value.dtype.kind in "biuf":
            return plain_text(value.tolist())
        case list() | tuple() if len(value) <= 64:
            parts = [plain_text(each) for each in value]
            return None if any(part is None for part in parts) else f"[{', '.join(filter(None, parts))}]"
        case Mapping() if len(value) <= 64:
            kept = [(key, plain_text(each)) for key, each in value.items() if not is_no_fact(str(key))]
            return "{" + ", ".join(f"{key}: {each}" for key, each in kept if each is not None) + "}"
    return None


def _said_of(name: str, documentation: str) -> str:
    """What the documentation says of an argument, in its table or list of arguments; "" for nothing."""
    text = re.sub(r"</?[A-Za-z][^<>]*>", "", documentation)
    row = re.search(rf"(?m)^\s*\|\s*`{re.escape(name)}`\s*\|(.*)\|\s*$", text)
    item = re.search(_ITEM_OF.format(name=re.escape(name)), text) or re.search(
        _ARGUMENT_OF.format(name=re.escape(name)), text)
    said = row[1].split("|")[-1] if row is not None else ""
    if row is None and item is not None:
        ends = r"(?<=[.:])\s" if item.re.groups == 1 else r"(?<=\.)\s"
        said = re.split(ends, one_line(item[item.re.groups], 800))[0]
    said = re.sub(r"\(see [^)]*\)|^\([\w\[\], |.\"']+\):?\s*", "", said)
    return one_line(said.strip().rstrip(".: "), MOST_WORDS)


# A line that begins with the name in a list, or with the name and a colon; then lines up to the next one of that kind.
_ITEM_OF: Final = (
    r"(?m)^\s*(?:[-*]\s+`{name}(?:=[^`]*)?`\s*[:–-]?|`{name}(?:=[^`]*)?`\s*:)\s*"
    r"(.*(?:\n(?!\s*$|\s*[-*]\s|\s*`\w+(?:=[^`]*)?`\s*[:–]).*)*)"
)
# As Google's and Sphinx's styles have arguments: "name (type): …" and ":param name: …", then lines indented more.
_ARGUMENT_OF: Final = (
    r"(?m)^([ \t]*)(?::param\s+(?:[\w\[\]]+\s+)?{name}:|{name}(?:\s*\([^)\n]*\))?:)[ \t]*(.*(?:\n\1[ \t]+\S.*)*)"
)
