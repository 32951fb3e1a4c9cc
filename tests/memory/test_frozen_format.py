"""What a log of 0.1.0 holds is still what this version reads: names, fields and words may be added, never taken away.

The file beside this one was written when the format was frozen. It is never rewritten.
"""

import dataclasses
import json
import types
import typing
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from memento.memory.codec import FACTS
from memento.settings import Settings
from memento.settings.recorded import BEFORE

FROZEN: Mapping[str, Mapping[str, list[str]]] = json.loads((Path(__file__).parent / "frozen-0.1.0.json").read_text())


def parts(hint: Any) -> Iterator[type]:
    """The classes in a type hint, such as Episode in `tuple[Episode | None, ...]`."""
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
        yield hint
    for part in typing.get_args(hint):
        yield from parts(part)


def stored(path: str, one: type, above: tuple[type, ...] = ()) -> Iterator[tuple[str, type]]:
    """A dataclass or enumeration and all within it, each by its path from a fact, such as "EpisodeEnded.episode"."""
    if issubclass(one, Enum):
        yield path, one
    elif dataclasses.is_dataclass(one) and one not in above:
        yield path, one
        for name, hint in typing.get_type_hints(one).items():
            for part in parts(hint):
                yield from stored(f"{path}.{name}", part, (*above, one))


def by_path() -> dict[str, type]:
    """All that a log holds. The name of a class within a fact is not stored, so it may change."""
    return {path: one for name, fact in FACTS.items() for path, one in stored(name, fact)}


NOW = by_path()


def required(one: type) -> set[str]:
    missing = dataclasses.MISSING
    return {each.name for each in dataclasses.fields(one)
            if each.init and each.default is missing and each.default_factory is missing}


def test_every_fact_of_the_frozen_format_is_known() -> None:
    assert {*FROZEN["facts"]} <= {*FACTS}


@pytest.mark.parametrize("fact", FROZEN["facts"])
def test_fields_and_words_stay(fact: str) -> None:
    for path, names in FROZEN["fields"].items():
        if path.partition(".")[0] == fact:
            check(NOW[path], {*names})


def check(one: type, known: set[str]) -> None:
    """A class that holds what was stored under these names."""
    if issubclass(one, Enum):
        assert known <= {each.value for each in one}
    else:
        assert known <= {each.name for each in dataclasses.fields(one)}
        assert required(one) <= known, "a new field has a default, which is what older logs mean by its absence"


def test_settings_stay() -> None:
    known = {*FROZEN["settings"]}
    assert known <= {*Settings.model_fields}
    new = {*Settings.model_fields} - known
    assert not [key for key in new - {*BEFORE} if Settings.model_fields[key].is_required()]
