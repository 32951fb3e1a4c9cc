"""Where a new statement can stand among others so that every name is set before it is used."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from .program_text import FunctionNode, children

NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What some statements set and use. `now`: used when they are executed; `ever`: also when they are called."""

    names: frozenset[str] = NO_NAMES
    now: frozenset[str] = NO_NAMES
    ever: frozenset[str] = NO_NAMES

    def plus(self, other: "Piece") -> "Piece":
        """Both together."""
        return Piece(names=self.names | other.names, now=self.now | other.now, ever=self.ever | other.ever)


def piece_of(node: ast.stmt, names: frozenset[str]) -> Piece:
    """What a statement uses; the body of a function is executed when it is called, that of a class at once."""
    now: set[str] = set()
    later: set[str] = set()
    waiting: list[tuple[ast.AST, set[str]]] = [(node, now)]
    while waiting:
        part, found = waiting.pop()
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):
                found.add(part.id)
            continue
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            found.add(part.target.id)
        inner: Sequence[ast.AST] = ()
        if isinstance(part, FunctionNode):
            inner = part.body
        elif isinstance(part, ast.Lambda):
            inner = (part.body,)
        kept = set(map(id, inner))
        waiting += [(below, later) for below in inner]
        waiting += [
            (below, found) for below in children((part,)) if isinstance(below, ast.AST) and id(below) not in kept
        ]
    return Piece(names=names, now=frozenset(now), ever=frozenset(now | later))


class Ordering:
    """Pieces in their order, and new ones that get their places one after the other."""

    def __init__(self, pieces: Sequence[Piece], new: Sequence[Piece]) -> None:
        self.pieces = [*pieces]
        self._setters: dict[str, list[Piece]] = {}
        self._users: dict[tuple[str, bool], list[Piece]] = {}  # by name, and whether calls count
        for piece in (*pieces, *new):
            for name in piece.names:
                self._setters.setdefault(name, []).append(piece)
            for name in piece.ever:
                self._users.setdefault((name, True), []).append(piece)
            for name in piece.now:
                self._users.setdefault((name, False), []).append(piece)

    def insert(self, new: Piece, preferred: int | None) -> int | None:
        """Put `new` into the gap, from 0 (first), that is nearest to the preferred one; None if there is no gap.

        None as the preferred gap stands for the one before the first piece that uses it. What is called may be used:
        the names that a called function needs have to be set before the call too. Where that leaves no gap, only
        the names count that the statements themselves use, since a name in a function may be local to it.
        """
        places = enumerate(self.pieces)
        if preferred is None:
            preferred = next((place for place, piece in places if piece.ever & new.names), len(self.pieces))
        for called in (True, False):
            needs, users = self.needs(new, called=called) - new.names, self._reaching(new.names, called=called)
            least = max((place + 1 for place, piece in enumerate(self.pieces) if piece.names & needs), default=0)
            first = (place for place, piece in enumerate(self.pieces) if piece.now & users)
            most = next(first, len(self.pieces))
            if least <= most:
                gap = min(max(preferred, least), most)
                self.pieces.insert(gap, new)
                return gap
        return None

    def needs(self, piece: Piece, *, called: bool = True) -> frozenset[str]:
        """The names that a piece uses when it is executed, all that the pieces which set them use, and so on."""
        found, waiting = set(piece.now), [*piece.now]
        passed: set[int] = set()
        while waiting:
            for setter in self._setters.get(waiting.pop(), ()):
                if id(setter) not in passed:
                    passed.add(id(setter))
                    fresh = (setter.ever if called else setter.now) - found
                    found |= fresh
                    waiting += fresh
        return frozenset(found)

    def _reaching(self, names: frozenset[str], *, called: bool) -> frozenset[str]:
        """The names, and those of all pieces that use them, and so on."""
        found, waiting = set(names), [*names]
        passed: set[int] = set()
        while waiting:
            for user in self._users.get((waiting.pop(), called), ()):
                if id(user) not in passed:
                    passed.add(id(user))
                    fresh = user.names - found
                    found |= fresh
                    waiting += fresh
        return frozenset(found)
