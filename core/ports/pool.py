"""Where generated programs run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..values import Episode, Examination, Program, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class RollTask:
    """One episode to roll out. `split` names one of the environments the pool was made with."""

    order: str
    program: Program
    split: str
    index: int
    seed: int


class Pool(Protocol):
    """Where programs run: worker processes, with every generated program in a process of its own.

    **Calls.** All calls come from one event loop, any number at once. They wait for a free worker and begin in the
    order of asking. Each call gets one answer, its own.

    **Determinism.** An episode depends on the domain, the options, the program, `index` and `seed`: not on the
    number of workers, on which of them rolls it out, on what ran there before, or on a retry. Only `wall_s` differs.
    A program's own random draws come from the seed as well.

    **Faults.** What a generated program does wrong is data: a Fault in the Episode, Score or Examination. It costs
    neither the worker nor another call anything, whatever the program does.

    **Retries.** A worker that dies or falls silent is replaced, and its task is done once more on a fresh one. The
    second failure is a RolloutError, and the pool goes on with the next task.

    **Deadlines.** Every call ends: programs have limits of CPU and wall time, workers of silence.

    **Durability.** When `roll` returns, the trajectory lies in the run's folder under `Episode.trajectory`, whole
    and flushed to the disk. A roll that failed or was cancelled leaves no file in part.

    **Cancellation.** A cancelled call frees its worker within seconds and disturbs no other.

    **Closing.** Leaving the pool (an async context manager) ends every process of it, its own and the programs'.
    Calls under way end with RolloutError, and so does every later one.

    **Errors.** RolloutError, and StoreError where the disk refuses a trajectory.
    """

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on disk when this returns.

        Raises RolloutError, also for a split that the pool does not have, and StoreError.
        """

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode; fitness 0 with a fault where the evaluator fails.

        Raises RolloutError, also for an episode without a trajectory.
        """

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid (finite f in [0,1], JSON-able metrics,
        two calls agree, also on T_0 cut to 0, 1 and half of its steps). Scores come in the order of the episodes.

        An invalid evaluator has the first fault; then scores may be fewer. Raises RolloutError, also for no episodes.
        """
