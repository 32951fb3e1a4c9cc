"""The gate: a candidate is tried on the domain's cheap twin before its expensive episodes. A keeper around the keeper
of a run, pure like every keeper.

A proposal is held back until its episodes on the twin are scored. If it passes, the inner keeper gets it; otherwise it
gets a proposal that was stopped, which spends the slot. The twin's episodes are scored by the evaluator of the search,
so that the gate asks for what the search asks for. Those of a parent are rolled out once, while the model thinks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Any

from ..core.events import (
    EvaluatorChosen,
    Fact,
    GateDecided,
    Order,
    ProposalFailed,
    ProposalMade,
    ProposalStopped,
    Propose,
    TryOnTwin,
    TwinTried,
)
from ..core.faults import Fault, FaultKind
from ..core.keeper import Decision, Keeper, put
from ..core.order_ids import GATE, gate_id, split
from ..core.programs.program_text import MAX_FAULT
from ..core.seeds import derive_seed
from ..core.text import one_line, plural
from ..core.values import Program
from .meetings.paired import sign_flip
from .trials import chain

# When the gate stops a candidate: it fails on the twin, or is clearly below its parents there. Pure.


CHANCE = 0.05  # how often chance alone may make an equal program look as far below its parent
LEAST = 0.01  # a lower mean f_e than by this is no reason: the twin is not exact
FEWEST, MOST = 5, 12  # episodes: fewer can never be clear (2^-5 < CHANCE), more take too long to compare

Results = Sequence[TwinTried]
"""The episodes of a program on the twin, in the order of the common seeds."""


def why_stopped(own: Results, parents: Sequence[Results], twin: str) -> str:
    """Why a candidate is stopped; "" if it passes.

    It is stopped by a fault in an episode in which no parent has one, or if it is clearly below every parent.
    """
    return _fault(own, parents, twin) or _below(own, parents, twin)


def mean_of(results: Results) -> float | None:
    """The mean f_e of the episodes that the evaluator could score; None if it could score none."""
    scores = [each.fitness for each in results if each.fitness is not None]
    return fsum(scores) / len(scores) if scores else None


def clearly_below(own: Results, other: Results) -> bool:
    """Whether f_e is lower than the other program's by more than chance explains: an exact paired test.

    Episodes that the evaluator could not score are left out.
    """
    pairs = zip(own, other, strict=True)
    lower = [b.fitness - a.fitness for a, b in pairs if a.fitness is not None and b.fitness is not None]
    return bool(lower) and fsum(lower) / len(lower) >= LEAST and sign_flip(lower) <= CHANCE


def _fault(own: Results, parents: Sequence[Results], twin: str) -> str:
    new = [
        each.fault for index, each in enumerate(own)
        if each.fault is not None and not any(parent[index].fault is not None for parent in parents)
    ]
    if not new:
        return ""
    whose = "its parent's" if len(parents) == 1 else "its parents'"
    said = f"{len(new)} of {plural(len(own), 'episode')} on {twin} ended with a fault, where {whose} did not"
    return one_line(f"{said}: {new[0].kind}: {new[0].message}", MAX_FAULT)


def _below(own: Results, parents: Sequence[Results], twin: str) -> str:
    if not parents or not all(clearly_below(own, parent) for parent in parents):
        return ""
    others = " and ".join(_words(mean_of(parent)) for parent in parents)
    whose = "that of its parent is" if len(parents) == 1 else "those of its parents are"
    return f"F is {_words(mean_of(own))} on {twin}, where {whose} {others} ({plural(len(own), 'common episode')})"


def _words(fitness: float | None) -> str:
    return "unknown" if fitness is None else f"{fitness:.3f}"


GATE_SPLIT = "gate"  # of the run's environments: the twin


@dataclass(frozen=True, slots=True, kw_only=True)
class GateTerms:
    """The twin's name for people, the common seeds of its episodes, and the share of stopped candidates to audit."""

    twin: str
    seeds: tuple[int, ...]
    audit: float
    seed: int  # from which follows who is audited


@dataclass(frozen=True, slots=True, kw_only=True)
class AtTheGate:
    """The state of the inner keeper, the open proposals with their parents, those that are held back, and results.

    `open` has the episodes on the twin of programs that are under way, `known` those of finished ones, by candidate.
    """

    inner: Any
    evaluator: Program | None = None
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    held: Mapping[str, ProposalMade] = field(default_factory=dict)
    open: Mapping[str, tuple[TwinTried | None, ...]] = field(default_factory=dict)
    known: Mapping[str, tuple[TwinTried, ...]] = field(default_factory=dict)


