"""The keepers of a search whose evaluator moves: the search itself, and the trial of a successor. Pure.

The sequencer alternates between them: a search that waits for a move is finished as a stage, and is resumed after it.
`moving` says what a search remembers, how T is drawn, and what a successor has to pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..core import order_ids
from ..core.events import EpisodeScored, EvaluatorChosen, EvaluatorMoved, Fact, ScoreEpisode
from ..core.keeper import Decision
from ..core.programs.program_text import digest
from ..core.values import CandidateState, EvaluatorCandidate, Score
from .memento import EliteKeeper
from .moving import MoveRecordings, Moves, SuccessorVerdict, judged, mean_under, under
from .options import PLAIN, GenerationBudget, SearchOptions
from .rollout_plan import RolloutPlan
from .selection import Search, front_with, remembered
from .trials import Trials
from .tried import replaced


class MovingKeeper(EliteKeeper):
    """Decides the policy search of one elite, and stops for a move of the evaluator after every few generations."""

    def __init__(
        self, *, initial: CandidateState, plan: RolloutPlan, slots: GenerationBudget, options: SearchOptions = PLAIN
    ) -> None:
        super().__init__(initial=initial, plan=plan, slots=slots, options=options)
        # What is remembered needs every f_e: which programs racing prunes depends on the order of arrival.
        self._races = False

    def opening(self) -> Search:
        """The state before the first generation; p_0 is remembered."""
        return replace(super().opening(), moves=Moves().after_generation(self._initial, ()))

    def decide(self, state: Search, fact: Fact) -> Decision[Search]:
        """The decision after one proposal, episode or score; none while it waits for a move."""
        return Decision(state=state) if state.moves.due else super().decide(state, fact)

    def finished(self, state: Search) -> bool:
        """Whether all generations are over, or the search waits for a move."""
        return state.over or state.moves.due

    def resume(self, state: Search) -> Decision[Search]:
        """Go on after a move, in the state of `after_move`."""
        return self.begin_generation(state)

    def begin_generation(self, state: Search) -> Decision[Search]:
        """Open the next generation, unless a move comes before it."""
        moves, every = state.moves, self._options.evaluator_every
        pending = state.generation > moves.last and state.generation % every == 0
        if pending and not state.saturated and not self.is_last(state):
            return Decision(state=replace(state, moves=replace(moves, due=True)))
        return super().begin_generation(state)

    def adopt(self, state: Search, elite: CandidateState) -> Decision[Search]:
        """The generation ends with this elite."""
        needed = (*state.contenders, *state.front, *state.others)
        moves = state.moves.after_generation(elite, needed)
        # A later copy of a program takes its episodes over. Only recordings of what is remembered are kept.
        kept = {one.id for one in moves.archive}
        known = {mark: one for mark, one in state.trials.known.items() if one.id in kept}
        state = replace(state, moves=moves, rival=None, trials=replace(state.trials, known=known))
        adopted = super().adopt(state, elite)
        return replace(adopted, facts=(moves.fact(state.generation), *adopted.facts))

    def _settle(self, state: Search, candidate: CandidateState) -> Decision[Search]:
        return super()._settle(replace(state, moves=state.moves.with_candidate(candidate)), candidate)


def after_move(
    state: Search, outcome: EvaluatorMoved, scores: Mapping[str, Score], owners: frozenset[str], *,
    evaluator: EvaluatorCandidate, full: bool,
) -> Search:
    """The search after a move. `scores` are the successor's by the keys of recordings; T has episodes of `owners`.

    If it took over, all that the search goes on with has its fitness from it. A program that is fitter than the elite
    now is a rival: the second parent of crossovers, and a candidate for the next elite. Records of fresh episodes and
    what tunings learned are forgotten, and so are the episodes of programs that are not remembered. `full`: prompts
    show why edits were rejected.
    """
    moves = replace(
        state.moves, due=False, moves=state.moves.moves + 1, last=state.generation, version=outcome.version,
        drawn=state.moves.drawn | owners,
    )
    if not outcome.moved:
        return replace(state, moves=moves)

    def judged_again(found: tuple[CandidateState, ...]) -> tuple[CandidateState, ...]:
        return tuple(under(one, scores, outcome.version) for one in found)

    archive = judged_again(moves.archive)
    (elite,) = judged_again((state.elite,))
    plan = replace(
        state.trials.plan, evaluator=evaluator.program, fitness=evaluator.says, version=outcome.version
    )
    trials = Trials(plan=plan, open={}, ordered=state.trials.ordered)
    for one in (*archive, elite):
        trials = trials.knowing(one)
    alike = [one for one in archive if len(one.episodes) == len(elite.episodes) and one.id != elite.id]
    best = max(alike, key=lambda one: (one.fitness, -one.generation, one.id), default=elite)
    state = replace(
        state, elite=elite, current=elite, trials=trials, records={}, learned={},
        contenders=judged_again(state.contenders), others=judged_again(state.others),
        rejections=replaced(state.rejections, full=full), tried=replaced(state.tried, full=full),
        moves=replace(moves, archive=archive), rival=best if best.fitness > elite.fitness else None,
    )
    state = replace(state, others=remembered(state, ()))
    return replace(state, front=front_with(replace(state, front=archive), elite)) if state.front else state


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """The state between two facts: the open orders with the keys of their recordings, and the scores by key."""

    open: Mapping[str, str]
    scores: Mapping[str, Score] = field(default_factory=dict)
    outcome: EvaluatorMoved | None = None


class RescoringKeeper:
    """Scores all remembered recordings by the successor, and decides whether it takes over."""

    def __init__(
        self, *, recordings: MoveRecordings, before: EvaluatorCandidate, successor: EvaluatorCandidate,
        elite: CandidateState, moves: Moves, generation: int,
    ) -> None:
        """`before` is the evaluator in use, examined on the same recordings as the successor."""
        self._recordings = recordings
        self._before = before
        self._successor = successor
        self._elite = elite
        self._moves = moves
        self._generation = generation

    def start(self) -> Decision[Rescoring]:
        """Score each recording once, unless the votes kept the evaluator in use."""
        program = self._successor.program
        assert program is not None
        if self._before.program is not None and digest(program) == digest(self._before.program):
            return self._conclude(Rescoring(open={}), SuccessorVerdict(reason="the evaluator in use was chosen again"))
        orders: dict[str, ScoreEpisode] = {}
        for one in self._recordings.archive:
            for episode in one.episodes:
                if episode.trajectory and episode.scorable:
                    name = order_ids.move_id(order_ids.episode_id(one.id, episode.index), self._moves.moves + 1)
                    orders.setdefault(
                        episode.trajectory, ScoreEpisode(id=name, evaluator=program, episode=episode)
                    )
        state = Rescoring(open={order.id: key for key, order in orders.items()})
        return Decision(state=state, orders=tuple(orders.values())) if orders else self._judge(state)

    def decide(self, state: Rescoring, fact: Fact) -> Decision[Rescoring]:
        """Enter a score; the last one decides."""
        if not isinstance(fact, EpisodeScored) or fact.order not in state.open or fact.order is None:
            return Decision(state=state)
        left = {order: key for order, key in state.open.items() if order != fact.order}
        state = replace(state, open=left, scores={**state.scores, state.open[fact.order]: fact.score})
        return Decision(state=state) if left else self._judge(state)

    def finished(self, state: Rescoring) -> bool:
        """Whether it is decided."""
        return state.outcome is not None

    def _judge(self, state: Rescoring) -> Decision[Rescoring]:
        return self._conclude(
            state, judged(self._recordings, self._before.examination, self._successor.examination, state.scores)
        )

    def _conclude(self, state: Rescoring, verdict: SuccessorVerdict) -> Decision[Rescoring]:
        moved = not verdict.reason
        archive = self._recordings.archive if moved else ()
        version = self._moves.version + moved
        fitness = {one.id: mean_under(one, state.scores) for one in archive}
        outcome = EvaluatorMoved(
            generation=self._generation, version=version, moved=moved, chosen=self._successor, reason=verdict.reason,
            pairs=verdict.pairs, wrong_before=verdict.wrong_before, wrong_after=verdict.wrong_after,
            compared=verdict.compared, against_before=verdict.against_before, against_after=verdict.against_after,
            recordings=len(state.scores), elite=self._elite.id,
            fitness=fitness[self._elite.id] if moved else self._elite.fitness,
            candidates=tuple(fitness), fitnesses=tuple(fitness.values()),
        )
        frozen = EvaluatorChosen(generation=self._successor.generation, chosen=self._successor, final=True)
        return Decision(
            state=replace(state, outcome=outcome), facts=(outcome, *((frozen,) if moved else ()))
        )
