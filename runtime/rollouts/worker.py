"""The trusted worker process: steps the environment, records, computes success, isolates programs.

    python -m memento.runtime.rollouts.worker CHANNEL_FD

A simulator that raises in an episode is reported, and the episode ends there. Any other failure that is not a
program's fault ends this process, with its traceback on stderr. The controller tries the task once more on a fresh
worker after both.
"""

import importlib
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.errors import StoreError
from ...core.faults import Fault, FaultKind
from ...core.ports import (
    Action,
    Domain,
    Encoding,
    Environment,
    InvalidAction,
    Observation,
    SimulatorFailed,
    has_success,
)
from ...core.process_tree import adopt_orphans, end_descendants
from ...core.recording_file import load_recording, packed_recording, save_recording, trajectory_path
from ...core.seeds import derive_seed
from ...core.text import error_words
from ...core.turns import HIDDEN
from ...core.values import JSON, Episode, Program
from . import sandbox
from . import worker_messages as messages
from .episode_notes import notes_of, observed_fields, with_stages
from .evaluator_calls import evaluate, examine, failed_score
from .fault_text import simulator_fault
from .limits import Limits
from .policy_process import PolicyProcess
from .probes import Disturbed, ProbeRecorder, neutral_action, random_action
from .program_process import Aborted, ProgramFailed, ProgramLauncher, ProgramOverdue
from .repeats import Outcome, Repeats, outcome_of
from .sheets import SheetMaker
from .simulating import failure_of, simulating
from .twins import difference_of

SEED = 1    # of an episode that is begun for a look at the recording, or to warm the simulator
FIRST_ACTIONS: Final = 5    # that are tried without a program, to see whether the simulator works at all
NOTE_S: Final = 0.2         # interval at which a worker reports its steps, and reads whether its task was withdrawn
AHEAD_NOTE_S: Final = 0.05  # the same in an episode that gives way to any task


