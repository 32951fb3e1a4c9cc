"""The agents that run programs in the pool: roll an episode out, score it, examine an evaluator."""

from ..core.events import EpisodeEnded, EpisodeScored, EvaluatorExamined, Examine, Roll, ScoreEpisode
from ..core.ports import Pool, RollTask


class Roller:
    """Rolls episodes out."""

    def __init__(self, *, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, order: Roll) -> EpisodeEnded:
        """Roll one episode out. Raises RolloutError."""
        task = RollTask(
            order=order.id,
            program=order.program,
            split=order.split,
            index=order.index,
            seed=order.seed,
        )
        return EpisodeEnded(order=order.id, episode=await self._pool.roll(task))


class Scorer:
    """Scores recorded episodes. One that ended in a fault has f_e = 0 and the metrics up to the fault."""

    def __init__(self, *, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, order: ScoreEpisode) -> EpisodeScored:
        """Score one recorded episode. Raises RolloutError."""
        score = await self._pool.score(order.evaluator, order.episode)
        return EpisodeScored(order=order.id, score=order.episode.counted(score))


class Examiner:
    """Examines evaluators on T_0."""

    def __init__(self, *, pool: Pool) -> None:
        self._pool = pool

    async def carry_out(self, order: Examine) -> EvaluatorExamined:
        """Apply an evaluator to T_0 and check it. Raises RolloutError."""
        examination = await self._pool.examine(order.evaluator, order.episodes)
        return EvaluatorExamined(order=order.id, examination=examination)
