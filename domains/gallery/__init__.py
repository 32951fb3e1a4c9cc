"""The gallery: programs that searches by a language model found, each with its settings, its figures and its tape.

An entry is a file of facts, `entries/NAME.toml`, and the program, `entries/NAME.txt`. Wherever a policy file is taken,
`gallery:NAME` names the program of an entry.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...core.errors import UsageError, no_such
from ...core.values import JSON

PREFIX: Final = "gallery:"
ENTRIES: Final = Path(__file__).parent / "entries"
SEED: Final = 700_000         # of the first episode of a figure
SALT: Final = "5eed0000000000000000000000000001"
NOMINAL: Final = "nominal"      # the conditions of the search


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A figure that others published for the task, and in what it differs."""

    what: str
    value: str
    differs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredFigure:
    """The program on episodes that no choice was made by: means with intervals of 95 %.

    `conditions` is "nominal", or the name of the domain's options that were changed, `options`. The return is None for
    a task without rewards, the success rate for one without success. Episode k has the seed `SEED` + k, with `SALT`;
    `first` are the returns of the first ones, or 1 for a success and 0 for none where there is no return.
    """

    conditions: str
    episodes: int
    first: tuple[float, ...]
    options: Mapping[str, JSON] = field(default_factory=dict)
    success: tuple[float, float, float] | None = None       # rate, lower and upper end
    returned: tuple[float, float, float] | None = None      # mean, lower and upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageStep:
    """A candidate in the descent of the program, in the replayed run: its id, its parents, F, and what it changed."""

    id: str
    fitness: float
    summary: str
    parents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchYield:
    """What a branch of the search gave in the replayed run.

    Of its proposals, how many could run, how many of these had a higher F than their parents, the largest gain, and how
    many became an elite.
    """

    branch: str
    proposed: int
    valid: int
    gained: int
    largest: float
    elites: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionYield:
    """What selection on fresh episodes changed in the replayed run, and what else it spent.

    `first` is the program of the highest F on the search's own episodes, `returned` what the run returned; each with
    its mean on fresh episodes, and how many, where it has any. `challenges` of an elite took place, `refuted` of them
    kept the old one. Tuning took the share `tuning` of the search's episodes; `reintroduced` is as in a run's card.
    """

    first: str
    returned: str
    challenges: int
    refuted: int
    tuning: float
    first_fresh: tuple[float, int] | None = None
    returned_fresh: tuple[float, int] | None = None
    reintroduced: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryProgram:
    """A program of the gallery, and how it was found."""

    name: str
    title: str
    domain: str
    options: Mapping[str, JSON]
    replies: int
    episodes: int           # that the search spent
    found: str              # by which candidate, and which replies gained what
    luck: str               # what of it was luck
    ms_a_call: float        # CPU time of a call, median
    tape: str               # in the repository
    published: tuple[Published, ...]
    measured: tuple[MeasuredFigure, ...]
    lineage: tuple[LineageStep, ...] = ()       # parents before children, the program last
    branches: tuple[BranchYield, ...] = ()
    selection: SelectionYield | None = None     # None: the tape was not replayed

    @property
    def program(self) -> Path:
        """The file of the program."""
        return ENTRIES / f"{self.name}.txt"

    def under(self, conditions: str) -> MeasuredFigure | None:
        """The figures under these conditions, if they were measured."""
        return next((each for each in self.measured if each.conditions == conditions), None)


def gain_of(step: LineageStep, lineage: Sequence[LineageStep]) -> float | None:
    """F of a step minus that of its best parent; None for p_0."""
    before = [each.fitness for each in lineage if each.id in step.parents]
    return step.fitness - max(before) if before else None


def names() -> list[str]:
    """The names of all entries, in order."""
    return sorted(path.stem for path in ENTRIES.glob("*.toml"))


def entry(name: str) -> GalleryProgram:
    """The entry of this name. Raises UsageError with the nearest names."""
    if name not in names():
        raise no_such("program of the gallery", name, names())
    return _entry(name, tomllib.loads((ENTRIES / f"{name}.toml").read_text(encoding="utf-8")))


def policy_file(given: Path | str) -> Path:
    """The file of a policy: that of the gallery's entry for "gallery:NAME". Raises UsageError for an unknown name."""
    text = str(given)
    return entry(text.removeprefix(PREFIX)).program if text.startswith(PREFIX) else Path(given)


def _entry(name: str, facts: Mapping[str, Any]) -> GalleryProgram:
    try:
        return GalleryProgram(**{
            "options": {}, **facts, "name": name,
            "published": tuple(Published(**each) for each in facts.get("published", ())),
            "measured": tuple(_figure(each) for each in facts.get("measured", ())),
            "lineage": tuple(
                LineageStep(**{**each, "parents": tuple(each["parents"])}) for each in facts.get("lineage", ())
            ),
            "branches": tuple(BranchYield(**each) for each in facts.get("branches", ())),
            "selection": _selection(facts["selection"]) if "selection" in facts else None,
        })
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"the gallery's entry {name} cannot be read: {error}") from None


def _selection(facts: Mapping[str, Any]) -> SelectionYield:
    pairs: dict[str, Any] = {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
    return SelectionYield(**{**facts, **pairs})


def _figure(facts: Mapping[str, Any]) -> MeasuredFigure:
    found: dict[str, Any] = {
        key: tuple(value) if key in ("first", "success", "returned") else value for key, value in facts.items()
    }
    return MeasuredFigure(**found)
