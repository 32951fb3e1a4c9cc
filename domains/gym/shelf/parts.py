"""The parts of a shelf that the spaces decide: constants and alternatives with the names of what moves."""

import math
from collections.abc import Sequence
from typing import Final

from ....core.ports import ShelfPart
from ..description import Description
from ..spaces import TEXT, Leaf
from .signals import Moving, fields_of, joints_of, moving_in, names_of

# The parts of a shelf program that the spaces decide: tables, and how wishes become an action.


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


GOAL: Final = "goal"
FEEDBACK: Final = "feedback"
CHOICE: Final = "choice"
RHYTHM: Final = "rhythm"
RULE: Final = "rule"
MOST_SEEN: Final = 1024            # numbers of an observation; more are a picture, whose episodes are slow
MOST_SINGLED_OUT: Final = 6         # of what moves, in alternatives that use it alone
MOST_STATES: Final = 32             # of a discrete observation, for a table with one choice per state
TUNED: Final = 240                  # episodes of a tuning, enough for 20 populations of 12
MOST_OWN: Final = 16                # numbers of an action with a phase, an amplitude and a middle each
MANY_JOINTS: Final = 4              # that are seen: fewer are rather an arm's or a vehicle's than a body's
NEAR_RATE: Final = 1.5              # of a gait, to the rate that fits its joints
FOLLOWED: Final = (                 # a gait: each joint follows a sine with its own phase, amplitude and middle
    "Every joint follows the place that the rhythm gives it.", "Its own phase for every joint.",
    "Its own amplitude for every joint.", "Its own middle for every joint.",
)


def kinds_of(known: Description) -> frozenset[str]:
    """The pages of parts that fit the spaces."""
    if goal_places(known) is not None and not is_choice(known):
        return frozenset({GOAL})
    if is_choice(known):
        speeds = any(each.speed is not None for each in moving_in(known))
        return frozenset({FEEDBACK, CHOICE} if speeds else {FEEDBACK, CHOICE, RULE})
    return frozenset({FEEDBACK if wishes_of(known) == 1 else RHYTHM})


def first_of(known: Description) -> tuple[str, ...]:
    """The alternatives to try first: a gait, where the action moves the joints of a body."""
    return FOLLOWED if _body(known) else ()


def _body(known: Description) -> tuple[Moving, ...]:
    """The joints of a body, where each number of the action moves one of many joints that are seen; else none."""
    wishes, moving = wishes_of(known), moving_in(known)
    joints = joints_of(known, moving, wishes)
    seen = len(set(joints)) == wishes and all(moving[joint].place is not None for joint in joints)
    if RHYTHM in kinds_of(known) and MANY_JOINTS <= wishes <= MOST_OWN and seen:
        return tuple(moving[joint] for joint in joints)
    return ()


def tuning_episodes(known: Description) -> int:
    """The episodes of a tuning: the numbers of a rhythm have to fit one another. Episodes with pictures are slow."""
    return TUNED if RHYTHM in kinds_of(known) and number_fields(known) <= MOST_SEEN else 0


def further_parts(known: Description) -> tuple[ShelfPart, ...]:
    """The parts with names, indices and rates of this environment."""
    kinds, moving = kinds_of(known), moving_in(known)
    found: list[ShelfPart] = []
    if FEEDBACK in kinds:
        found += [*_weights(moving), _index("LEAD", max(1, len(moving)))]
    if CHOICE in kinds:
        found += _choices(known, watched=RULE in kinds)
    if RHYTHM in kinds:
        found += [_leads(known, moving), _rate(known), *_joints(known)]
    return tuple(found)


def _index(name: str, count: int) -> ShelfPart:
    """A constant that is one of the numbers 0 to `count` - 1."""
    return _constant(name, *(str(place) for place in range(min(count, 12))), low=0, high=count - 1)


def _leads(known: Description, moving: tuple[Moving, ...]) -> ShelfPart:
    """What may lead a rhythm: first what no number of the action moves, such as a trunk and its tilt."""
    driven = {*joints_of(known, moving, wishes_of(known))}
    order = sorted(range(len(moving)), key=lambda place: (place in driven, moving[place].place is None, -place))
    return _constant("LEAD", *(map(str, order[:8] or [0])), low=0, high=max(0, len(moving) - 1))


def _constant(name: str, *alternatives: str, low: float, high: float) -> ShelfPart:
    return ShelfPart(name=name, kind="constant", alternatives=alternatives, low=low, high=high)


def _weights(moving: tuple[Moving, ...]) -> list[ShelfPart]:
    """How feedback weighs what moves: with a weight each, or one thing alone in either direction.

    Tables list a chain from its base to its tip. At first the tip counts most: the base has to follow it to keep it up.
    """
    if not moving:
        return [ShelfPart(name="lean", kind="method", alternatives=(
            '    def lean(self, signals):\n        """Nothing moves."""\n        return 0.0',
        ))]
    names = [f"WEIGHT_{each.name.upper()}" for each in moving]
    table = "".join(f"            self.{name},\n" for name in names)
    own = (
        '    def lean(self, signals):\n        """All that moves, by its weight."""\n'
        f"        weights = (\n{table}        )\n        return float(np.dot(weights, signals))"
    )
    single = [
        f'    def lean(self, signals):\n        """Only {each.name}, {way}."""\n'
        f"        return {sign}float(signals[{row}])"
        for row, each in list(enumerate(moving))[:MOST_SINGLED_OUT]
        for sign, way in (("", "along it"), ("-", "against it"))
    ]
    constants = [
        _constant(name, *(("1.0", "0.2") if name == names[-1] else ("0.2", "1.0")), "0.5", "0.0", "-0.2", "-0.5",
                  "-1.0", low=-2.0, high=2.0)
        for name in names
    ]
    return [ShelfPart(name="lean", kind="method", alternatives=(own, *single)), *constants]


