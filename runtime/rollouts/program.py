"""The inside of a program process: load the generated text, run it as policy or evaluator, answer in program_frames.

This code shares a process with untrusted code, so the other side trusts nothing that it sends: see `program_process`.
Imports the standard library, numpy and the frames only.
"""

import importlib
import inspect
import json
import linecache
import socket
import sys
import traceback
import types
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.programs import marks
from . import program_frames, program_notes, repeatable, sandbox
from .program_json import plain, safe_text, type_name

FILENAME: Final = "program.py"      # the name of the generated text in tracebacks
MESSAGE_CHARS: Final = 500
TRACEBACK_CHARS: Final = 2000
NO_CAP: Final = 1 << 40             # the trusted side is trusted
PRELOADED: Final = (
    "abc", "bisect", "cmath", "collections.abc", "contextlib", "copy", "dataclasses", "datetime", "decimal", "enum",
    "fractions", "functools", "hashlib", "heapq", "itertools", "logging", "math", "numbers", "operator", "pprint",
    "queue", "re", "statistics", "string", "struct", "textwrap", "threading", "time", "typing", "warnings", "weakref",
)
NUMPY_FOLDER: Final = Path(np.__file__).parent


def preload() -> None:
    """Import the modules that programs commonly use, so that a forked process does not read them from disk."""
    for name in PRELOADED:
        importlib.import_module(name)
    np.linalg.svd(np.eye(4))        # first use sets up the linear algebra library
    np.fft.fft(np.ones(4))
    np.random.default_rng(0).normal(size=2)


def run(channel: socket.socket, prepared: sandbox.Prepared, bounds: sandbox.ResourceLimits) -> None:
    """Read a spec and a program, harden the process, and serve until the other side is done."""
    spec = json.loads(program_frames.receive_frame(channel, NO_CAP)[1])
    text = program_frames.receive_frame(channel, NO_CAP)[1].decode("utf-8", "surrogatepass")
    arrays = _receive_arrays(channel, spec.get("arrays", []))
    repeatable.apply(int(spec["seed"]))
    forget_project()
    live = sandbox.harden(prepared, bounds)
    program_frames.send_frame(channel, program_frames.HARDENED, json.dumps(live).encode())
    if spec["role"] == "policy":
        _play(channel, spec, text)
    else:
        _evaluate(channel, spec, text, arrays)


def _receive_arrays(channel: socket.socket, listed: list[list[Any]]) -> dict[str, NDArray[Any]]:
    arrays = {}
    for name, dtype, shape in listed:
        _, data = program_frames.receive_frame(channel, NO_CAP)
        arrays[name] = np.frombuffer(data, dtype=np.dtype(dtype)).reshape(shape)
    return arrays


def forget_project() -> None:
    """Remove this project's modules, such as reference policies, so that the program cannot import them."""
    for name in [name for name in sys.modules if name.partition(".")[0] == __name__.partition(".")[0]]:
        sys.modules.pop(name).__dict__.pop("__path__", None)
    sys.argv, sys.orig_argv = [""], [""]


_ran = bytearray()  # which places of the program were reached


def load(text: str, class_name: str, *, marking: bool = False) -> type[Any]:
    """Execute the text as a new module. Returns the class. Raises any exception of the text.

    With `marking` the places that it reaches are marked (`core.programs.marks`), if it has any.
    """
    module = types.ModuleType("program")
    sys.modules["program"] = module  # dataclasses and pickling look it up
    linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
    with_marks = marks.with_marks(text, FILENAME) if marking else None
    if with_marks is None:
        code = compile(text, FILENAME, "exec")
    else:
        code = compile(with_marks[0], FILENAME, "exec")
        _ran[:] = bytes(with_marks[1])
        module.__dict__[marks.NAME] = _ran
    exec(code, module.__dict__)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        raise TypeError(f"the program defines no class {class_name}")
    return found


def make(cls: type[Any], seed: int) -> Any:
    """An instance of the class: `cls(seed=…)` if its __init__ takes a seed, else `cls()`."""
    try:
        takes_seed = "seed" in inspect.signature(cls).parameters
    except ValueError:              # no signature is available: a class made in C
        takes_seed = False
    return cls(seed=seed & 0xFFFFFFFF) if takes_seed else cls()


