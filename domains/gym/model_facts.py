"""The model of a made environment: its simulated bodies, and the constants of its code. For the helper process only."""

import re
import sys
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from .bodies import bodies_text
from .facts import is_no_fact, map_text, plain_text
from .mujoco_model import body_name, model_and_data, mujoco_text
from .own_code import classes_of, constant_attributes, meanings, plain_dataclasses

MOST_CONSTANTS: Final = 40


def model_text(bare: Any, before: Mapping[str, Any], arguments: str = "") -> str:
    """The model in tables, and the constants; "" if there is nothing to read.

    `before` holds the environment's plain attributes at an earlier time: only those that stayed are constants. What
    the text of the `arguments` names is not repeated.
    """
    named = frozenset(re.findall(r"(?m)^- (\w+) = ", arguments))
    model, _ = model_and_data(bare)
    bodies = mujoco_text(bare, model) if model is not None else bodies_text(bare)
    return "\n\n".join(filter(None, (bodies, _constants_text(bare, before, named))))


def plain_attributes(bare: Any) -> dict[str, Any]:
    """The public numbers of an environment, by attribute, that its code sets to values written there."""
    constant = constant_attributes(bare)
    return {
        name: value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in getattr(bare, "__dict__", {}).items()
        if name in constant and not name.startswith("_") and _is_numbers(value) and not is_no_fact(name)
    }


def _constants_text(bare: Any, before: Mapping[str, Any], named: frozenset[str]) -> str:
    """Named numbers of the module, the class, and the object that a random episode left alone, with their meaning."""
    found: dict[str, str] = {}
    module = sys.modules.get(type(bare).__module__)
    sources: list[Mapping[str, Any]] = [vars(module) if module is not None else {}, *map(vars, classes_of(bare))]
    for source in sources:
        for name, value in source.items():
            constant = re.fullmatch(r"[A-Z][A-Z0-9_]+", name) and _is_numbers(value) and map_text(value) is None
            if constant and not is_no_fact(name.lower()):
                found.setdefault(name, plain_text(value) or "")
    now = plain_attributes(bare)
    said = meanings(bare)
    found |= {name: plain_text(value) or "" for name, value in now.items()
              if before.get(name) == value and (name in said or _says_itself(name, value))}
    found |= {name: plain_text(value) or "" for name, value in plain_dataclasses(bare).items()
              if name.lower() not in ("actions", "action")}
    lines = [f"{name} = {value}" + (f" ({said[name]})" if name in said else "") for name, value in found.items()
             if value and name not in named]
    more = [f"and {len(lines) - MOST_CONSTANTS} more"] if len(lines) > MOST_CONSTANTS else []
    if not lines:
        return ""
    return ("### Constants of the environment\n\nAs its code names them: "
            + "; ".join([*lines[:MOST_CONSTANTS], *more]) + ".")


def _says_itself(name: str, value: Any) -> bool:
    """Whether the name of an attribute without a comment tells what its value means: a word, and one number."""
    return not isinstance(value, list | tuple) and value != 0 and re.search("[A-Za-z]{4}|^dt$", name) is not None


def _is_numbers(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iuf" and 0 < value.size <= 24
    if isinstance(value, list | tuple):
        return 0 < len(value) <= 24 and all(_is_numbers(each) for each in value)
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def parts_of(bare: Any, size: int) -> list[tuple[str, int]]:
    """Names of consecutive numbers of an observation of this size, where the environment gives its structure."""
    structure, (model, _) = getattr(bare, "observation_structure", None), model_and_data(bare)
    if not isinstance(structure, Mapping):
        return []
    parts = [
        (str(name), int(count)) for name, count in structure.items()
        if isinstance(count, int | np.integer) and count > 0 and not str(name).startswith("skipped")
    ]
    if sum(count for _, count in parts) != size:
        return []
    bodies = [body_name(model, place) for place in range(1, model.nbody)] if model is not None else []
    each = {"cinert": 10, "cvel": 6, "cfrc_ext": 6}
    return [
        (f"{name}, {each[name]} numbers for each body: {', '.join(bodies)}"
         if count == each.get(name, -1) * len(bodies) else name, count)
        for name, count in parts
    ]