class Worker:
    """Carries out the controller's tasks, one at a time, from the channel."""

    def __init__(self, channel: socket.socket, start: Mapping[str, Any]) -> None:
        self._channel = channel
        self._splits: Mapping[str, Mapping[str, JSON]] = start["splits"]
        self._folder = Path(start["trajectories"])
        self._environments: dict[str, Environment] = {}     # by their domains and options
        self._steps = 0
        self._blob = b""
        self._noted = 0.0
        self._note_s = NOTE_S
        self._launcher = ProgramLauncher(Limits(**start["limits"]), self._is_interrupted)
        self._domain = load_domain(start["domain"])
        self._repeats = Repeats()
        self._outcome: Outcome | None = None    # of the last roll, if it counts as one to compare
        self._others = {split: load_domain(name) for split, name in start["domains"].items()}

    def serve(self) -> None:
        """Carry out tasks until the controller is gone."""
        self._send({"ready": True})
        while True:
            request, blob = messages.receive(self._channel)
            if request["do"] == "abort":
                continue    # the abort arrived after its task was answered
            program = Program(blob.decode("utf-8", "surrogatepass"))
            self._steps, self._blob = 0, b""
            self._note_s = AHEAD_NOTE_S if request.get("ahead") else NOTE_S
            try:
                answer = self._answer(request, program)
            except Aborted:
                answer = {"aborted": True}
            except StoreError as error:
                answer = {"refused": str(error)}    # a problem of the disk: another worker would fail too
            self._send(answer, self._blob)

    def close(self) -> None:
        """Release programs and simulators."""
        self._launcher.close()
        for environment in self._environments.values():
            with suppress(Exception, SystemExit):   # the others are to close, too
                environment.close()
        end_descendants(os.getpid())    # what a simulator started and left behind

    # -------------------------------------------------------------------------------------- tasks

    def _answer(self, request: Mapping[str, Any], program: Program) -> messages.Message:
        match request["do"]:
            case "roll":
                return self._compared(request, program, self._roll(request, program))
            case "warm":
                return self._warm_up(request["split"])
            case "idle":
                return {"done": {"problem": self._why_broken(request["split"], int(request["seed"]))}}
            case "probes":
                return self._record_probes(request)
            case "require-twin":
                return {"done": {"problem": self._why_no_twin(request["split"], request["twin"])}}
            case "require-drawing":
                return {"done": self._sheets().require(request["split"])}
            case "draw":
                return {"done": self._sheets().make(request, self._folder)}
            case _:
                return self._apply(request, program)

    def _warm_up(self, split: str) -> messages.Message:
        """Make the environment and begin an episode in it, which also compiles what is compiled on first use.

        What fails here fails in the first episode again, and is reported there.
        """
        with suppress(SimulatorFailed, InvalidAction), simulating():
            environment = self._environment(split)
            environment.reset(index=0, seed=SEED)
            environment.observe()
            action = neutral_action(environment)
            if action is not None:
                environment.step(action)
        return {"done": {}}

    def _record_probes(self, request: Mapping[str, Any]) -> messages.Message:
        """The probes of the run: no program takes part."""
        recorder = ProbeRecorder(
            domain=self._domain, options=self._splits[request["split"]],
            environment=lambda: self._environment(request["split"]), folder=self._folder, rest=self._rest,
        )
        return {"done": [messages.probe_message(probe) for probe in recorder.record(request)]}

    def _why_no_twin(self, split: str, twin: str) -> str:
        """Why programs of one split cannot run in the other; "" if they can."""
        return difference_of(self._environment(split), self._environment(twin), seed=SEED)

    def _sheets(self) -> SheetMaker:
        return SheetMaker(self._domain, self._splits, self._rest)

    def _rest(self) -> None:
        """Report now and then. Raises Aborted if the controller withdrew the task."""
        self._steps += 1
        if time.perf_counter() - self._noted > self._note_s and self._is_interrupted():
            raise Aborted

    def _why_broken(self, split: str, seed: int) -> str:
        """Why no episode can begin: what the simulator raises for every first action that is tried; "" if one works.

        Doing nothing is tried first, then random actions, since an action can be forbidden where an episode begins.
        """
        rng, problem = np.random.default_rng(derive_seed(seed, "first actions")), ""
        for attempt in range(FIRST_ACTIONS):
            try:
                with simulating():
                    environment = self._environment(split)
                    environment.reset(index=0, seed=seed)
                    environment.observe()
                    action = neutral_action(environment) if attempt == 0 else random_action(environment, rng)
                    if action is not None:
                        environment.step(action)
            except InvalidAction:
                return ""       # it answers
            except SimulatorFailed as error:
                problem = problem or str(error)
                self._rest()
                continue
            return ""
        return problem

    def _roll(self, request: Mapping[str, Any], program: Program) -> messages.Message:
        """One episode: its trajectory is on disk before the answer, or a part of it where it was not ordered yet."""
        begun, self._outcome = time.perf_counter(), None
        with self._answer_to_failure(request) as failed:
            environment = self._environment(request["split"])
        if failed:
            return failed
        index, seed = int(request["index"]), int(request["seed"])
        # Not the episode's own seed, from which a policy could draw what the simulator drew.
        domain = self._domain_of(request["split"])
        own = getattr(environment, "program_seed", None)
        policy = PolicyProcess(
            self._launcher, program, domain.contract, environment,
            seed=derive_seed(seed, "program") if own is None else own,
            practice=messages.practice_of(request["practice"]), marking=True,
        )
        fault, answer, ended = None, "done", "fault"
        report: Mapping[str, JSON] | str = {}
        try:
            with policy:
                with simulating():
                    environment.reset(index=index, seed=seed)
                policy.wait_ready()
                ended = self._steps_of(environment, _acting(policy, environment, request))
                report = policy.report()
        except ProgramFailed as error:
            fault, answer = error.fault, error.answer
            report, ended = policy.last_report, "fault"
        except SimulatorFailed as error:
            fault, answer = simulator_fault(str(error)), "failed"
            report, ended = policy.last_report, "fault"
        with self._answer_to_failure(request, fault) as failed:
            recorded = environment.recording()
            success = fault is None and bool(environment.success())
        if failed:
            return failed
        recording = with_stages(recorded, policy.stages)
        key = request["key"]
        if request.get("ahead"):
            self._blob = packed_recording(recording)
        else:
            save_recording(trajectory_path(self._folder, key), recording)
        scene = recorded.info.get("scene")
        episode = Episode(
            index=index, seed=seed, steps=self._steps, ended_by=ended, fault=fault,
            success=success, trajectory=key,
            scene=None if scene is None else str(scene), info=dict(recorded.info),
            wall_s=time.perf_counter() - begun,
            scored_to_fault=fault is not None and self._steps > 0,
            notes=replace(
                notes_of(policy, report, domain=domain, recording=recording, visible=observed_fields(environment)),
                cpu_s=0.0 if request["practice"] is None else round(policy.cpu_s, 3),
            ),
        )
        asked = request.get("compared") or request.get("digest")
        if asked and fault is None and (success or not has_success(domain, self._splits[request["split"]])):
            self._outcome = outcome_of(episode, recorded)
        return {answer: messages.episode_message(episode)}

    def _compared(self, request: Mapping[str, Any], program: Program, answer: messages.Message) -> messages.Message:
        """The answer to a roll, or what differs where an episode is played again after it, in the same environment."""
        outcome = self._outcome
        if outcome is None or "done" not in answer:
            return answer
        answer = {**answer, "digest": outcome.digest}
        if not request.get("compared"):
            return answer
        known = self._repeats.after(request, program, outcome)
        if known is None:
            return answer
        blob, steps = self._blob, self._steps
        self._steps = 0
        self._roll({**known.request, "ahead": True}, known.program)     # its recording is not kept
        self._blob, self._steps = blob, steps
        again = self._outcome
        differs = "it did not succeed again" if again is None else known.outcome.difference(again)
        return {"remembers": differs} if differs else answer

    @contextmanager
    def _answer_to_failure(self, request: Mapping[str, Any], fault: Fault | None = None) -> Iterator[messages.Message]:
        """What the simulator raises within as the answer of a roll without a recording; empty if it raises nothing."""
        answer: messages.Message = {}
        try:
            with simulating():
                yield answer
        except SimulatorFailed as error:
            answer["failed"] = messages.episode_message(
                messages.episode_without_recording(request, fault or simulator_fault(str(error)))
            )

    def _steps_of(self, environment: Environment, act: Callable[[Observation | bytes], Action]) -> str:
        """Step until the episode ends. Returns the word for its end. Raises ProgramFailed, SimulatorFailed, Aborted."""
        observe = environment.observe_encoded if isinstance(environment, Encoding) else environment.observe
        blamed = InvalidAction if environment.observation_layout is not None else ValueError
        while True:     # no `with simulating()`: it would take longer than some simulators
            try:
                observation = observe()
            except (Exception, SystemExit) as error:
                raise failure_of(error) from error
            action = act(observation)
            try:
                ended = environment.step(action)
            except blamed as error:
                raise ProgramFailed(Fault(kind=FaultKind.INVALID_ACTION, message=str(error)[:500])) from error
            except (Exception, SystemExit) as error:
                raise failure_of(error) from error
            self._steps += 1
            if ended is not None:
                return ended
            if time.perf_counter() - self._noted > self._note_s and self._is_interrupted():
                raise Aborted

    def _apply(self, request: Mapping[str, Any], program: Program) -> messages.Message:
        """Score or examine one recorded episode, or run code over it, which never gets the hidden arrays."""
        recording = load_recording(trajectory_path(self._folder, request["key"]))
        if request["do"] == "compute":
            recording = recording.without(HIDDEN)
        call = examine if request["do"] == "examine" else evaluate
        try:
            score = call(
                self._launcher, self._domain.evaluator_contract, program, recording,
                seed=derive_seed(int(request["seed"]), "evaluator"),
            )
        except ProgramOverdue as error:
            return {error.answer: messages.score_message(failed_score(error.fault))}
        return {"done": messages.score_message(score)}

    def _environment(self, split: str) -> Environment:
        """The environment of this split, made on first use and kept; equal options share one."""
        options = self._splits[split]
        domain = self._domain_of(split)
        key = f"{domain.name} {json.dumps(options, sort_keys=True)}"
        if key not in self._environments:
            self._note("environment")
            self._environments[key] = domain.environment(options)
        self._note("working")
        return self._environments[key]

    def _domain_of(self, split: str) -> Domain:
        """The domain of a split: the run's own, unless the split has another one."""
        return self._others.get(split, self._domain)

    # ------------------------------------------------------------------------------------ channel

    def _send(self, message: messages.Message, blob: bytes = b"") -> None:
        messages.send(self._channel, message, blob)

    def _note(self, phase: str) -> None:
        self._noted = time.perf_counter()
        self._send({"note": phase, "steps": self._steps})

    def _is_interrupted(self) -> bool:
        """Report the steps so far. Returns whether the controller withdrew the task. Raises ControllerGone."""
        self._note("working")
        readable, _, _ = select.select([self._channel], [], [], 0)
        # During a task the controller only sends an abort.
        return bool(readable) and messages.receive(self._channel)[0]["do"] == "abort"