def _rate(known: Description) -> ShelfPart:
    """Rates of a rhythm: a cycle of 20, 40, 10, 14 or 7 steps; at least 4 steps, at most 400.

    The rate of a gait is at most half as large again as the one that fits its joints, or as much smaller: an optimiser
    that comes to slow cycles stays with them, since a faster gait also needs other phases.
    """
    step, usual = known.step_s or 1.0, _usual_rate(known)
    if usual is None:
        rates, low, high = [1.0 / (count * step) for count in (20, 40, 10, 14, 7)], 1.0 / (400 * step), 1.0 / (4 * step)
    else:
        usual = min(max(usual, 1.0 / (200 * step)), 1.0 / (3 * step))
        rates, low, high = [usual * part for part in (1.0, 0.8, 1.25)], usual / NEAR_RATE, usual * NEAR_RATE
    rounded = [float(f"{rate:.3g}") for rate in (low, high, *rates)]
    return _constant("RATE_HZ", *map(repr, rounded[2:]), low=rounded[0], high=rounded[1])


def _usual_rate(known: Description) -> float | None:
    """The rate in Hz at which a sine has the usual places and speeds of the joints of a body, in the mean over them.

    A sine with amplitude a and rate f has the speed 2 pi f a at most. None without a body whose speeds are seen.
    """
    rates = [each.speed_size / (2.0 * math.pi * each.place_size) for each in _body(known) if each.speed is not None]
    return math.fsum(rates) / len(rates) if rates else None


def _choices(known: Description, *, watched: bool) -> list[ShelfPart]:
    """The choices of the rules, the number they watch, and a table of choices for an observation of few states."""
    leaf = known.action[0]
    count = int(leaf.high[0] - leaf.low[0]) + 1
    order = [str(place) for place in range(min(count, 12))]
    names = ("CHOICE_UP", "CHOICE_BETWEEN", "CHOICE_DOWN")
    turned = (order[-1:] + order[:-1], order[count // 2:] + order[:count // 2], order)
    found = [
        _constant(name, *alternatives, low=0, high=count - 1)
        for name, alternatives in zip(names, turned, strict=True)
    ]
    if watched:
        found.append(_index("WATCHED", max(1, number_fields(known))))
    seen = known.observation
    states = int(seen[0].high[0] - seen[0].low[0]) + 1 if len(seen) == 1 and seen[0].kind == "discrete" else 0
    if 1 < states <= MOST_STATES:
        each = [f"CHOICE_IN_{state}" for state in range(states)]
        low = int(seen[0].low[0])
        text = (
            '    def choose(self, wish):\n        """One choice for each state."""\n        table = (\n'
            + "".join(f"            self.{name},\n" for name in each)
            + f"        )\n        return table[int(self.numbers[0]){f' - {low}' if low else ''}]"
        )
        found.append(ShelfPart(name="choose", kind="method", alternatives=(text,)))
        found += [
            _constant(name, *(order[state % len(order):] + order[:state % len(order)]), low=0, high=count - 1)
            for state, name in enumerate(each)
        ]
    return found


def _joints(known: Description) -> list[ShelfPart]:
    """The joints of a limb, and a phase, an amplitude and a middle for every joint."""
    wishes = wishes_of(known)
    limbs = [size for size in (3, 2, 4, 5) if wishes % size == 0 and size < wishes] or [wishes]
    found = [_constant("LIMB", *map(str, limbs), *(["1"] if 1 not in limbs else []), low=1, high=max(2, wishes))]
    if wishes > MOST_OWN:
        return found
    names = [name.upper() for name in names_of(known, wishes)]
    for method, prefix, title in (
        ("phases", "PHASE", "phase"), ("amplitudes", "AMPLITUDE", "amplitude"), ("middles", "MIDDLE", "middle"),
    ):
        table = "".join(f"            self.{prefix}_{name},\n" for name in names)
        text = (
            f'    def {method}(self):\n        """Its own {title} for every joint."""\n        return np.array((\n'
            f"{table}        ))"
        )
        found.append(ShelfPart(name=method, kind="method", alternatives=(text,)))
    quarters = ("0.0", "0.25", "0.5", "-0.25")
    for place, name in enumerate(names):
        first = place % len(quarters)
        found.append(_constant(f"PHASE_{name}", *quarters[first:], *quarters[:first], low=-0.5, high=0.5))
        found.append(_constant(f"AMPLITUDE_{name}", "1.0", "0.5", "0.0", low=0.0, high=2.0))
        found.append(_constant(f"MIDDLE_{name}", "0.0", "0.3", "-0.3", low=-1.0, high=1.0))
    return found
