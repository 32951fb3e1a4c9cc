"""Hypothesis strategies for every fact, derived from the type hints of the values inside."""

import dataclasses
import importlib
import pkgutil
import types
import typing
from collections.abc import Mapping
from enum import Enum

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from memento.core import events
from memento.core.events import Fact
from memento.core.operators import OPERATORS
from memento.core.values import Document, Operator, Program

# A busy machine is not a failure.
PATIENT = settings(
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
    ],
)

FACT_CLASSES: list[type[Fact]] = [
    cls for found in pkgutil.iter_modules(events.__path__, f"{events.__name__}.")
    for cls in vars(importlib.import_module(found.name)).values()
    if isinstance(cls, type) and issubclass(cls, Fact) and cls is not Fact and cls.__module__ == found.name
]
"""Those that the modules define, whether or not the package exports them."""

finite = st.floats(allow_nan=False, allow_infinity=False)
any_text = st.text(st.characters(exclude_categories=()), max_size=12)  # lone surrogates too
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)


def of(hint: object) -> st.SearchStrategy[object]:
    """Values of a type hint as they occur in the fields of facts."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return st.one_of([of(part) for part in arguments])
    if origin is tuple:
        return st.lists(of(arguments[0]), max_size=3).map(tuple)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        plain = {int: st.integers(), str: any_text}.get(arguments[1], json_values)
        return st.dictionaries(any_text, plain, max_size=3)
    if hint in SCALARS:
        return SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    assert isinstance(hint, type) and dataclasses.is_dataclass(hint), hint
    return instances(hint)


def instances(cls: type) -> st.SearchStrategy[object]:
    """Values of a dataclass, every field drawn."""
    if cls is Document:
        return any_text.map(Document) | any_text.map(Program)
    if cls is Program:
        return any_text.map(Program)
    hints = typing.get_type_hints(cls)
    drawn = {field.name: of(hints[field.name]) for field in dataclasses.fields(cls)}
    if issubclass(cls, Fact):
        drawn["order"] = st.none() | st.from_regex(r"g[0-9]/(hill|macro|cross)/[0-9]+(/e[0-9])?", fullmatch=True)
    return st.fixed_dictionaries(drawn).map(lambda fields: cls(**fields))


SCALARS: dict[object, st.SearchStrategy[object]] = {
    type(None): st.none(),
    bool: st.booleans(),
    int: st.integers(),
    float: finite,
    Operator: st.sampled_from([*OPERATORS, Operator("simplify")]),
    str: any_text,
}
facts: st.SearchStrategy[Fact] = st.sampled_from(FACT_CLASSES).flatmap(instances)  # type: ignore[assignment]
