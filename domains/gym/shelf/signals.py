"""What the numbers of an observation are: places and speeds of what moves, from the tables of the documentation."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ..description import Description
from ..spaces import TEXT, Leaf

MOST_MOVING: Final = 24             # in one program; a policy that reads more is no longer read by people
_ROW: Final = re.compile(r"^\s*\|\s*(\d+)\s*\|(.*)\|\s*$", re.MULTILINE)
_SPEED: Final = re.compile(r"velocit|speed|/s\b", re.IGNORECASE)
_COSINE: Final = re.compile(r"\bcos(ine)?\b", re.IGNORECASE)
_SINE: Final = re.compile(r"\bsin(e)?\b", re.IGNORECASE)
_ANGLE: Final = re.compile(r"\btheta\w*")
_XML_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
_KIND_WORDS: Final = frozenset((
    "along", "angle", "angular", "applied", "coordinate", "cos", "cosine", "direction", "hinge", "in", "inf", "joint",
    "linear", "m", "of", "on", "position", "rad", "rotor", "s", "sin", "sine", "slide", "speed", "the", "torque",
    "value", "velocities", "velocity",
))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """Something that moves: the numbers of the observation that hold its place and its speed, and their usual sizes.

    `sine` is set if the place is an angle whose cosine and sine are given; `place` is then the cosine. A place or a
    speed that is not observed is None.
    """

    name: str
    place: int | None
    sine: int | None
    speed: int | None
    place_size: float
    speed_size: float


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a table: the number it describes, all its text, and its name in the simulator's own file."""

    number: int
    text: str
    own: str


def fields_of(known: Description) -> tuple[Leaf, ...]:
    """The fields of an observation that hold numbers, in their order."""
    return tuple(leaf for leaf in known.observation if leaf.kind != TEXT)


def moving_in(known: Description) -> tuple[Moving, ...]:
    """What moves, with different names that are words; at most 24. Goals and achieved goals are left out."""
    start = 0
    found: list[Moving] = []
    for leaf in fields_of(known):
        if not leaf.name.startswith(("desired_goal", "achieved_goal")):
            rows = _table(known.documentation, "Observation", leaf.size)
            found += _moving(rows, known, leaf, start) if len(found) < MOST_MOVING else []
        start += leaf.size
    return tuple(_renamed(found[:MOST_MOVING]))


def joints_of(known: Description, moving: Sequence[Moving], wishes: int) -> tuple[int, ...]:
    """For each number of the action: which of `moving` it moves, by the simulator's names, else by their order."""
    names = [row.own for row in _table(known.documentation, "Action", wishes)]
    places = {each.name: place for place, each in enumerate(moving)}
    if len(names) == wishes and all(name in places for name in names):
        return tuple(places[name] for name in names)
    first = max(0, len(moving) - wishes)
    return tuple(min(first + place, len(moving) - 1) for place in range(wishes)) if moving else ()


def names_of(known: Description, wishes: int) -> tuple[str, ...]:
    """A name for each number of the action."""
    rows = _table(known.documentation, "Action", wishes)
    own = [row.own for row in rows if row.own]
    return tuple(own) if len(set(own)) == wishes else tuple(str(place) for place in range(wishes))


def _table(documentation: str, title: str, size: int) -> list[_Row]:
    """The rows 0, 1, … of the first table with this title that has at most `size` rows; none if there is none."""
    for part in re.split(rf"^\s*\|[^|\n]*\|\s*{title}s?\b", documentation, flags=re.MULTILINE)[1:]:
        table = part.split("\n\n")[0]
        rows = [
            _Row(int(number), " ".join(dict.fromkeys((text.split("|")[0], text.split("|")[-1]))), _own_name(text))
            for number, text in _ROW.findall(table)
        ]
        if rows and len(rows) <= size and [row.number for row in rows] == [*range(len(rows))]:
            return rows
    return []


def _own_name(text: str) -> str:
    """The name in the simulator's file: the first cell after the description that is one word in small letters."""
    cells = [cell.strip() for cell in text.split("|")[1:]]
    return next((cell for cell in cells if _XML_NAME.fullmatch(cell) and cell not in ("hinge", "slide")), "")


def _moving(rows: Sequence[_Row], known: Description, leaf: Leaf, start: int) -> list[Moving]:
    """Pair the places of one field with its speeds: by equal names, then by their order."""
    if not rows:
        rows = [_Row(number, "", "") for number in range(min(leaf.size, MOST_MOVING))]
    speeds = [row for row in rows if _SPEED.search(row.text)]
    places: list[tuple[_Row, _Row | None]] = []
    left = [row for row in rows if row not in speeds]
    while left:
        row = left.pop(0)
        pair = left and _COSINE.search(row.text) and _SINE.search(left[0].text)
        places.append((row, left.pop(0) if pair else None))
    paired = {row.number: _same(row, speeds) for row, _ in places}
    free = [speed for speed in speeds if speed not in paired.values()]
    if len(free) == sum(speed is None for speed in paired.values()):      # the rest in their order
        paired = {number: speed or free.pop(0) for number, speed in paired.items()}
    found = [
        Moving(
            name=_name(row), place=start + row.number, sine=None if sine is None else start + sine.number,
            speed=None if (speed := paired[row.number]) is None else start + speed.number,
            place_size=3.2 if sine is not None else _size(known, leaf, row.number),
            speed_size=1.0 if speed is None else _size(known, leaf, speed.number),
        )
        for row, sine in places
    ]
    return found + [
        Moving(name=_name(row), place=None, sine=None, speed=start + row.number, place_size=1.0,
               speed_size=_size(known, leaf, row.number))
        for row in free
    ]


def _same(row: _Row, speeds: Iterable[_Row]) -> _Row | None:
    """The speed of the thing whose place a row describes."""
    key = _key(row)
    return next((speed for speed in speeds if _key(speed) == key), None) if key else None


def _key(row: _Row) -> str:
    if row.own:
        return row.own
    angle = _ANGLE.search(row.text)
    if angle:
        return angle[0]
    words = re.findall(r"[a-z]+", row.text.split("(")[0].lower())
    return " ".join(word for word in words if word not in _KIND_WORDS)


def _name(row: _Row) -> str:
    return re.sub(r"\W+", "_", _key(row)).strip("_")[:24].strip("_")


def _renamed(found: Sequence[Moving]) -> list[Moving]:
    """The same with different names; what has none is numbered."""
    names: list[str] = []
    for place, each in enumerate(found):
        name = each.name if each.name.isidentifier() and each.name not in names else f"part_{place}"
        names.append(name)
    return [
        Moving(name=name, place=each.place, sine=each.sine, speed=each.speed, place_size=each.place_size,
               speed_size=each.speed_size)
        for name, each in zip(names, found, strict=True)
    ]


def _size(known: Description, leaf: Leaf, number: int) -> float:
    """The usual size of a number: the greatest of random episodes, else its bound, else 1."""
    ends = [side[number] for side in known.seen.get(leaf.name, ())]
    if not ends:
        ends = [side[number if len(side) > 1 else 0] for side in (leaf.low, leaf.high)]
    size = max(map(abs, ends))
    return float(f"{size:.2g}") if 1e-6 < size < 1e6 else 1.0
