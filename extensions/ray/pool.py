"""The rollout pool of a cluster: the port's methods as calls to nodes; recordings that come back go to the disk."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ...core.errors import RolloutError
from ...core.ports import NodeLoad, ProbeTask, RollTask
from ...core.values import JSON, Episode, Examination, Probe, Program, Score
from ...core.variables import passed_also
from ...runtime.rollouts import worker_messages as messages
from ...runtime.rollouts.limits import DEFAULT_LIMITS, Limits
from ...runtime.rollouts.pool import TRIES, examine
from ...runtime.rollouts.worker_slots import Observer
from .calls import WITHDRAW_S, Calls, Disk, NodeAnswer, Tasks
from .dispatch import Dispatcher
from .link import ClusterLink
from .members import Members, NodeTerms

READY_S: Final = 180.0      # for the first node to be ready


class ClusterPool:
    """A core.ports.RemotePool of the workers on a cluster's nodes. An async context manager; leaving it ends them.

    `link` must be open. `domain` is an import string, resolved on the nodes only, and so are the `domains` of splits of
    another one. Trajectories go to the folder `trajectories` of this machine, except those of sound episodes that
    `stays` names: they stay on their node until `bring` is called, and are lost with it. Nodes keep copies of what they
    made or got last, and evaluators are called where a recording is. `python` is the interpreter of the workers, which
    every node must have at the same path; by default the node's own.
    """

    def __init__(
        self, link: ClusterLink, *, domain: str, splits: Mapping[str, Mapping[str, JSON]], trajectories: Path,
        limits: Limits = DEFAULT_LIMITS, observer: Observer | None = None, terms: NodeTerms | None = None,
        python: str | None = None, domains: Mapping[str, str] | None = None,
        stays: Callable[[RollTask], bool] | None = None,
    ) -> None:
        terms = terms or NodeTerms()
        start = {
            "domain": domain, "splits": {name: dict(options) for name, options in splits.items()},
            "domains": dict(domains or {}),
            "limits": asdict(limits), "python": python, "calibrate": terms.calibrate,
            "env": sorted(passed_also(os.environ)),
        }
        self._names = names = dict[str, str]()      # of nodes, for people
        self._link = link
        self._splits = frozenset(splits)
        self._stays = stays or (lambda _: False)
        self._disk = Disk(trajectories)
        self._dispatcher = Dispatcher()
        self._tasks = Tasks()
        self._calls = Calls(
            link, self._dispatcher, self._disk, self._tasks, names=names, observer=observer or (lambda _: None),
            limit_s=TRIES * (limits.task_wall_s + limits.environment_s + limits.worker_start_s) + WITHDRAW_S,
            lose=lambda node, why: self._members.lose(node, why),
        )
        self._members = Members(
            link, self._dispatcher, self._tasks, terms, start, names=names, on_joined=self._calls.assign,
            on_left=self._calls.lost, on_none=self._fail,
        )
        self._closed = True

    async def __aenter__(self) -> Self:
        """Start the workers of every node. Raises UsageError if no node can be used, RolloutError if none starts."""
        self._disk.make()
        self._closed = False
        self._link.on_nodes, self._link.on_gone = self._members.review, self._fail
        try:
            async with asyncio.timeout(READY_S):
                await self._members.first()
        except TimeoutError:
            await self._close()
            raise RolloutError(self._members.why_none(f"none was ready within {READY_S:g} s")) from None
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """End every worker and every program on every node."""
        await self._close()

    async def _close(self) -> None:
        self._closed = True
        self._members.leave()
        self._link.on_nodes, self._link.on_gone = (lambda: None), (lambda _: None)
        self._calls.fail_all("the pool was closed before the call was answered")
        await self._tasks.end()
        await self._members.close()
        await self._disk.close()

    @property
    def slots(self) -> int:
        """Rollouts at once on the nodes that are there now; at least 1."""
        return max(1, self._dispatcher.slots)

    def load(self) -> tuple[NodeLoad, ...]:
        """The nodes that are there now."""
        return tuple(
            NodeLoad(node=self._names[node], busy=busy, workers=places)
            for node, (busy, places) in ((node, self._dispatcher.load(node)) for node in self._dispatcher.nodes)
        )

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on this disk when this returns, or stays on the node.

        Raises RolloutError and StoreError.
        """
        self._require_split(task.split)
        plain = {
            "order": task.order, "split": task.split, "index": task.index, "seed": task.seed,
            "practice": None if task.practice is None else asdict(task.practice),
            "disturbance": None if task.disturbance is None else asdict(task.disturbance),
        }
        answer = await self._call("roll", task.order, plain, task.program, send=not self._stays(task))
        await self._disk.write(answer.files)
        episode = messages.episode_of(answer.done)
        return replace(episode, notes=replace(episode.notes, node=answer.node))

    async def record_probes(self, task: ProbeTask) -> tuple[Probe, ...]:
        """Put the probes of the task on record. Raises RolloutError and StoreError."""
        self._require_split(task.split)
        wants = dict.fromkeys([*(cut.key for cut in task.cuts), *(source.key for source in task.sources)])
        answer = await self._call("probes", task.order, asdict(task), Program(""), wants=wants)
        await self._disk.write(answer.files)
        return tuple(messages.probe_of(probe) for probe in answer.done)

    async def bring(self, key: str) -> None:
        """Have a recording on this disk. Raises RecordingLost if it is nowhere, and StoreError."""
        if not self._disk.has(key):
            await self._disk.write({key: await self._calls.recording(key)})

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode, where its recording is. Raises RolloutError, StoreError.

        Raises RecordingLost if the recording is nowhere.
        """
        return await self._apply("score", evaluator, episode)

    async def compute(self, program: Program, episode: Episode) -> Score:
        """The same for a program that gets no hidden arrays; see core.ports.Computing."""
        return await self._apply("compute", program, episode)

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid; see core.ports.Pool. Raises RolloutError."""
        return await examine(partial(self._apply, "examine", evaluator), episodes)

    async def _apply(self, do: str, evaluator: Program, episode: Episode) -> Score:
        key = episode.trajectory
        if key is None:
            raise RolloutError(f"episode {episode.index} has no recorded trajectory to {do}")
        answer = await self._call(do, key, {}, evaluator, wants=(key,), seed=episode.seed)
        return messages.score_of(answer.done)

    async def _call(
        self, do: str, order: str, task: Mapping[str, Any], program: Program, *, wants: Iterable[str] = (),
        seed: int = 0, send: bool = True,
    ) -> NodeAnswer:
        if self._closed:
            raise RolloutError("the pool is closed")
        return await self._calls.call(do, order, task, program, wants=wants, seed=seed, send=send)

    def _require_split(self, split: str) -> None:
        if split not in self._splits:
            raise RolloutError(f"the pool has no split {split!r}, only {sorted(self._splits)}")

    def _fail(self, why: str) -> None:
        """Fail every call: the cluster is lost."""
        self._calls.fail_all(
            f"the cluster at {self._link.address} is lost ({why}): resume the run when it is back"
        )
