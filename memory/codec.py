"""Lossless conversion of facts to JSON and back; texts and repeated values are stored once, by content hash.

A fact becomes one small JSON object. Wherever it holds a Document, Program or Examination the object has a
reference "KIND:SHA256" and the value itself is a Blob: a program appears in many facts, an examination in
three, and each is stored once. Episodes and scores stay in the one fact that reports them.

Lossless means that decode(encode(fact)) == fact with the same types. Values that JSON cannot represent are refused
with a StoreError, never changed: NaN and infinities, tuples or NumPy numbers inside metrics, keys that are not
strings.
"""

import dataclasses
import hashlib
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

from ..core import events
from ..core.errors import StoreError
from ..core.events import Fact
from ..core.turns import Passage
from ..core.values import Document, Examination, Operator, Program

Step = Callable[[Any, dict[str, "Blob"]], Any]
Back = Callable[[Any, Mapping[str, Any]], Any]
Make = TypeVar("Make", bound=Callable[..., Any])

KEPT_ONCE: dict[str, type] = {
    "document": Document,
    "program": Program,
    "passage": Passage,
    "examination": Examination,
}
_KIND_OF = {cls: kind for kind, cls in KEPT_ONCE.items()}
_REFERENCE = re.compile(rf'"((?:{"|".join(KEPT_ONCE)}):[0-9a-f]{{64}})"')

FACTS: dict[str, type[Fact]] = {
    name: cls
    for name, cls in vars(events).items()
    if isinstance(cls, type) and issubclass(cls, Fact) and cls is not Fact
}


@dataclass(frozen=True, slots=True)
class Blob:
    """A value stored once: the text of a document or program, or the JSON of a value."""

    kind: str
    content: str

    @property
    def digest(self) -> str:
        """SHA-256 of the content in hexadecimal; for documents the same as Document.digest."""
        return digest_of(self.content)


class Encoded(NamedTuple):
    """A fact in the form of the store. The keys of `blobs` are references such as "program:3fa9…"."""

    kind: str
    order: str | None
    body: str
    blobs: dict[str, Blob]


def digest_of(content: str) -> str:
    """SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def encode(fact: Fact) -> Encoded:
    """The fact as JSON with its blobs. Raises StoreError if JSON cannot represent it exactly."""
    kind = type(fact).__name__
    blobs: dict[str, Blob] = {}
    try:
        fields = _plain_fields(type(fact))(fact, blobs)
        order = fields.pop("order")
        if order is not None:
            order.encode()
        return Encoded(kind, order, _dumps(fields), blobs)
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StoreError(f"the fact {kind} of order {fact.order} cannot be kept exactly: {error}") from error


def decode(kind: str, order: str | None, body: str, values: Mapping[str, Any]) -> Fact:
    """The decoded fact. `values` holds at least the value of every reference in `references(body)`.

    Raises StoreError for an unknown kind of fact and for a damaged fact.
    """
    cls = FACTS.get(kind)
    if cls is None:
        raise StoreError(f"the run has a fact {kind!r} that this version of MEMENTO does not know")
    try:
        fields = json.loads(body, parse_constant=_refuse)
        fields["order"] = order
        return typing.cast(Fact, _from_fields(cls)(fields, values))
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise StoreError(f"a fact {kind} of order {order} is damaged: {error!r}") from error


def references(body: str) -> list[str]:
    """The blobs that a body refers to (and at worst a text that looks like a reference)."""
    return _REFERENCE.findall(body)


def revive(reference: str, content: str) -> Any:
    """The value of a reference. Raises StoreError if the content is not the stored one."""
    kind, _, digest = reference.partition(":")
    if digest_of(content) != digest:
        raise StoreError(f"the {kind} {digest[:12]} is damaged: its content has another hash")
    cls = KEPT_ONCE[kind]
    if issubclass(cls, Document):
        return cls(content)
    try:
        return _from_fields(cls, inline=True)(json.loads(content, parse_constant=_refuse), {})
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise StoreError(f"the {kind} {digest[:12]} is damaged: {error!r}") from error


def _cached_per_class(make: Make) -> Make:
    return typing.cast(Make, cache(make))  # mypy does not accept classes as hashable


def _dumps(value: Any) -> str:
    # Not ensure_ascii: two adjacent lone surrogates would be decoded as one character.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# ------------------------------------------------------------------------------------------- encoding


def _encoder(hint: Any, *, inline: bool = False) -> Step:
    """The function that encodes values of this type. `inline` keeps blobs in place."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        inner = _encoder(_only(hint), inline=inline)
        return lambda value, blobs: None if value is None else inner(value, blobs)
    if origin is tuple:
        return _rows(_encoder(typing.get_args(hint)[0], inline=inline))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping
    if dataclasses.is_dataclass(hint):
        return _keep if hint in _KIND_OF and not inline else _plain_fields(hint, inline=inline)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum
    return _scalar


