"""The gate: a candidate is tried on the domain's cheap twin before its expensive episodes. A keeper around the keeper
of a run, pure like every keeper.

A proposal is held back until its episodes on the twin are scored. If it passes, the inner keeper gets it; otherwise it
gets a proposal that was stopped, which spends the slot. The twin's episodes are scored by the evaluator of the search,
so that the gate asks for what the search asks for. Those of a parent are rolled out once, while the model thinks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import Field

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
from ..core.seeds import derive_seed
from ..core.values import Program
from .gate_verdict import mean_of, why_stopped
from .setting_groups import EDITS, PartSettings, SettingGroup, Share, Switch
from .trials import chain

GATED = SettingGroup(
    name="gate", parts=EDITS,
    switches=(Switch(
        name="gate", on=lambda values: values["gate"] == "on",
        otherwise="without a gate: remove it, or set gate to 'on'",
    ),),
)


class GateSettings(PartSettings):
    """Whether there is a gate, its episodes, and how often it is checked."""

    gate: Literal["on", "off"] = GATED.field("off", "candidates are tried on the domain's cheap twin first")
    gate_episodes: Annotated[int, Field(ge=5, le=12)] = GATED.field(
        6, "episodes on the cheap twin, the same for all candidates"
    )
    gate_audit: Share = GATED.field(
        0.1, "share of stopped candidates that is rolled out in full, as a check"
    )


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
