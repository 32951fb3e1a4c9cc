"""The keeper of the trial of a successor: it scores all that the search remembers, and takes over or not. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ...core import order_ids
from ...core.events import EpisodeScored, EvaluatorChosen, EvaluatorMoved, Fact, ScoreEpisode
from ...core.keeper import Decision
from ...core.programs.program_text import digest
from ...core.values import CandidateState, EvaluatorCandidate, Score
from .recordings import Moves, mean_under
from .successor import MoveRecordings, SuccessorVerdict, verdict_on


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
            state, verdict_on(self._recordings, self._before.examination, self._successor.examination, state.scores)
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
