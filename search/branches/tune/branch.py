"""The branch of a generation that tunes constants: its slots, the episodes that they may use, and what they find.

It is not in the paper, and asks no model. Each slot is a tuning of `slot`; what it finds is evaluated as every
candidate is. The last of two or more slots tunes the best program so far beside crossover, while models think again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ....core import order_ids
from ....core.events import ConstantsTried, Fact, TryConstants
from ....core.faults import Fault
from ....core.keeper import Decision
from ....core.methods import SearchPart, is_tuned
from ....core.seeds import derive_seed
from ....core.values import CandidateState, Operator, Program
from ...branch import Branch, Engine, Reservation
from ...dealing import tunable
from ...meetings.meeting import follow
from ...part import Rejudged
from ...setting_groups import Count, PartSettings, Positive, SettingGroup
from ...state import Search
from ...trials import Trial, chain, failed_candidate, trial_from
from .slot import Tuning, begin_tuning
from .values import Learned

TUNING = SettingGroup(name="tuning", parts=frozenset({SearchPart.TUNING}))


class TuneSettings(PartSettings):
    """When constants are tuned, and on how many episodes."""

    tune_generations: Count = TUNING.field(0, "how many generations tune constants, from the second on; 0: all")
    tune_episodes: Positive = TUNING.field(200, "episodes on which one tuning tries constants")


Spend = Callable[[Search, CandidateState], Decision[Search]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunePlan:
    """What a run may tune: `slots` with `episodes` each in `tuned` generations of all, from the second on; 0: in all.
    """

    slots: int
    episodes: int
    generations: int
    tuned: int = 0

    def slots_in(self, generation: int) -> int:
        """The slots of a generation."""
        return self.slots if is_tuned(generation, of=self.generations, tuned=self.tuned) else 0

    def later(self, generation: int) -> int:
        """How many slots of later generations the candidates of this one leave room for: where only some tune."""
        return sum(self.slots_in(each) for each in range(generation + 1, self.generations + 1)) if self.tuned else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunings:
    """The tunings of this generation, and what earlier ones left.

    `slots` are those of this generation, each with `episodes`; `is_late`: the last one begins with crossover.
    `spare` episodes are for the tunings of the next generation.
    """

    slots: int = 0
    episodes: int = 0
    is_late: bool = False
    begun: int = 0
    under_way: Mapping[str, Tuning] = field(default_factory=dict)  # by their slots' ids
    learned: Mapping[int, Learned] = field(default_factory=dict)  # by the last tuning in each slot
    spare: int = 0

    @property
    def early(self) -> int:
        """How many slots begin with the generation."""
        return self.slots - self.is_late


class Tune(Branch):
    """Tunes the constants of the elite. Other numbers without a gain are no reason to change any: it wins no tie."""

    operator = Operator.TUNE
    wins_ties = False

    def __init__(self, plan: TunePlan, *, seed: int) -> None:
        super().__init__(plan.slots)
        self._plan, self._seed = plan, seed

    def at_start(self, search: Search) -> Search:
        """Nothing was tuned yet."""
        return search.with_slice(Tunings())

    def at_generation(self, search: Search) -> Search:
        """The slots of the generation; what earlier ones did not use is divided among them."""
        plan, found = self._plan, search.slice(Tunings)
        slots = plan.slots_in(search.generation)
        more, spare = divmod(found.spare, slots) if slots else (0, found.spare)
        slots, episodes = tunable(search.trials.plan, search.trials.ordered, slots, plan.episodes + more)
        return search.with_slice(Tunings(slots=slots, episodes=episodes, learned=found.learned, spare=spare))

    def at_move(self, search: Search, rejudged: Rejudged) -> Search:
        """What tunings learned is of the evaluator before."""
        return search.with_slice(replace(search.slice(Tunings), learned={}))

    def reservation(self, search: Search) -> Reservation | None:
        """Its slots, with the episodes that these and those of later generations need."""
        found, n_roll = search.slice(Tunings), len(search.trials.plan.seeds)
        later = self._plan.later(search.generation)
        return Reservation(
            slots=found.slots,
            episodes=found.slots * (found.episodes + n_roll) + later * (self._plan.episodes + n_roll),
        )

    def is_due(self, search: Search) -> bool:
        """At the beginning of the generation, and the late slot with crossover."""
        if self.operator not in search.begun:
            return True
        found = search.slice(Tunings)
        return found.begun < found.slots and Operator.CROSSOVER in search.begun

    def has_result(self, search: Search) -> bool:
        """The early slots are spent; crossover does not wait for the late one."""
        early = search.slice(Tunings).early
        return all(one is not None for one in search.slots[self.operator][:early])

    def begin(self, search: Search, engine: Engine) -> Decision[Search]:
        """Tune the elite in the early slots; later the best program so far in the late one."""
        found = search.slice(Tunings)
        if not found.begun:
            late = found.slots > 1 and bool(search.slots.get(Operator.CROSSOVER))
            found = replace(found, is_late=late)
            return self._begin(search.with_slice(found), range(found.early), search.elite, engine)
        return self._begin(search, range(found.begun, found.slots), engine.leader(search), engine)

    def _begin(self, search: Search, slots: range, parent: CandidateState, engine: Engine) -> Decision[Search]:
        """Start the tuning of a program in these slots; the slots differ in their draws."""
        search = search.with_slice(replace(search.slice(Tunings), begun=slots.stop))
        decision = Decision(state=search)
        for slot in slots:
            found = decision.state.slice(Tunings)
            tuning = begin_tuning(
                self._name(search, slot), parent, decision.state.trials.plan, episodes=found.episodes,
                seed=derive_seed(self._seed, "tune", search.generation, slot), after=found.learned.get(slot),
            )
            if isinstance(tuning, Fault):
                then = self._decline(decision.state, parent, slot, tuning, found.episodes, engine.spend)
            else:
                then = self._advance(decision.state, *tuning, engine.spend)
            decision = chain(decision, then)
        return decision

    def _decline(
        self, search: Search, parent: CandidateState, slot: int, fault: Fault, spare: int, spend: Spend
    ) -> Decision[Search]:
        """A slot is spent without a candidate. What it did not use is for the next generation's tunings."""
        found = search.slice(Tunings)
        search = search.with_slice(replace(found, spare=found.spare + spare))
        return spend(search, failed_candidate(self._trial(search, parent, slot, Program(""), ""), fault))

    def answer(self, search: Search, fact: Fact, engine: Engine) -> Decision[Search]:
        """The decision after values were tried."""
        tuning = search.slice(Tunings).under_way.get(order_ids.owner_of(fact.order or ""))
        if tuning is None or not isinstance(fact, ConstantsTried):
            return Decision(state=search)
        return self._advance(search, *tuning.take(fact), engine.settle)

    def _advance(
        self, search: Search, tuning: Tuning, orders: tuple[TryConstants, ...], spend: Spend
    ) -> Decision[Search]:
        """Try further constants; if none are left, evaluate the program that was found as every candidate."""
        found = search.slice(Tunings)
        if not tuning.over:
            ordered = search.trials.ordered + sum(len(order.seeds) for order in orders)
            search = search.with_slice(replace(found, under_way={**found.under_way, tuning.id: tuning}))
            return Decision(orders=orders, state=replace(
                search, trials=replace(search.trials, ordered=ordered),
                requested=search.requested | {order.id for order in orders},
            ))
        slot = order_ids.parse(tuning.id).slot
        learned = {} if tuning.learned is None else {slot: tuning.learned}
        under_way = {name: one for name, one in found.under_way.items() if name != tuning.id}
        search = search.with_slice(replace(found, under_way=under_way, learned={**found.learned, **learned}))
        result = tuning.conclusion()
        if isinstance(result, Fault):
            return self._decline(search, tuning.parent, slot, result, tuning.spare, spend)
        search = search.with_slice(replace(search.slice(Tunings), spare=found.spare + tuning.spare))
        trial = self._trial(search, tuning.parent, slot, result.program, result.summary)
        evaluated = follow(search, search.trials.begin(trial), spend)
        return chain(Decision(state=search, facts=(result,)), evaluated)

    def _trial(self, search: Search, parent: CandidateState, slot: int, program: Program, summary: str) -> Trial:
        return trial_from(
            self._name(search, slot), program, operator=self.operator, generation=search.generation, slot=slot,
            parents=(parent,), summary=summary,
        )

    def _name(self, search: Search, slot: int) -> str:
        island = search.trials.plan.island
        return str(order_ids.candidate(search.generation, order_ids.TUNE, slot, island=island))


def without_spare(search: Search) -> Search:
    """The state in which no episodes are left for later tunings."""
    return search.with_slice(replace(search.slice(Tunings), spare=0)) if Tunings in search.slices else search
