"""Settings as TOML text."""

import json
from collections.abc import Iterator

from ..core.values import JSON


def table_lines(name: str, table: JSON, *, everyone: str) -> Iterator[str]:
    """A table for models as TOML, without values that were not given; the role `everyone` is the table itself."""
    assert isinstance(table, dict)
    if name == "prices" and table:
        yield from ("", "[prices]", *(f"{toml_key(model)} = {toml(_given(price))}" for model, price in table.items()))
    for role, values in table.items() if name != "prices" else ():
        assert isinstance(values, dict)
        lines = [f"{key} = {toml(value)}" for key, value in values.items() if value is not None]
        if lines:
            yield from ("", f"[{name}]" if role == everyone else f"[{name}.{role}]", *lines)


def _given(values: JSON) -> JSON:
    """A table without the values that were not given."""
    assert isinstance(values, dict)
    return {key: value for key, value in values.items() if value is not None}


def is_bare(key: str) -> bool:
    """Whether a name needs no quotes in TOML."""
    return bool(key) and all(letter.isascii() and (letter.isalnum() or letter in "-_") for letter in key)


def toml_key(key: str) -> str:
    """A name as TOML."""
    return key if is_bare(key) else json.dumps(key)


def toml(value: JSON) -> str:
    """One value as TOML. Raises TypeError for null within a list or table, which TOML does not have."""
    if isinstance(value, str | bool | int):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(toml(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{toml_key(key)} = {toml(item)}' for key, item in value.items())} }}"
    raise TypeError(f"TOML has no {type(value).__name__}")
