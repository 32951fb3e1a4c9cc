"""A policy in its own process, from the worker's side: observations in, actions out."""

import json
from array import array
from collections.abc import Mapping
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from ...core.faults import FaultKind
from ...core.ports import Action, Environment, Observation, Practice, SimulatorFailed
from ...core.values import JSON, Contract, Program
from .fault_text import crash_of, ran_in
from .policy_notes import StageLog, parse_report, printed_tail
from .program_frames import (
    ACTION,
    ASK_REPORT,
    CRASH,
    HEADER,
    INVALID,
    JSON_ACTION_USUAL_BYTES,
    NO_REPORT,
    OBSERVATION,
    RAN,
    READY,
    REPORT,
    STAGED,
    MalformedFrame,
)
from .program_notes import REPORT_BYTES
from .program_process import ProgramFailed, ProgramLauncher

JSON_ACTION_BYTES: Final = 65_536

MOST_DIGITS = 20    # of an integer in an action, with its sign


class PolicyProcess:
    """One policy for one episode. Call `wait_ready`, then `act` once per step; leaving the context ends it.

    `start_s` and `calls_s` hold the CPU time of its process in seconds, for loading and reset and for each call of
    `act`, as the kernel counts it; `stages` what it named; `printed` the end of what it printed, after the context.
    `ran` says which marks of the program were set, if `marking`, and it was asked or crashed.
    With `practice` that is also so for a program that was stopped, and `reported` is the last report before its end.
    """

    def __init__(self, launcher: ProgramLauncher, program: Program, contract: Contract, environment: Environment,
                 *, seed: int, practice: Practice | None = None, marking: bool = False) -> None:
        """Fork the process and send the program; the policy loads while the caller continues."""
        limits = launcher.limits
        self._limits = limits
        self._practice = practice
        self._reported = b""
        layout, size = environment.observation_layout, environment.action_size
        self._action_size = size
        self._raw = layout is not None
        if layout is not None:
            width = sum(int(np.prod(shape, dtype=int)) for _, shape in layout)
            self._out = bytearray(HEADER.size + 8 * width)
            HEADER.pack_into(self._out, 0, OBSERVATION, 8 * width)
            self._observed = np.frombuffer(self._out, dtype="<f8", offset=HEADER.size)
        self._process = launcher.launch(
            "policy", program, seed=seed, cpu_s=limits.episode_cpu_s + 2 * limits.start_cpu_s,
            reset=any(name == "reset" for name, _ in contract.methods),
            layout=layout, action_size=size, practice=practice is not None, marking=marking,
            **{"class": contract.class_name},
        )
        self.pid = self._process.pid
        self.start_s = 0.0
        self.calls_s = array("d")
        self.stages = StageLog()
        self.printed = ""
        self.ran = ""

    def wait_ready(self) -> None:
        """Wait until the policy is reset. Raises ProgramFailed (NOT_STARTED), Aborted, LauncherBroken."""
        process, limits = self._process, self._limits
        process.await_hardened()
        process.allow(
            cpu_s=limits.start_cpu_s, wall_s=limits.step_wall_s, what="loading and resetting the policy",
            kind=FaultKind.NOT_STARTED,
        )
        process.begin()
        try:
            kind, payload = process.receive(0, 0)
        except MalformedFrame as error:
            raise process.failure(FaultKind.NOT_STARTED, str(error)) from error
        except ProgramFailed as error:
            raise error.of_kind(FaultKind.NOT_STARTED) from error
        if kind == CRASH:
            raise process.failure(FaultKind.NOT_STARTED, *crash_of(payload))
        if kind != READY:
            raise process.failure(FaultKind.NOT_STARTED, f"it sent a frame of kind {kind} before it was ready")
        self.start_s = process.finish()
        self._allow_step(limits.start_cpu_s, "the first action")

    def _allow_step(self, cpu_s: float, what: str) -> None:
        limits = self._limits
        self._first = what != "an action"
        self._process.allow(
            cpu_s=cpu_s, wall_s=limits.step_wall_s, what=what,
            total_wall_s=limits.episode_wait_s, **self._total_cpu(),
        )

    def _total_cpu(self) -> Mapping[str, Any]:
        """The CPU time that the program may use until the end of the next call, and why, if it is not that of all."""
        practice, most = self._practice, self._limits.episode_cpu_s
        if practice is None or practice.cpu_s is None:
            return {"total_cpu_s": most}
        until_now = practice.cpu_s + practice.step_s * (len(self.calls_s) + 1)
        if until_now >= most:
            return {"total_cpu_s": most}
        why = f": {practice.cpu_s:g} s, and {1000 * practice.step_s:g} ms for each step, in practice"
        return {"total_cpu_s": until_now, "total_why": why}

    @property
    def cpu_s(self) -> float:
        """The CPU time of the process so far in seconds."""
        return self._process.cpu_s

    @property
    def last_report(self) -> Mapping[str, JSON] | str:
        """The report after the last call that ended, bounded, or why it cannot be used; kept in practice alone."""
        return parse_report(self._reported)

    def act(self, observation: Observation | bytes) -> Action:
        """The policy's action: float64 of `action_size`, finite; or a JSON list. Raises ProgramFailed, Aborted.

        A JSON observation may be given as its encoded text.
        """
        process = self._process
        process.begin()
        try:
            action = self._act_raw(observation) if self._raw else self._act_json(observation)
        except MalformedFrame as error:
            raise process.failure(FaultKind.INVALID_ACTION, str(error)) from error
        self.calls_s.append(process.finish())
        if self._first or self._practice is not None:
            self._allow_step(self._limits.step_cpu_s, "an action")
        return action

    def _receive(self, expected: int, cap: int) -> tuple[int, memoryview]:
        """The frame that answers an observation; in practice a report may come before it, once."""
        kind, payload = self._process.receive(
            expected, cap, report_cap=0 if self._practice is None else max(REPORT_BYTES, expected)
        )
        if kind == REPORT and self._practice is not None:
            self._reported = bytes(payload)
            kind, payload = self._process.receive(expected, cap)
        return kind, payload

    def _act_raw(self, observation: Observation | bytes) -> NDArray[np.float64]:
        if not isinstance(observation, np.ndarray) or observation.shape != self._observed.shape:
            raise SimulatorFailed(f"its observation is not a vector of {self._observed.size} numbers")
        assert self._action_size is not None
        size = 8 * self._action_size
        self._observed[:] = observation
        self._process.send_raw(self._out)
        kind, payload = self._receive(size, size)
        if kind == STAGED:
            kind, payload = self._split_stage(payload)
        if kind != ACTION or len(payload) != size:
            raise self._refusal(kind, payload)
        action = np.frombuffer(payload, dtype="<f8").copy()
        if not np.isfinite(action).all():
            raise self._process.failure(FaultKind.INVALID_ACTION, f"the action has NaN or inf: {action.tolist()}")
        return action

    def _act_json(self, observation: Observation | bytes) -> Action:
        try:
            text = observation if isinstance(observation, bytes) else json.dumps(observation, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise SimulatorFailed(f"its observation is no JSON: {error}") from error
        self._process.send(OBSERVATION, text)
        kind, payload = self._receive(JSON_ACTION_USUAL_BYTES, JSON_ACTION_BYTES)
        if kind == STAGED:
            kind, payload = self._split_stage(payload)
        if kind != ACTION:
            raise self._refusal(kind, payload)
        try:
            action = json.loads(bytes(payload), parse_constant=_refuse_constant, parse_int=_bounded_integer)
        except (ValueError, RecursionError) as error:
            raise self._process.failure(FaultKind.INVALID_ACTION, f"the action is not JSON: {error}") from error
        if isinstance(action, int | float) and not isinstance(action, bool):
            return [action]     # a plain number, where an action is one number
        if not isinstance(action, list):
            problem = f"the action is a {type(action).__name__}, not a list, tuple or number"
            raise self._process.failure(FaultKind.INVALID_ACTION, problem)
        return action

    def _split_stage(self, payload: memoryview) -> tuple[int, memoryview]:
        """Note the new stage. Returns the action's frame; the frame itself if its length of the name is wrong."""
        name_size = payload[-1] if payload else 0
        if not payload or name_size + 1 > len(payload):
            return STAGED, payload
        end = len(payload) - 1 - name_size
        self.stages.change(bytes(payload[end:-1]), len(self.calls_s))
        return ACTION, payload[:end]

    def report(self) -> Mapping[str, JSON] | str:
        """The policy's attribute `report` after its last action, bounded; or why there is none. Raises Aborted.

        Whatever the program does with the question is no fault: the episode is over.
        """
        process, limits = self._process, self._limits
        process.allow(cpu_s=limits.step_cpu_s, wall_s=limits.step_wall_s, what="its report")
        process.begin()
        try:
            if self._raw:
                HEADER.pack_into(self._out, 0, ASK_REPORT, len(self._out) - HEADER.size)
                process.send_raw(self._out)
            else:
                process.send(ASK_REPORT, b"")
            kind, payload = process.receive(0, REPORT_BYTES)
            if kind == RAN:
                self.ran = ran_in(payload, crashed=False)
                kind, payload = process.receive(0, REPORT_BYTES)
            process.finish()
        except MalformedFrame as error:
            return str(error)
        except ProgramFailed as error:
            return error.fault.message
        if kind == NO_REPORT:
            return bytes(payload).decode(errors="replace")
        return parse_report(bytes(payload)) if kind == REPORT else f"it sent a frame of kind {kind}"

    def _refusal(self, kind: int, payload: memoryview) -> ProgramFailed:
        if kind == CRASH:
            self.ran = ran_in(payload, crashed=True)
            return self._process.failure(FaultKind.CRASHED, *crash_of(payload))
        if kind == INVALID:
            return self._process.failure(FaultKind.INVALID_ACTION, bytes(payload).decode(errors="replace"))
        return self._process.failure(
            FaultKind.INVALID_ACTION, f"it sent a frame of kind {kind} and {len(payload)} bytes for an action"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """End the process and all its descendants."""
        ending = self._process.end()
        stopped = isinstance(error, ProgramFailed) and error.fault.kind is FaultKind.TIMED_OUT
        if ending is not None or (stopped and self._practice is not None):
            self.printed = printed_tail(self._process.output)


def _bounded_integer(digits: str) -> int:
    """An integer of 64 bits, which every environment can take."""
    if len(digits) > MOST_DIGITS or not -(2**63) <= int(digits) < 2**64:
        raise ValueError(f"an integer of {len(digits.lstrip('-'))} digits has more than 64 bits")
    return int(digits)


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a finite number")