class Gated:
    """Decides as the inner keeper does; proposals that edit programs have to pass the gate."""

    def __init__(self, inner: Keeper[Any], terms: GateTerms) -> None:
        self._inner = inner
        self._terms = terms

    def start(self) -> Decision[AtTheGate]:
        """The start of the inner keeper."""
        decision = self._inner.start()
        return self._adopt(AtTheGate(inner=decision.state), decision)

    def finished(self, state: AtTheGate) -> bool:
        """Whether the inner keeper is finished."""
        return self._inner.finished(state.inner)

    def decide(self, state: AtTheGate, fact: Fact) -> Decision[AtTheGate]:
        """Hold a proposal back, or count an episode on the twin; any other fact is the inner keeper's."""
        if isinstance(fact, TwinTried):
            return self._take(state, fact)
        slot = fact.order
        if slot not in state.parents or slot is None or not isinstance(fact, ProposalMade | ProposalFailed):
            return self._adopt(state, self._inner.decide(state.inner, fact))
        if slot in state.held:
            return Decision(state=state)
        if isinstance(fact, ProposalMade):
            state, orders = self._try_on_twin(replace(state, held={**state.held, slot: fact}), slot, fact.program)
            return Decision(state=state, orders=orders)
        return self._hand_in(state, slot, fact)

    def _adopt(self, state: AtTheGate, decision: Decision[Any]) -> Decision[AtTheGate]:
        """The decision of the inner keeper; the parents of new proposals are tried on the twin."""
        state = replace(state, inner=decision.state)
        for fact in decision.facts:
            if isinstance(fact, EvaluatorChosen) and fact.final:
                state = replace(state, evaluator=fact.chosen.program)
        orders: list[Order] = [*decision.orders]
        for order in decision.orders:
            if isinstance(order, Propose) and order.parents and state.evaluator is not None:
                names = tuple(dict.fromkeys(parent.id for parent in order.parents))
                state = replace(state, parents={**state.parents, order.id: names})
                for parent in order.parents:
                    state, rolls = self._try_on_twin(state, parent.id, parent.program)
                    orders += rolls
        return Decision(state=state, orders=tuple(orders), facts=decision.facts)

    def _try_on_twin(self, state: AtTheGate, name: str, program: Program) -> tuple[AtTheGate, tuple[TryOnTwin, ...]]:
        """The orders for a program's episodes on the twin; none if they are known or under way."""
        if name in state.open or name in state.known:
            return state, ()
        assert state.evaluator is not None
        orders = tuple(
            TryOnTwin(
                id=gate_id(name, index), program=program, evaluator=state.evaluator, split=GATE_SPLIT, index=index,
                seed=seed,
            )
            for index, seed in enumerate(self._terms.seeds)
        )
        return replace(state, open={**state.open, name: (None,) * len(orders)}), orders

    def _take(self, state: AtTheGate, fact: TwinTried) -> Decision[AtTheGate]:
        """Enter one episode; the last one of a program decides on the proposals that waited for it."""
        name, _, part = split(fact.order or "")
        results = state.open.get(name, ())
        index = int(part.removeprefix(GATE)) if part.startswith(GATE) else len(results)
        if index >= len(results) or results[index] is not None:
            return Decision(state=state)
        results = put(results, index, fact)
        complete = tuple(each for each in results if each is not None)
        if len(complete) < len(results):
            return Decision(state=replace(state, open={**state.open, name: results}))
        rest = {key: value for key, value in state.open.items() if key != name}
        decision = Decision(state=replace(state, open=rest, known={**state.known, name: complete}))
        for slot in sorted(state.held):
            if all(each in decision.state.known for each in (slot, *state.parents[slot])):
                decision = chain(decision, self._judge(decision.state, slot))
        return decision

    def _judge(self, state: AtTheGate, slot: str) -> Decision[AtTheGate]:
        """Let a proposal pass, or stop it."""
        made, names = state.held[slot], state.parents[slot]
        own, parents = state.known[slot], [state.known[name] for name in names]
        reason = why_stopped(own, parents, self._terms.twin)
        audited = bool(reason) and derive_seed(self._terms.seed, "gate-audit", slot) < self._terms.audit * 2**63
        decided = GateDecided(
            order=slot, candidate=slot, passed=not reason, audited=audited, fitness=mean_of(own), parents=names,
            parent_fitnesses=tuple(map(mean_of, parents)), reason=reason,
        )
        answer: ProposalMade | ProposalFailed = made
        if reason and not audited:
            answer = ProposalStopped(
                order=slot, fault=Fault(kind=FaultKind.STOPPED, message=reason), summary=made.summary,
                practised=made.practised, program=made.program, shape=made.shape,
            )
        held = {key: each for key, each in state.held.items() if key != slot}
        onward = self._hand_in(replace(state, held=held), slot, answer)
        return replace(onward, facts=(decided, *onward.facts))

    def _hand_in(self, state: AtTheGate, slot: str, answer: ProposalMade | ProposalFailed) -> Decision[AtTheGate]:
        parents = {key: names for key, names in state.parents.items() if key != slot}
        return self._adopt(replace(state, parents=parents), self._inner.decide(state.inner, answer))
