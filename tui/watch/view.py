"""All that a watcher sees of a run, and what is told from it alone: names of slots, the time that is left.

`fold` makes it from the run's facts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...core.events import BranchEnded, EliteChanged, Fact, FinalMeasured, slot_of
from ...core.methods import branches_of
from ...core.values import JSON, Fault, Rejection, Usage
from ...memory.spending import Spending
from ..view import ENOUGH_TO_JUDGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One place of the search's budget and the candidate in it, or one try at p_0, an evaluator or a vote.

    `state` is "proposed", "rolling", "scored", "accepted", "rejected", "cut", "failed", "voted" or
    "withdrawn". `branch` is the middle of its id: "hill" of g2/hill/7, whatever a method calls it.
    """

    id: str
    state: str = "proposed"
    generation: int = 0
    branch: str = ""
    place: int = 0
    operator: str = ""
    parents: tuple[str, ...] = ()
    summary: str = ""
    fitness: float | None = None        # F; None until it is scored, and where it failed or was cut
    success_rate: float | None = None   # S
    bound: float | None = None          # of one that racing cut: F is at most this
    difference: float | None = None     # F less that of the climb's policy
    fault: Fault | None = None
    same_as: str | None = None          # the candidate of the same program, whose episodes it has
    rolled: int = 0                     # episodes that ended
    steps: int = 0                      # of these together
    elite_of: tuple[int, ...] = ()      # the generations whose elite it was
    at: float = 0.0                     # of the last fact about it


@dataclass(frozen=True, slots=True)
class Point:
    """One settled candidate on the curves: its F and S (None: failed or cut) and those of the elite then."""

    fitness: float | None
    success_rate: float | None
    elite_fitness: float | None
    elite_success: float | None


@dataclass(frozen=True, slots=True)
class Remembered:
    """One entry of the rejection memory, and the generation whose climb remembers it."""

    generation: int
    at: float
    rejection: Rejection


@dataclass(frozen=True, slots=True)
class CallLine:
    """One finished call of a model. `fault` is what was wrong with the reply, if anything."""

    at: float
    order: str
    role: str
    model: str
    usage: Usage
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Rolled:
    """One rollout: how many steps in how many seconds."""

    at: float
    steps: int
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as seen so far. Times are seconds since the epoch; nothing depends on when it is looked at."""

    seq: int = 0
    settings: Mapping[str, JSON] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    sandbox: tuple[str, ...] = ()
    status: str = "new"                 # as in memory.queries.Summary
    stage: str = ""
    began: float | None = None
    last: float | None = None           # when the last fact was committed
    active_s: float = 0.0               # until `last`, without pauses and without the time when nobody lived
    search_since: float | None = None   # since when, and from how many candidates, their rate is measured
    search_from: int = 0
    candidates: Mapping[str, Slot] = field(default_factory=dict)     # of the search, p_0 first, as they came
    others: Mapping[str, Slot] = field(default_factory=dict)         # tries at p_0, evaluators, votes, final
    points: tuple[Point, ...] = ()
    elites: tuple[EliteChanged, ...] = ()                            # one a generation, from 0
    branches: tuple[BranchEnded, ...] = ()
    memory: tuple[Remembered, ...] = ()
    evaluation: tuple[Fact, ...] = ()   # pools, votes and choices: memory.pools.list_pools tells them
    evaluators: int = 0                 # evaluator generations that ended
    calls: tuple[CallLine, ...] = ()
    spending: Spending = Spending()
    faults: Mapping[str, int] = field(default_factory=dict)          # "episode crashed" -> how often
    final: FinalMeasured | None = None
    episodes: int = 0
    episode_steps: int = 0
    episode_wall_s: float = 0.0
    recent: tuple[Rolled, ...] = ()     # the last rollouts
    open: frozenset[str] = frozenset()  # candidates without an end
    settled: int = 0                    # candidates with an end, whichever
    failed: int = 0                     # of these, those that failed as a whole

    def number(self, key: str) -> int:
        """A whole number of the settings; 0 where it is not known."""
        value = self.settings.get(key)
        return value if isinstance(value, int) else 0

    @property
    def elite(self) -> EliteChanged | None:
        """The last elite."""
        return self.elites[-1] if self.elites else None

    @property
    def generation(self) -> int:
        """The generation of the search that is being made; 0 before the search."""
        return 0 if not self.elites else self.elites[-1].generation + 1

    @property
    def expected(self) -> int:
        """The slots of the whole search, as far as the settings tell."""
        return self.number("generations") * sum(branch.slots for branch in branches_of(self.settings))


def branch_of(order: str) -> tuple[int, str, int]:
    """Generation, branch and place that an id names: (2, "hill", 7) of g2/hill/7, (1, "judge", 4) of
    eval/g1/judge/4, (0, "", 3) of init/3."""
    parts = order.split("/")
    generation = next((int(part[1:]) for part in parts if part[:1] == "g" and part[1:].isdecimal()), 0)
    middle = [part for part in parts[1:-1] if not (part[:1] == "g" and part[1:].isdecimal())]
    return generation, "/".join(middle), int(parts[-1]) if parts[-1].isdecimal() else 0


def owner_of(order: str) -> str:
    """Whom an order is about: g1/macro/7 of g1/macro/7/e3, of g1/macro/7/e3/score and of g1/macro/7/ahead."""
    parts = slot_of(order).split("/")
    while len(parts) > 1 and (parts[-1] in ("score", "examine") or _is_episode(parts[-1])):
        parts.pop()
    return "/".join(parts)


def time_left_s(view: RunView, *, now: float) -> float | None:
    """How long the search and the final measure still take at the rate so far; None where it cannot be told."""
    done = view.settled - view.search_from
    if view.stage != "search" or done < ENOUGH_TO_JUDGE or not view.episodes or view.search_since is None:
        return None
    if view.status != "running":
        return None
    search_s = (now - view.search_since) / done * max(0, view.expected - view.settled)
    final_s = 2 * view.number("final_episodes") * view.episode_wall_s / view.episodes / max(1, view.number("workers"))
    return search_s + final_s


def _is_episode(part: str) -> bool:
    return part[:1] == "e" and part[1:].isdecimal()