def _play(channel: socket.socket, spec: dict[str, Any], text: str) -> None:
    """Instantiate the policy, then answer each observation with an action."""
    try:
        policy = make(load(text, spec["class"], marking=bool(spec.get("marking"))), int(spec["seed"]))
        if spec["reset"]:
            policy.reset()
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is data, SystemExit too
        return send_crash(channel, error)
    program_frames.send_frame(channel, program_frames.READY, b"")
    serve = _array_steps if spec["layout"] is not None else _json_steps
    return serve(channel, policy, spec)


def _array_steps(channel: socket.socket, policy: Any, spec: dict[str, Any]) -> None:
    """Observations and actions as raw float64."""
    slices: list[tuple[str, int, int, tuple[int, ...] | None]] = []
    start = 0
    for name, shape in spec["layout"]:
        size = int(np.prod(shape, dtype=int))
        slices.append((name, start, start + size, None if len(shape) == 1 else tuple(shape)))
        start += size
    receive_size = program_frames.HEADER.size + 8 * start
    action_size = int(spec["action_size"])
    answer = bytearray(program_frames.HEADER.size + 8 * action_size)
    program_frames.HEADER.pack_into(answer, 0, program_frames.ACTION, 8 * action_size)
    answered = np.frombuffer(answer, dtype="<f8", offset=program_frames.HEADER.size)
    stages = program_notes.StageReader(policy)
    reports = _reports(policy, spec, 8 * action_size)
    while True:
        received = program_frames.receive_exactly(channel, receive_size)
        if received[0] == program_frames.ASK_REPORT:
            return _send_report(channel, policy)
        flat = np.frombuffer(received, "<f8", offset=program_frames.HEADER.size)
        observation = {
            name: flat[begin:end] if shape is None else flat[begin:end].reshape(shape)
            for name, begin, end, shape in slices
        }
        try:
            action = policy.compute_action(observation)
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is data
            return send_crash(channel, error)
        problem = _put_action(action, answered)
        if problem:
            return program_frames.send_frame(channel, program_frames.INVALID, problem.encode("utf-8", "replace"))
        _send_changed(channel, reports)
        stage = stages.next_change()
        channel.sendall(answer if stage is None else _with_stage(answer[program_frames.HEADER.size :], stage))


def _put_action(action: object, answered: NDArray[Any]) -> str:
    """Write the action to the send buffer. Returns why it is not a valid action, or an empty text."""
    try:
        array = np.asarray(action)
        if array.ndim == 0 and answered.size == 1:
            array = array.reshape(1)        # a plain number, where an action is one number
        if array.dtype.kind not in "fiub":
            return f"compute_action returned {type_name(action)} of {array.dtype}, not {answered.size} numbers"
        if array.shape != answered.shape:
            return f"compute_action returned shape {array.shape} where {answered.shape} is needed"
        answered[:] = array
    except BaseException as error:  # noqa: BLE001 - converting runs code of the program
        return f"compute_action returned {type_name(action)}, which is no array: {_line(error)}"
    return ""


def _json_steps(channel: socket.socket, policy: Any, spec: dict[str, Any]) -> None:
    """Observations and actions as JSON."""
    stages = program_notes.StageReader(policy)
    reports = _reports(policy, spec, program_frames.JSON_ACTION_USUAL_BYTES)
    while True:
        kind, payload = program_frames.receive_frame(channel, NO_CAP)
        if kind == program_frames.ASK_REPORT:
            return _send_report(channel, policy)
        observation = json.loads(payload)
        try:
            action = policy.compute_action(observation)
        except BaseException as error:  # noqa: BLE001 - whatever a program raises is data
            return send_crash(channel, error)
        answer = as_json(channel, action, "compute_action returned")
        if answer is None:
            return None
        _send_changed(channel, reports)
        stage = stages.next_change()
        if stage is None:
            program_frames.send_frame(channel, program_frames.ACTION, answer)
        else:
            channel.sendall(_with_stage(answer, stage))


