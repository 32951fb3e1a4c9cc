"""The branch of a generation that tunes constants: its slots, the episodes that they may use, and what they find.

It is not in the paper. Each slot is a tuning of `tuning.py`; what it finds is evaluated as every candidate is.
"""

from collections.abc import Callable
from dataclasses import replace

from ..core import order_ids
from ..core.events import ConstantsTried, TryConstants
from ..core.faults import Fault
from ..core.keeper import Decision
from ..core.methods import is_tuned
from ..core.seeds import derive_seed
from ..core.values import CandidateState, Operator, Program
from . import tuning
from .meetings import followed
from .options import GenerationBudget, SearchOptions
from .selection import Search
from .trials import Trial, chained, derived, failed
from .tuning_values import TuningUnderWay


class TuningBranch:
    """Decides the tuning of a generation. `settle` takes an evaluated or failed candidate into the search."""

    def __init__(
        self, *, slots: GenerationBudget, options: SearchOptions, island: int,
        settle: Callable[[Search, CandidateState], Decision[Search]],
    ) -> None:
        self._slots = slots
        self._options = options
        self._island = island
        self._settle = settle

    def planned(self, generation: int) -> tuple[int, int]:
        """The slots of a generation that tune constants, and how many later ones its candidates leave room for.

        There are later ones where only some generations tune: their episodes are planned for them.
        """
        all_of, tuned = self._slots.generations, self._slots.tune_generations
        found = [is_tuned(each, of=all_of, tuned=tuned) for each in range(generation, all_of + 1)]
        return self._slots.tune * found[0], self._slots.tune * sum(found[1:]) if tuned else 0

    def begin(
        self, decision: Decision[Search], slots: range, parent: CandidateState, episodes: int
    ) -> Decision[Search]:
        """Start the tuning of a program in these slots, each with `episodes`; the slots differ in their draws."""
        generation = decision.state.generation
        for slot in slots:
            name = self._name(generation, slot)
            seed = derive_seed(self._options.seed, "tune", generation, slot)
            after = decision.state.learned.get(slot)
            found = tuning.begun(name, parent, decision.state.trials.plan, episodes=episodes, seed=seed, after=after)
            if isinstance(found, Fault):
                onward = self._untuned(decision.state, parent, slot, found, episodes)
            else:
                onward = self._go_on(decision.state, *found)
            decision = chained(decision, onward)
        return decision

    def _untuned(
        self, state: Search, parent: CandidateState, slot: int, fault: Fault, spare: int
    ) -> Decision[Search]:
        """A slot of tuning is spent without a candidate. What it did not use is for the next generation's tuning."""
        state = replace(state, spare=state.spare + spare)
        return self._settle(state, failed(self._trial(parent, state.generation, slot, Program(""), ""), fault))

    def take(self, state: Search, fact: ConstantsTried) -> Decision[Search]:
        """The decision after values were tried."""
        name = order_ids.owner_of(fact.order or "")
        if name not in state.tunings:
            return Decision(state=state)
        return self._go_on(state, *state.tunings[name].take(fact))

    def _go_on(
        self, state: Search, tuned: TuningUnderWay, orders: tuple[TryConstants, ...]
    ) -> Decision[Search]:
        """Try further constants; if none are left, evaluate the program that was found as every candidate."""
        if not tuned.over:
            ordered = state.trials.ordered + sum(len(order.seeds) for order in orders)
            trials = replace(state.trials, ordered=ordered)
            return Decision(
                state=replace(state, tunings={**state.tunings, tuned.id: tuned}, trials=trials), orders=orders
            )
        slot = order_ids.parse(tuned.id).slot
        learned = {} if tuned.learned is None else {slot: tuned.learned}
        state = replace(
            state, learned={**state.learned, **learned},
            tunings={name: one for name, one in state.tunings.items() if name != tuned.id},
        )
        result = tuned.concluded()
        if isinstance(result, Fault):
            return self._untuned(state, tuned.parent, slot, result, tuned.spare)
        state = replace(state, spare=state.spare + tuned.spare)
        trial = self._trial(tuned.parent, state.generation, slot, result.program, result.summary)
        evaluated = followed(state, state.trials.begin(trial), self._settle)
        return chained(Decision(state=state, facts=(result,)), evaluated)

    def _trial(self, parent: CandidateState, generation: int, slot: int, program: Program, summary: str) -> Trial:
        name = self._name(generation, slot)
        return derived(
            name, program, operator=Operator.TUNE, generation=generation, slot=slot, parents=(parent,), summary=summary
        )

    def _name(self, generation: int, slot: int) -> str:
        return str(order_ids.candidate(generation, order_ids.TUNE, slot, island=self._island))