@_cached_per_class
def _plain_fields(cls: Any, *, inline: bool = False) -> Step:
    hints = typing.get_type_hints(cls)
    steps = [(field.name, _encoder(hints[field.name], inline=inline)) for field in dataclasses.fields(cls)]

    def encode_fields(value: Any, blobs: dict[str, Blob]) -> dict[str, Any]:
        return {name: step(getattr(value, name), blobs) for name, step in steps}

    return encode_fields


def _keep(value: Any, blobs: dict[str, Blob]) -> str:
    kind = _KIND_OF[type(value)]
    inline = _plain_fields(type(value), inline=True)
    blob = Blob(kind, value.text if isinstance(value, Document) else _dumps(inline(value, blobs)))
    reference = f"{kind}:{blob.digest}"
    blobs[reference] = blob
    return reference


def _enum(value: Any, _: dict[str, Blob]) -> Any:
    return value.value


def _rows(item: Step) -> Step:
    def encode_rows(value: Any, blobs: dict[str, Blob]) -> list[Any]:
        if not isinstance(value, tuple):
            raise TypeError(f"a {type(value).__name__} where a tuple belongs")
        return [item(one, blobs) for one in value]

    return encode_rows


def _scalar(value: Any, _: dict[str, Blob]) -> Any:
    if value is not None and not isinstance(value, (str, int, float)):
        raise TypeError(f"a {type(value).__name__} where a text or number belongs")
    return value


def _mapping(value: Mapping[str, Any], _: dict[str, Blob]) -> dict[str, Any]:
    plain = dict(value)
    _check(plain)
    return plain


def _check(value: Any) -> None:
    """Raises TypeError if json would silently convert a value."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a text")
            _check(item)
    elif isinstance(value, list):
        for item in value:
            _check(item)
    elif value is not None and not isinstance(value, (str, int, float)):
        raise TypeError(f"a {type(value).__name__} is not JSON")


# ------------------------------------------------------------------------------------------- decoding


def _decoder(hint: Any, *, inline: bool = False) -> Back | None:
    """The function that decodes values of this type; None if JSON is already the value."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        inner = _decoder(_only(hint), inline=inline)
        return inner and (lambda value, values: None if value is None else inner(value, values))
    if origin is tuple:
        item = _decoder(typing.get_args(hint)[0], inline=inline)
        return (lambda value, values: tuple([item(one, values) for one in _list_of(value)])) if item else _tuple
    if dataclasses.is_dataclass(hint):
        return _fetch if hint in _KIND_OF and not inline else _from_fields(hint, inline=inline)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda value, _: hint(value)
    if hint in _SCALARS:
        return _SCALARS[hint]
    if origin is not None and issubclass(origin, Mapping):
        return _table
    return None


@_cached_per_class
def _from_fields(cls: Any, *, inline: bool = False) -> Back:
    hints = typing.get_type_hints(cls)
    steps = [
        (field.name, back)
        for field in dataclasses.fields(cls)
        if (back := _decoder(hints[field.name], inline=inline)) is not None
    ]

    def decode_fields(fields: dict[str, Any], values: Mapping[str, Any]) -> Any:
        for name, back in steps:
            if name in fields:  # a field added in a later version gets its default
                fields[name] = back(fields[name], values)
        return cls(**fields)

    return decode_fields


def _fetch(reference: str, values: Mapping[str, Any]) -> Any:
    return values[reference]


def _tuple(value: Any, _: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(_list_of(value))


def _list_of(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"a {type(value).__name__} where a list belongs")
    return value


def _table(value: Any, _: Mapping[str, Any]) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"a {type(value).__name__} where an object belongs")
    return value


def _text(value: Any, _: Mapping[str, Any]) -> Any:
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} where a text belongs")
    return value


def _operator(value: Any, values: Mapping[str, Any]) -> Any:
    return Operator(_text(value, values))


def _number(value: Any, _: Mapping[str, Any]) -> Any:
    if not isinstance(value, int | float) or not -_MOST <= value <= _MOST:
        raise TypeError("something else where a finite number belongs")
    return value


_MOST = sys.float_info.max
_SCALARS: dict[Any, Back] = {str: _text, Operator: _operator, int: _number, float: _number, bool: _number}


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")


def _only(hint: Any) -> Any:
    """X of `X | None`; the JSON type itself counts as plain."""
    parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
    return parts[0] if len(parts) == 1 else object