def _with_stage(action: bytes | bytearray, stage: bytes) -> bytes:
    """The frame of an action with a new stage."""
    payload = action + stage + bytes([len(stage)])
    return program_frames.HEADER.pack(program_frames.STAGED, len(payload)) + payload


def _reports(policy: Any, spec: dict[str, Any], least: int) -> program_notes.ReportReader | None:
    """Reads the report after each call of a practice episode."""
    return program_notes.ReportReader(policy, least) if spec.get("practice") else None


def _send_changed(channel: socket.socket, reports: program_notes.ReportReader | None) -> None:
    changed = None if reports is None else reports.next_change()
    if changed is not None:
        program_frames.send_frame(channel, program_frames.REPORT, changed)


def _send_report(channel: socket.socket, policy: Any) -> None:
    """Send which places it reached and the policy's report; the other side ends the process then."""
    program_frames.send_frame(channel, program_frames.RAN, marks.mask_of(_ran).encode())
    payload, problem = program_notes.report_payload(policy)
    if problem:
        program_frames.send_frame(channel, program_frames.NO_REPORT, problem.encode("utf-8", "replace"))
    else:
        program_frames.send_frame(channel, program_frames.REPORT, payload)


def _evaluate(channel: socket.socket, spec: dict[str, Any], text: str, arrays: dict[str, NDArray[Any]]) -> None:
    """Instantiate the evaluator, call it once, answer with its result."""
    try:
        evaluator = make(load(text, spec["class"]), int(spec["seed"]))
        result = getattr(evaluator, spec["method"])(arrays)
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is data
        return send_crash(channel, error)
    payload = as_json(channel, result, f"{spec['method']} returned")
    if payload is not None:
        program_frames.send_frame(channel, program_frames.RESULT, payload)
    return None


def as_json(channel: socket.socket, value: object, what: str) -> bytes | None:
    """A value as JSON; None if it is not JSON, which an INVALID frame reports."""
    try:
        return json.dumps(value, default=plain).encode()
    except BaseException as error:  # noqa: BLE001 - converting runs code of the program
        problem = f"{what} {type_name(value)}, which is not JSON: {_line(error)}"
        program_frames.send_frame(channel, program_frames.INVALID, problem.encode("utf-8", "replace"))
        return None


def send_crash(channel: socket.socket, error: BaseException) -> None:
    """Report the program's exception: one line, and a traceback that begins in the program's text."""
    trace = safe_text(lambda: _traceback(error))
    ran = marks.mask_of(_ran)
    payload = json.dumps({"message": _line(error), "traceback": trace[-TRACEBACK_CHARS:], "ran": ran})
    program_frames.send_frame(channel, program_frames.CRASH, payload.encode("utf-8", "replace"))


def _traceback(error: BaseException) -> str:
    frame = error.__traceback__
    while frame is not None and frame.tb_frame.f_code.co_filename != FILENAME:
        frame = frame.tb_next
    text = "".join(traceback.format_exception(type(error), error, frame))
    sizes = program_notes.sizes_of(_innermost(frame), keys=isinstance(error, KeyError))
    return f"{text.rstrip()}\nits locals: {sizes}\n" if sizes else text


def _innermost(trace: types.TracebackType | None) -> dict[str, Any]:
    """The local variables of the last function of the program on the way to an exception."""
    found: dict[str, Any] = {}
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME and trace.tb_frame.f_code.co_name != "<module>":
            found = trace.tb_frame.f_locals
        trace = trace.tb_next
    return found


def _line(error: BaseException) -> str:
    missing = safe_text(lambda: _missing(error))
    return f"{type_name(error)}: {safe_text(lambda: str(error))}"[: MESSAGE_CHARS - len(missing)] + missing


def _missing(error: BaseException) -> str:
    """The hint to add if a program imports a package that programs do not have."""
    if not isinstance(error, ModuleNotFoundError) or not isinstance(error.name, str):
        return ""
    if error.name.partition(".")[0] in {*sys.stdlib_module_names, "numpy"}:
        return ""
    return " (programs have numpy and the standard library, and no other package)"
