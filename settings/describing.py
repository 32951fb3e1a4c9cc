"""The settings of runs in words, from their declarations: meaning, default, values, and where each has an effect."""

from collections.abc import Iterator
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from ..core.errors import no_such
from ..core.methods import METHODS
from .groups import EVALUATORS, GROUPS, of_field
from .model import Settings
from .presets import PRESETS
from .toml_text import toml


def in_groups() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Each group of settings with its settings: a name, and its meaning with the default."""
    for name in GROUPS:
        rows = [
            (f"  {key}", f"{field.description} ({_default(key, field)})")
            for key, field in Settings.model_fields.items() if of_field(field).name == name
        ]
        if rows:
            yield name, rows


def described(name: str) -> Iterator[str]:
    """Lines on one setting. Raises UsageError if there is none of this name."""
    field = Settings.model_fields.get(name)
    if field is None:
        raise no_such("setting", name, Settings.model_fields)
    yield f"{name}: {field.description}"
    yield f"  default  {_default(name, field).removeprefix('default ')}"
    yield f"  values   {_values(name)}"
    yield f"  group    {of_field(field).name}"
    yield f"  effect   {_effect(name, field)}"
    yield f"  set it   memento run DOMAIN --set {name}=VALUE, or {name} = VALUE in the file of --config"


def _default(name: str, field: FieldInfo) -> str:
    """The default in words; where presets differ, the value of each."""
    own = field.get_default(call_default_factory=True)
    usual = None if own is PydanticUndefined else own
    each = {preset: values.get(name, usual) for preset, values in PRESETS.items()}
    if len({str(value) for value in each.values()}) > 1:
        return ", ".join(f"{preset} {_value(value)}" for preset, value in each.items())
    if own is PydanticUndefined and next(iter(each.values())) is None:
        return "none: it has to be given"
    return f"default {_value(next(iter(each.values())))}"


def _value(value: Any) -> str:
    return "none" if value is None or value in ((), {}) else toml(value)


def _values(name: str) -> str:
    """What the setting accepts, from its schema."""
    schema = Settings.model_json_schema()["properties"][name]
    kinds = schema.get("anyOf", [schema])
    return " or ".join(filter(None, (_kind(kind) for kind in kinds)))


def _kind(kind: dict[str, Any]) -> str:
    if "enum" in kind:
        return ", ".join(map(str, kind["enum"]))
    words = {
        "integer": "an integer", "number": "a number", "string": "a text", "boolean": "true or false",
        "array": "a list", "object": "a table", "null": "none",
    }.get(str(kind.get("type")), "a value")
    bounds = (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"), ("exclusiveMaximum", "below"))
    return " ".join([words, *(f"{word} {kind[key]}" for key, word in bounds if key in kind)])


def _effect(name: str, field: FieldInfo) -> str:
    """The methods, the choices of evaluator and the switches with which the setting has an effect."""
    group = of_field(field)
    choices = (*EVALUATORS, "a file")
    pairs = {(method, choice) for method in METHODS for choice in choices if group.fits(method, choice)}
    methods = [method for method in METHODS if any(pair[0] == method for pair in pairs)]
    evaluators = [choice for choice in choices if any(pair[1] == choice for pair in pairs)]
    words = []
    if len(methods) < len(METHODS):
        words.append(f"with the methods {', '.join(methods)}")
    if len(evaluators) < len(choices):
        words.append(f"with the evaluator {' or '.join(evaluators)}")
    words += [f"none {each.otherwise.partition(':')[0]}" for each in group.switches if each.name != name]
    return "; ".join(words) or "in every run"