def _acting(
    policy: PolicyProcess, environment: Environment, request: Mapping[str, Any]
) -> Callable[[Observation | bytes], Action]:
    """The actions of a policy, disturbed where the request says so."""
    disturbance = messages.disturbance_of(request["disturbance"])
    if disturbance is None:
        return policy.act
    return Disturbed(policy.act, environment, disturbance, seed=int(request["seed"])).act


def load_domain(name: str) -> Domain:
    """The domain at an import string "module:attribute"."""
    module, _, attribute = name.partition(":")
    domain: Domain = getattr(importlib.import_module(module), attribute)
    return domain


def main() -> None:
    """Serve the controller at the other end of the channel until it is gone."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    try:
        start, _ = messages.receive(channel)
    except messages.ControllerGone:
        return
    sandbox.die_with_parent()
    adopt_orphans()
    if os.getppid() != start["controller"]:
        return      # the controller died before this process could register to die with it
    try:
        worker = Worker(channel, start)
    except (ImportError, AttributeError, SystemExit) as error:     # of the domain: another worker would fail too
        messages.send(channel, {"problem": error_words(error)})
        return
    try:
        worker.serve()
    except messages.ControllerGone:
        worker.close()  # only here: a failed simulator may hang while it closes


if __name__ == "__main__":
    main()
