"""The figures of what-ifs: each draw against the parent, and the arms against each other. Pure.

    gain         F of a draw minus F of the fittest parent, on the same episodes
    improvement  what a slot is worth to a search that keeps the parent: the gain, or 0 for a loss and for a failure
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from ..core.events import Fact
from ..core.faults import Fault
from ..core.intervals import Interval, mean_interval
from ..core.order_ids import DRAW, draw_id, owner_of
from ..core.programs.program_text import digest
from ..core.text import number
from ..core.values import CandidateState
from ..memory.lookup import Policy
from ..memory.spending import RoleSpending, SpendingTally
from ..models.tape import same_prompt
from .recorded_state import RecordedState
from .results import Result
from .what_if import ArmDraws
from .what_if_arms import differences, value_of
from .what_if_rows import ArmDifference, ArmRow, DrawRow, StateRow


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WhatIfResult(Result):
    """Recorded states, drawn again under one or more arms."""

    title: str
    draws: int                          # wanted of each state under each arm
    repeated: bool                      # from the recorded replies, without a model
    states: tuple[StateRow, ...]
    differences: tuple[ArmDifference, ...]

    def brief(self) -> list[tuple[str, str]]:
        """The mean gain of every arm in every state."""
        return [
            (f"{state.candidate} {arm.arm}", f"gain {number(arm.gain)}")
            for state in self.states for arm in state.arms
        ]

    @property
    def done(self) -> bool:
        """Whether every arm of every state has all its draws."""
        return all(arm.status == "done" for state in self.states for arm in state.arms)


def result_of(title: str, draws: int, drawn: Sequence[Sequence[ArmDraws]], *, repeated: bool = False) -> WhatIfResult:
    """The result of some states (rows) under the same arms (columns)."""
    states = tuple(_state_row(row) for row in drawn)
    return WhatIfResult(
        title=title, draws=draws, repeated=repeated, states=states, differences=tuple(differences(states))
    )


def _state_row(arms: Sequence[ArmDraws]) -> StateRow:
    state = arms[0].state
    return StateRow(
        run=str(state.run), candidate=state.candidate, operator=state.order.operator, parent=state.base.id,
        parent_fitness=state.base.fitness, episodes=len(state.base.episodes), recorded=_recorded_row(state),
        arms=tuple(_arm_row(each) for each in arms),
    )


def _recorded_row(state: RecordedState) -> DrawRow:
    """What the run recorded for the candidate: f_e of all episodes, where racing did not end it before."""
    found: Policy = state.recorded
    pairs = [(episode, score) for episode, score in found.episodes if episode is not None]
    values = tuple(
        0.0 if episode.fault is not None or score is None else score.fitness for episode, score in pairs
    )
    whole = found.fitness is not None and len(values) == len(state.base.scores)
    same, rejected = ("", False) if found.program is None else _same_as(state, digest(found.program), {})
    return DrawRow(
        name=found.id, summary=found.summary, fitness=found.fitness,
        gain=None if found.fitness is None else found.fitness - state.base.fitness,
        gain_interval=_paired_interval(values, _values(state.base)) if whole else None,
        success_rate=found.success_rate, mean_return=found.mean_return, failure=_words(found.fault),
        same_as=same or None, rejected=rejected, calls=len(found.calls),
        tokens=sum(row.call.usage.input_tokens + row.call.usage.output_tokens for row in found.calls),
        per_episode=values if whole else (),
    )


def _arm_row(drawn: ArmDraws) -> ArmRow:
    state = drawn.state
    names = sorted(drawn.draws, key=lambda name: int(name.rpartition(DRAW)[2]))
    earlier: dict[str, str] = {}
    rows = []
    for name in names:
        rows.append(_draw_row(drawn, drawn.draws[name], earlier))
        if drawn.draws[name].program.text:
            earlier.setdefault(digest(drawn.draws[name].program), name.rpartition("/")[2])
    gains = [row.gain for row in rows if row.gain is not None]
    values = [each.per_episode for each in rows if each.per_episode]
    recorded = _recorded_row(state).per_episode
    means = [fsum(column) / len(values) for column in zip(*values, strict=True)] if values else []
    against = [mean - other for mean, other in zip(means, recorded, strict=True)] if means and recorded else []
    worth = [value for row in rows if (value := value_of(row, "improvement")) is not None]
    spent = _spent(drawn.facts, {draw_id(state.candidate, number) for number in range(drawn.wanted)})
    return ArmRow(
        arm=drawn.arm.name, model=state.settings.model,
        changed={key: entry.value for key, entry in drawn.arm.given.items()}, status=drawn.status, draws=len(rows),
        failures=sum(row.failure is not None for row in rows), known=sum(row.same_as is not None for row in rows),
        rejected=sum(row.rejected for row in rows), better=sum(gain > 0 for gain in gains),
        fitness=_mean([row.fitness for row in rows if row.fitness is not None]), gain=_mean(gains),
        gain_interval=mean_interval(gains, least=-1.0, most=1.0), best_gain=max(gains, default=None),
        improvement=_mean(worth), improvement_interval=mean_interval(worth, least=0.0, most=1.0),
        recorded_difference=_mean(against), recorded_interval=mean_interval(against, least=-1.0, most=1.0),
        same_prompt=_same_prompt(drawn), calls=spent.calls, tokens=spent.tokens, cost_usd=spent.cost_usd,
        rows=tuple(rows),
    )


def _draw_row(drawn: ArmDraws, found: CandidateState, earlier: Mapping[str, str]) -> DrawRow:
    state, sound = drawn.state, found.fault is None
    same, rejected = _same_as(state, digest(found.program), earlier) if found.program.text else ("", False)
    spent, values = _spent(drawn.facts, [found.id]), _values(found)
    return DrawRow(
        name=found.id, summary=found.summary, fitness=found.fitness if sound else None,
        gain=found.fitness - state.base.fitness if sound else None,
        gain_interval=_paired_interval(values, _values(state.base)) if sound else None,
        success_rate=found.success_rate if sound else None, mean_return=found.mean_return,
        failure=_words(found.fault), same_as=same or None, rejected=rejected, calls=spent.calls, tokens=spent.tokens,
        per_episode=values if sound else (),
    )


def _spent(facts: Iterable[Fact], names: Collection[str]) -> RoleSpending:
    """The calls for these draws."""
    tally = SpendingTally()
    for fact in facts:
        if owner_of(fact.order or "") in names:
            tally.apply(fact)
    return tally.so_far().total


def _same_as(state: RecordedState, code: str, earlier: Mapping[str, str]) -> tuple[str, bool]:
    """The parent, the earlier candidate or the earlier draw with this code ("" for none), and whether it was rejected.
    """
    parents = {digest(parent.program): parent.id for parent in state.order.parents}
    if code in parents:
        return parents[code], False
    known = state.known.programs.get(code, "")
    if known:
        refused = {one.candidate for one in (*state.order.rejections, *state.order.tried)} | state.known.rejected
        return known, known in refused
    return earlier.get(code, ""), False


def _same_prompt(drawn: ArmDraws) -> bool | None:
    """Whether the first prompt of the draws is that of the recorded proposal; None without an answer."""
    first = next((call for fact in drawn.facts for call in fact.calls if call.attempt == 0), None)
    recorded = next((row.call for row in drawn.state.recorded.calls if row.call.attempt == 0), None)
    return None if first is None or recorded is None else same_prompt(recorded.prompt, first.prompt.text)


def _values(candidate: CandidateState) -> tuple[float, ...]:
    return tuple(score.fitness for score in candidate.scores)


def _paired_interval(values: Sequence[float], others: Sequence[float]) -> Interval | None:
    if len(values) != len(others):
        return None
    differences = [value - other for value, other in zip(values, others, strict=True)]
    return mean_interval(differences, least=-1.0, most=1.0)


def _words(fault: Fault | None) -> str | None:
    return None if fault is None else f"{fault.kind}: {fault.message}"


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
