"""The port of the pool that runs generated programs."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, runtime_checkable

from ..probes import Cut, Disturbance, Source
from ..values import Episode, Examination, Probe, Program, Score


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """How the rollout of a practice episode differs: its notes say what a program that was stopped had printed and
    reported by then, and what CPU time it used. With `cpu_s` that may be so many seconds, and `step_s` more a call."""

    cpu_s: float | None = None
    step_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RollTask:
    """One episode to roll out. `split` names one of the pool's environments; `practice` is None in the search.

    `disturbance` is None but for probes. An episode that cannot be disturbed so ends with the fault INVALID_ACTION.
    """

    order: str
    program: Program
    split: str
    index: int
    seed: int
    practice: Practice | None = None
    disturbance: Disturbance | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeTask:
    """The probes of a run: rollouts to cut or to change, an idle and a random episode of `steps`, what the domain
    stages."""

    order: str
    split: str
    seed: int
    steps: int
    cuts: tuple[Cut, ...] = ()
    sources: tuple[Source, ...] = ()


class Pool(Protocol):
    """Runs programs on worker processes, every generated program in a separate process.

    **Calls.** All calls come from one event loop, any number at once. They wait for a free worker and begin in the
    order of the calls. Each call gets exactly its own answer.

    **Determinism.** An episode depends on the domain, the options, the program, `index` and `seed`: not on the
    number of workers, the worker that rolls it out, earlier tasks of that worker, or a retry. Only `wall_s`,
    `notes.times`, `notes.cpu_s` and `notes.node` differ, and the `cpu_s` of scores.
    A program's random draws come from the seed as well.

    **Faults.** A failure of a generated program is data: a Fault in the Episode, Score or Examination. It affects
    neither the worker nor any other call, whatever the program does.

    **Retries.** A worker that dies or falls silent is replaced, and its task is done once more on a fresh one; the
    same goes for a simulator that raises. The second failure of a roll is a Fault of the candidate, "the simulator
    failed: …", with the recording up to there if it raised and without one if its process ended. If the simulator
    fails as soon as a program that does nothing begins, or the task is no roll, RolloutError is raised. The pool
    continues with the next task. A worker that dies while it starts is started again, a few times.

    **Deadlines.** Every call ends: CPU time and wall time of programs are limited, and so is the silence of workers.

    **Durability.** When `roll` returns, the trajectory is in the run's folder under `Episode.trajectory`, complete
    and flushed to the disk. A roll that failed or was cancelled leaves no partial file. A pool of several machines may
    leave it on the machine that made it, where its maker allowed that; if it is lost with that machine, `score` raises
    RecordingLost, and the same roll makes it again.

    **Cancellation.** A cancelled call frees its worker within seconds and does not disturb other calls.

    **Closing.** Leaving the pool (an async context manager) ends all its processes: workers and programs.
    Open calls end with RolloutError, and so does every later one.

    **Errors.** RolloutError, and StoreError if the disk refuses a trajectory.
    """

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on disk when this returns.

        Raises RolloutError, also for a split that the pool does not have, and StoreError.
        """

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode; fitness 0 with a fault if the evaluator fails.

        Raises RolloutError, also for an episode without a trajectory, and RecordingLost for one that is on no disk.
        """

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid (finite f in [0,1], JSON-able metrics,
        two calls agree, also on T_0 truncated to 0, 1 and half of its steps). Scores are in the order of the episodes.

        For an invalid evaluator the result holds the first fault and possibly fewer scores. An episode without a
        trajectory counts with fitness 0. Raises RolloutError, also if no episode has one.
        """


@runtime_checkable
class Computing(Protocol):
    """Runs code of a conversation over recordings: what a pool offers as well where proposers have tools."""

    async def compute(self, program: Program, episode: Episode) -> Score:
        """What `score` returns for a program that does not get the arrays that no tool shows (`core.turns.HIDDEN`).

        They are left out before anything is sent to the program's process. Raises as `score` does.
        """


@runtime_checkable
class Prober(Pool, Protocol):
    """A pool that records probes as well, on which evaluators are examined. Duties as in `Pool`."""

    async def record_probes(self, task: ProbeTask) -> tuple[Probe, ...]:
        """Put the probes of the task on record; their trajectories are on disk when this returns. Deterministic.

        Raises RolloutError, also for a split that the pool does not have, and StoreError.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeLoad:
    """A node of a cluster in use: its name, its workers, and how many of them are busy."""

    node: str
    workers: int
    busy: int


@runtime_checkable
class RemotePool(Prober, Computing, Protocol):
    """A pool on other machines, which come and go. An async context manager. Duties as in `Pool`."""

    async def __aenter__(self) -> Self:
        """Start the workers. Raises UsageError if no machine can be used, RolloutError if none starts."""

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """End every worker and every program."""

    @property
    def slots(self) -> int:
        """Rollouts at once on the machines that are there now; at least 1."""

    def load(self) -> Sequence[NodeLoad]:
        """The machines that are there now."""

    async def bring(self, key: str) -> None:
        """Have a recording on this disk. Raises RecordingLost if it is nowhere, and StoreError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A connected cluster: what isolates programs on all of its nodes, the rollouts at once at the start.

    `pool` takes the arguments of a pool on this machine but for its workers, and `stays`: the tasks whose recordings
    may stay where they are made until `bring` is called.
    """

    layers: tuple[str, ...]
    places: int
    pool: Callable[..., RemotePool]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSeen:
    """A node of a cluster in words, and why it cannot be used from here; None if it can."""

    address: str
    words: str
    why: str | None


class ClusterService(Protocol):
    """Connects to clusters of one kind."""

    def require(self, address: str) -> None:
        """Raise UsageError for an address that no such cluster can have, or without the package for it."""

    def connect(
        self, address: str, *, workers: int | None, mixed: bool, isolated: bool
    ) -> AbstractAsyncContextManager[Connected]:
        """Connect, with at most `workers` rollouts at once. With `isolated` nodes must isolate programs; with `mixed`
        their episodes may differ in the last bits. Raises UsageError if no cluster answers, or no node can be used."""

    async def survey(self, address: str, *, isolated: bool) -> Sequence[NodeSeen]:
        """Every node. Raises UsageError if no cluster answers."""
