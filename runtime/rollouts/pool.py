"""The rollout pool: runs episodes and evaluator calls on worker processes, first come, first served."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import structlog

from ...core.errors import RecordingLost, RolloutError, StoreError, UsageError
from ...core.events import RolledAhead
from ...core.ports import Drawn, DrawTask, ProbeTask, RollTask
from ...core.recording import MISSING
from ...core.recording_file import save_packed, trajectory_key, trajectory_path
from ...core.returns import return_of
from ...core.values import JSON, Episode, Examination, Probe, Program, Score
from ...core.variables import hint
from . import worker_messages as messages
from .ahead import AheadEpisode, AheadRolls
from .fault_text import simulator_fault
from .limits import DEFAULT_LIMITS, Limits
from .owned_process import wait_undisturbed
from .worker_handle import ENDED, WorkerLost
from .worker_slots import Observer, WorkerSlot, WorkerSlots

_log = structlog.get_logger("memento.rollouts")

TRIES: Final = 2            # of a task
KILLED_TRIES: Final = 3     # of a task whose worker or warm process ended, as by a SIGKILL from outside
AGREEING: Final = 4         # fresh processes that repeat an episode which differed: two may be alike by chance
WARM_AFTER_S: Final = 1.0   # without a task, as while the first prompt is out
IDLE_SEEDS: Final = (1, 2, 3)   # of the episodes that show whether a simulator works at all


async def examine(
    examine: Callable[[Episode], Coroutine[Any, Any, Score]], episodes: Sequence[Episode]
) -> Examination:
    """Examine on the first episode, then on all others at once if the evaluator was valid there.

    Where the simulator's process ended there is no recording: such an episode has fitness 0, as in the search.
    Raises RolloutError, also for an empty sequence of episodes.
    """
    recorded = [place for place, each in enumerate(episodes) if each.trajectory is not None]
    if not recorded:
        raise RolloutError("cannot examine an evaluator without episodes that were recorded")
    first = await examine(episodes[recorded[0]])
    scores = [first]
    if first.fault is None:
        try:
            async with asyncio.TaskGroup() as group:
                rest = {place: group.create_task(examine(episodes[place])) for place in recorded[1:]}
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        known = {recorded[0]: first} | {place: task.result() for place, task in rest.items()}
        scores = [known.get(place, Score(fitness=0.0)) for place in range(len(episodes))]
    fault = next((score.fault for score in scores if score.fault is not None), None)
    return Examination(scores=tuple(scores), fault=fault)


def _roll_message(task: RollTask) -> messages.Message:
    return {
        "do": "roll", "key": trajectory_key(task.order), "split": task.split, "index": task.index,
        "seed": task.seed, "practice": None if task.practice is None else asdict(task.practice),
        "disturbance": None if task.disturbance is None else asdict(task.disturbance),
    }


class ProcessPool:
    """A core.ports.Pool of worker processes. An async context manager; leaving it ends every process.

    `domain` is an import string "module:attribute", resolved in the workers only. `splits` maps the
    name of each split to its environment's options; `domains` names the domains of splits of another one.
    Where `compared`, an episode that counts is played again after others now and then. Where that differs `remembers`
    gets it in words, the number of rolls before, and whether every later roll has a process of its own, as with `alone`
    from the start: then the environment keeps something of earlier episodes. Else no process repeats another one's.
    Trajectories go to the folder `trajectories`. `python` is the interpreter of the workers and of the programs, by
    default this one. Workers that have nothing to do at first make the environment of the split `warm` meanwhile.
    """

    def __init__(self, *, domain: str, splits: Mapping[str, Mapping[str, JSON]], workers: int,
                 trajectories: Path, limits: Limits = DEFAULT_LIMITS, observer: Observer | None = None,
                 python: str | None = None, domains: Mapping[str, str] | None = None, warm: str | None = None,
                 compared: bool = False, alone: bool = False,
                 remembers: Callable[[str, int, bool], None] = lambda differs, before, alone: None) -> None:
        start: dict[str, object] = {
            "domain": domain, "splits": {name: dict(options) for name, options in splits.items()},
            "domains": dict(domains or {}),
            "trajectories": str(trajectories.resolve()), "limits": asdict(limits),
        }
        self._warm = warm
        self._warming: set[asyncio.Task[None]] = set()
        self._splits = frozenset(splits)
        self._compared, self._alone, self._remembers, self._rolls = compared and not alone, alone, remembers, 0
        self._varies = False    # the same episode differs in fresh processes, too
        self._rolled: dict[tuple[str, int, int, Program], tuple[int, float | None]] = {}
        self._warned = False
        self._works: set[str] = set()   # splits whose simulator runs without a program
        self._folder = trajectories
        self._ahead = AheadRolls(self._begin_ahead)
        self._slots = WorkerSlots(
            start, workers=workers, folder=trajectories, limits=limits, python=python,
            observe=observer or (lambda _: None), give_way=self._ahead.give_way,
        )

    async def __aenter__(self) -> Self:
        """Start every worker. Raises RolloutError if one cannot start."""
        try:
            await self._slots.open()
        except BaseException:
            await self._close()
            raise
        if self._warm is not None and not self._alone:
            self._begin_warming(self._warm_up(self._warm))
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """End every worker and every program."""
        await self._close()

    async def _close(self) -> None:
        self._slots.closed = True
        await self._ahead.close()
        for warming in self._warming:
            warming.cancel()
        if self._warming:
            await asyncio.wait(self._warming)
        await self._slots.close()

    # -------------------------------------------------------------------------------------- the port

    async def roll(self, task: RollTask) -> Episode:
        """Roll one episode out; its trajectory is on disk when this returns.

        Raises RolloutError, and StoreError if the disk refuses the trajectory.
        """
        if task.split not in self._splits:
            raise RolloutError(f"the pool has no split {task.split!r}, only {sorted(self._splits)}")
        plain = task.practice is None and task.disturbance is None
        ahead = await self._ahead.take(task) if plain else None
        if ahead is None:
            episode = await self._roll_compared(task, compared=plain and self._compared)
        else:
            episode = replace(ahead.episode, trajectory=trajectory_key(task.order))
            path = trajectory_path(self._folder, trajectory_key(task.order))
            await wait_undisturbed(asyncio.ensure_future(asyncio.to_thread(save_packed, path, ahead.recording)))
        self._rolls += 1
        missing = episode.info.get(MISSING)
        if missing and not self._warned:
            self._warned = True
            _log.warning("recorded-as-missing", what=str(missing), why="the simulator reported something else at first")
        return episode

    async def _roll_compared(self, task: RollTask, *, compared: bool) -> Episode:
        """One episode. Where the run rolled the same one out before, the two are compared as well."""
        message = {**_roll_message(task), "compared": compared}
        episode = messages.episode_of(await self._call(message, task.program, task.order))
        if not compared or episode.fault is not None:
            return episode
        asked = (task.split, task.index, task.seed, task.program)
        found = (episode.steps, return_of(episode))
        known = self._rolled.setdefault(asked, found)
        if known != found and not self._alone and not self._varies:
            slot = await self._slots.acquire()
            try:
                await self._judge(slot, message, task.program, task.order, (
                    f"{known[0]} steps at first and {found[0]} again, return {known[1]} at first and {found[1]} again"
                ))
            finally:
                self._slots.release(slot)
            return messages.episode_of(await self._call(message, task.program, task.order))
        return episode

    def expect(self, likely: Sequence[RollTask], ordered: Sequence[RollTask]) -> None:
        """Have idle workers roll the `likely` episodes out ahead, the first ones first, until the next such call.

        What is under way gives way to every other task. `ordered` are the rolls that will be called for: what is known
        of them is kept. Nothing of them is on disk before its `roll`. See `go_on`.
        """
        self._ahead.expect(likely, ordered)

    def go_on(self) -> None:
        """Begin on the workers that are idle after the calls that begin at this moment have got theirs.

        One that has no environment, as after the loss of its process, makes it before anything is ordered of it.
        """
        asyncio.get_running_loop().call_soon(self._use_idle)

    def account(self) -> RolledAhead | None:
        """What was rolled out ahead since the last call of this, and used; None for nothing."""
        return self._ahead.account()

    async def record_probes(self, task: ProbeTask) -> tuple[Probe, ...]:
        """Put the probes of the task on record. Raises RolloutError and StoreError."""
        if task.split not in self._splits:
            raise RolloutError(f"the pool has no split {task.split!r}, only {sorted(self._splits)}")
        message = {"do": "probes", **asdict(task)}
        answer: Any = await self._call(message, Program(""), task.order)
        return tuple(messages.probe_of(probe) for probe in answer)

    async def require_drawing(self, split: str) -> None:
        """Raise UsageError if episodes of a split cannot be drawn on this machine. Raises RolloutError."""
        answer = await self._call({"do": "require-drawing", "split": split}, Program(""), split)
        if answer["problem"]:
            raise UsageError(answer["problem"])

    async def require_twin(self, split: str, twin: str) -> None:
        """Raise UsageError if programs of the split `split` cannot run in the split `twin`. Raises RolloutError."""
        answer = await self._call({"do": "require-twin", "split": split, "twin": twin}, Program(""), twin)
        if answer["problem"]:
            raise UsageError(answer["problem"])

    async def draw(self, task: DrawTask) -> Drawn:
        """Draw one sheet of a recorded episode. Raises RolloutError and StoreError."""
        message = {
            "do": "draw", "key": task.trajectory, "split": task.split, "rows": [*task.rows], "path": str(task.path),
        }
        answer = await self._call(message, Program(""), task.order)
        return Drawn(captions=tuple(answer["captions"]), digest=answer["digest"], problem=answer["problem"])

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """One evaluator's score of one recorded episode. Raises RolloutError, RecordingLost and StoreError."""
        return await self._apply("score", evaluator, episode)

    async def compute(self, program: Program, episode: Episode) -> Score:
        """The same for a program that gets no hidden arrays; see core.ports.Computing."""
        return await self._apply("compute", program, episode)

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """Apply an evaluator to T_0 and check that it is valid; see core.ports.Pool. Raises RolloutError.

        An invalid evaluator usually fails on the first episode; then the other episodes are skipped.
        """
        return await examine(lambda episode: self._apply("examine", evaluator, episode), episodes)

    async def _apply(self, do: str, evaluator: Program, episode: Episode) -> Score:
        if episode.trajectory is None:
            raise RolloutError(f"episode {episode.index} has no recorded trajectory to {do}")
        path = trajectory_path(self._folder, episode.trajectory)
        if not path.exists():
            raise RecordingLost(f"the trajectory {path.name} is not in {path.parent}")
        message = {"do": do, "key": episode.trajectory, "seed": episode.seed}
        return messages.score_of(await self._call(message, evaluator, episode.trajectory))

    async def _warm_up(self, split: str) -> None:
        """Have every worker that was not used yet make its environment. What fails is left to the first episode."""
        await asyncio.sleep(WARM_AFTER_S)
        async with asyncio.TaskGroup() as group:
            for slot in [slot for slot in self._slots.idle if not slot.used]:
                self._slots.idle.remove(slot)
                group.create_task(self._warm_slot(slot, split))

    def _begin_warming(self, work: Coroutine[Any, Any, None]) -> None:
        warming = asyncio.create_task(work)
        self._warming.add(warming)
        warming.add_done_callback(self._warming.discard)

    async def _warm_slot(self, slot: WorkerSlot, split: str) -> None:
        slot.warmed = True
        try:
            with suppress(WorkerLost, RolloutError):
                await self._slots.attempt(slot, {"do": "warm", "split": split}, Program(""), split)
        finally:
            self._slots.release(slot)

    def _use_idle(self) -> None:
        if self._warm is not None and not self._slots.closed and not self._alone:
            for slot in [slot for slot in self._slots.idle if slot.used and not slot.made and not slot.warmed]:
                self._slots.idle.remove(slot)
                self._begin_warming(self._warm_slot(slot, self._warm))
        self._ahead.go_on()

    def _begin_ahead(self, task: RollTask) -> asyncio.Task[AheadEpisode | None] | None:
        """Have an idle worker roll an episode out whose environment it has made: making one could not give way."""
        slot = next((slot for slot in self._slots.idle if task.split in slot.made), None)
        if slot is None or self._slots.closed or self._alone:
            return None
        self._slots.idle.remove(slot)
        rolling = asyncio.create_task(self._roll_ahead(slot, task))
        rolling.add_done_callback(lambda _: self._slots.release(slot))
        return rolling

    async def _roll_ahead(self, slot: WorkerSlot, task: RollTask) -> AheadEpisode | None:
        message = {**_roll_message(task), "ahead": True, "compared": self._compared}
        try:
            answer = await self._slots.attempt(slot, message, task.program, task.order)
        except (WorkerLost, RolloutError):
            return None
        if "done" in answer:
            return AheadEpisode(episode=messages.episode_of(answer["done"]), recording=answer["blob"])
        await self._slots.empty(slot)     # what it remembers is found again in an episode that was ordered
        return None

    # ------------------------------------------------------------------------------------ workers

    async def _call(self, message: messages.Message, program: Program, order: str) -> messages.Message:
        """Have a worker do this; where it failed and not by the program's fault, once more on a fresh one.

        A process that ended gets one more try than one that was late: the cause can be outside of the machine's work.
        """
        slot = await self._slots.acquire()
        try:
            lost, tries, attempt = "", TRIES, 0
            while attempt < tries:
                attempt += 1
                shared = not self._alone and not self._varies and bool(message.get("compared"))
                try:
                    if self._alone and message["do"] == "roll" and slot.made:
                        await self._slots.empty(slot)
                    answer = await self._slots.attempt(slot, {**message, "compared": shared}, program, order)
                except WorkerLost as error:
                    lost, answer = str(error), {}
                    tries = KILLED_TRIES if lost.startswith(ENDED) else tries
                    continue
                if "remembers" in answer and not self._alone and not self._varies:
                    await self._judge(slot, message, program, order, str(answer["remembers"]))
                if "remembers" in answer or (shared and self._alone):     # another worker may have found it
                    attempt -= 1
                    continue
                if "done" in answer:
                    done: messages.Message = answer["done"]
                    return done
                if "refused" in answer:
                    raise StoreError(answer["refused"])
                await self._slots.empty(slot)
                lost = answer["failed"]["fault"]["message"] if "failed" in answer else "it was overdue"
                tries = KILLED_TRIES if "killed" in answer else tries
                if attempt == tries and "failed" not in answer:    # a sleeper, or it ends the process that guards it
                    [blamed] = answer.values()
                    return dict(blamed)
            return await self._given_up(slot, message, order, lost, answer.get("failed"), attempt)
        finally:
            self._slots.release(slot)

    async def _judge(
        self, slot: WorkerSlot, message: messages.Message, program: Program, order: str, differs: str
    ) -> None:
        """Why an episode that was repeated differed: fresh processes agree if the environment keeps something.

        Then every later roll has a process of its own, which would not help where the two differ as well.
        """
        found = set[str]()
        for _ in range(AGREEING):
            await self._slots.empty(slot)
            with suppress(WorkerLost):
                answer = await self._slots.attempt(slot, {**message, "compared": False, "digest": True}, program, order)
                found.add(str(answer.get("digest")))
        await self._slots.empty(slot)
        if self._alone or self._varies:
            return      # another worker was faster
        self._alone, self._varies = len(found) == 1, len(found) > 1
        self._remembers(differs, self._rolls, self._alone)

    async def _given_up(
        self, slot: WorkerSlot, message: messages.Message, order: str, lost: str,
        failed: messages.Message | None, tries: int,
    ) -> messages.Message:
        """The answer to a task in which the simulator failed for the last time. Raises RolloutError without one.

        `failed` is the episode up to there, None where the process ended with it.
        """
        if message["do"] == "probes":
            with suppress(WorkerLost):
                answer = await self._slots.attempt(slot, {**message, "cuts_only": True}, Program(""), order)
                if "done" in answer:
                    cuts: messages.Message = answer["done"]
                    return cuts
        if message["do"] == "draw":
            return {"captions": [], "digest": "", "problem": lost}
        if message["do"] == "roll":
            broken = await self._why_broken(slot, str(message["split"]))
            if not broken:
                fault = simulator_fault(lost)
                return failed or messages.episode_message(messages.episode_without_recording(message, fault))
            lost = f"the simulator fails without a program, too, as soon as an episode begins: {broken}"
            lost += hint(broken, os.environ)
        raise RolloutError(f"{message['do']} {order} failed {tries} times: {lost}")

    async def _why_broken(self, slot: WorkerSlot, split: str) -> str:
        """Why the simulator does not work at all, as a program that does nothing shows; "" if it does."""
        if split in self._works:
            return ""
        problem = ""
        for seed in IDLE_SEEDS:
            try:
                idle = {"do": "idle", "split": split, "seed": seed}
                answer = await self._slots.attempt(slot, idle, Program(""), "idle")
            except WorkerLost as error:
                problem = problem or str(error)
                continue
            found = str(answer["done"]["problem"])
            if not found:
                self._works.add(split)
                return ""
            await self._slots.empty(slot)
            problem = problem or found
        return problem
