"""The parts of a shelf program that the spaces decide: tables, and how wishes become an action."""

import math
from collections.abc import Sequence

from ..description import Description
from ..spaces import TEXT, Leaf
from .signals import Moving, fields_of, joints_of, moving_in


def wishes_of(known: Description) -> int:
    """The numbers of an action."""
    return sum(leaf.size for leaf in known.action)


def is_choice(known: Description) -> bool:
    """Whether an action is one discrete choice."""
    return len(known.action) == 1 and known.action[0].kind == "discrete"


def goal_places(known: Description) -> tuple[tuple[int, int], tuple[int, int], int] | None:
    """The numbers of the achieved and of the desired goal, and where those of the hand begin; None without a goal."""
    spans: dict[str, list[int]] = {"achieved_goal": [], "desired_goal": []}
    hand, start = None, 0
    for leaf in fields_of(known):
        kind = next((kind for kind in spans if leaf.name.startswith(kind)), None)
        if kind is not None:
            spans[kind] += range(start, start + leaf.size)
        elif hand is None:
            hand = start
        start += leaf.size
    achieved, desired = spans["achieved_goal"], spans["desired_goal"]
    if not known.goal or not achieved or len(achieved) != len(desired):
        return None
    together = all(numbers[-1] - numbers[0] == len(numbers) - 1 for numbers in (achieved, desired))
    return ((achieved[0], achieved[-1] + 1), (desired[0], desired[-1] + 1), hand or 0) if together else None


def facts_of(known: Description) -> dict[str, str]:
    """What replaces the names in the template."""
    moving = moving_in(known) or (Moving(name="nothing", place=None, sine=None, speed=None, place_size=1.0,
                                         speed_size=1.0),)
    rows = [
        repr((each.name, each.place, each.sine, each.speed, each.place_size, each.speed_size)) for each in moving
    ]
    fields = tuple(leaf.name for leaf in fields_of(known))
    wishes = wishes_of(known)
    return {
        "environment": known.id, "fields": _wrapped([repr(name) for name in fields], 8), "wishes": str(wishes),
        "step_s": repr(known.step_s or 1.0), "moving": _wrapped(rows, 8),
        "joints": _wrapped([str(place) for place in joints_of(known, moving, wishes)], 8), "bounds": _bounds(known),
        "own": _acting(known) + _goals(known),
    }


def _wrapped(items: Sequence[str], indent: int) -> str:
    """A tuple as text, on one line if it is short."""
    line = "(" + ", ".join(items) + ("," if len(items) == 1 else "") + ")"
    if len(line) <= 80:
        return line
    pad = " " * indent
    return "(\n" + "".join(f"{pad}{item},\n" for item in items) + " " * (indent - 4) + ")"


def _bounds(known: Description) -> str:
    if is_choice(known):
        leaf = known.action[0]
        return f"    CHOICES = {int(leaf.high[0] - leaf.low[0]) + 1}  # tune: off\n"
    low, high = _numbers(known.action, "low"), _numbers(known.action, "high")
    return f"    LOW = {low}  # tune: off\n    HIGH = {high}  # tune: off\n"


def _numbers(leaves: Sequence[Leaf], side: str) -> str:
    """The bounds of every number of the action; an infinite one counts as 1 from 0."""
    found: list[float] = []
    for leaf in leaves:
        ends = getattr(leaf, side)
        found += [end if math.isfinite(end) else math.copysign(1.0, end) for end in ends] * (
            leaf.size if len(ends) == 1 else 1)
    if len(set(found)) == 1:
        return f"np.full({len(found)}, {found[0]!r})"
    return f"np.array({[float(f'{value:.6g}') for value in found]!r})"


def _acting(known: Description) -> str:
    if is_choice(known):
        low = int(known.action[0].low[0])
        shift = f"{low} + " if low else ""
        return f'''
    def act(self, wish):
        """The number of a choice."""
        return [{shift}int(np.clip(self.choose(float(wish[0])), 0, self.CHOICES - 1))]
'''
    whole = [leaf.whole for leaf in known.action for _ in range(leaf.size)]
    if not any(whole):
        return '''
    def act(self, wish):
        """-1 is the lower bound of a number of the action, 1 the upper one."""
        return (self.LOW + 0.5 * (wish + 1.0) * (self.HIGH - self.LOW)).tolist()
'''
    exact = "" if all(whole) else f"np.where(np.array({whole!r}), whole, real)"
    real = "" if all(whole) else "        real = self.LOW + 0.5 * (wish + 1.0) * (self.HIGH - self.LOW)\n"
    return f'''
    def act(self, wish):
        """From -1 for the lower bound of a number of the action to 1 for the upper one, in whole numbers."""
        whole = np.minimum(np.floor(self.LOW + 0.5 * (wish + 1.0) * (self.HIGH - self.LOW + 1.0)), self.HIGH)
{real}        return {exact or "whole"}.tolist()
'''


def _goals(known: Description) -> str:
    places = goal_places(known)
    if places is None:
        return ""
    (achieved, achieved_end), (desired, desired_end), hand = places
    size = achieved_end - achieved
    return f'''
    def error(self):
        """From the achieved goal to the desired one."""
        return self.numbers[{desired}:{desired_end}] - self.achieved

    @property
    def achieved(self):
        """Where what has to move is."""
        return self.numbers[{achieved}:{achieved_end}]

    @property
    def hand(self):
        """The first numbers that are no goal: mostly the place of what acts."""
        return self.numbers[{hand}:{hand + size}]
'''


def number_fields(known: Description) -> int:
    """How many numbers an observation has."""
    return sum(leaf.size for leaf in known.observation if leaf.kind != TEXT)
