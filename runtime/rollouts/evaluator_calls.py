"""One call of an evaluator program over one recording, and what makes an evaluator valid."""

import json
import math
from dataclasses import replace
from typing import Final

import numpy as np

from ...core.faults import Fault, FaultKind
from ...core.metrics import bounded_metrics
from ...core.recording import Recording
from ...core.seeds import derive_seed
from ...core.values import JSON, Contract, Program, Score
from .fault_text import crash_of
from .program_frames import CRASH, INVALID, RESULT, MalformedFrame
from .program_process import LauncherBroken, ProgramFailed, ProgramLauncher, ProgramOverdue, ProgramProcess

RESULT_BYTES: Final = 256 * 1024
KEPT_BYTES: Final = 8 * 1024    # of a result; of a larger one the log keeps what the summary of metrics can use
DEPTH: Final = 20           # of nested metrics


def evaluate(launcher: ProgramLauncher, contract: Contract, evaluator: Program, recording: Recording, *,
             seed: int) -> Score:
    """One evaluator's word on one recording, from a fresh process.

    The score of a failed call is 0 with its fault. Raises ProgramOverdue, Aborted and LauncherBroken, which
    are not the evaluator's word.
    """
    limits = launcher.limits
    arrays = recording.arrays()
    process = launcher.launch(
        "evaluator", evaluator, seed=seed, cpu_s=limits.evaluator_cpu_s + limits.start_cpu_s,
        method=contract.methods[0][0],
        arrays=[[name, np.asarray(array).dtype.str, list(array.shape)] for name, array in arrays.items()],
        **{"class": contract.class_name},
    )
    try:
        process.send_arrays(arrays)
    except ProgramFailed as error:
        raise LauncherBroken(f"an evaluator process did not take its arrays: {error}") from error
    process.await_hardened()
    process.allow(cpu_s=limits.evaluator_cpu_s, wall_s=limits.evaluator_wall_s, what="the evaluator")
    try:
        score = _result(process)
    except MalformedFrame as error:
        score = failed_score(process.failure(FaultKind.INVALID_RESULT, str(error)).fault)
    except ProgramOverdue:
        raise
    except ProgramFailed as error:
        score = failed_score(error.fault)
    finally:
        process.end()
    return replace(score, cpu_s=round(process.cpu_s, 3))


def _result(process: ProgramProcess) -> Score:
    process.begin()
    kind, payload = process.receive(0, RESULT_BYTES)
    process.finish()
    if kind == CRASH:
        raise process.failure(FaultKind.CRASHED, *crash_of(payload))
    if kind == INVALID:
        raise process.failure(FaultKind.INVALID_RESULT, bytes(payload).decode(errors="replace"))
    if kind != RESULT:
        raise process.failure(FaultKind.INVALID_RESULT, f"it sent a frame of kind {kind} for a result")
    score = parse_result(bytes(payload))
    if isinstance(score, str):
        raise process.failure(FaultKind.INVALID_RESULT, score)
    return score


def parse_result(payload: bytes) -> Score | str:
    """A score from what an evaluator sent, or one sentence on what is wrong with it."""
    try:
        value = json.loads(payload)
    except (ValueError, RecursionError) as error:
        return f"its result is not JSON: {error}"
    if not isinstance(value, list) or len(value) != 2:
        return "its result is not a pair (fitness, metrics)"
    fitness, metrics = value
    if isinstance(fitness, bool) or not isinstance(fitness, int | float):
        return f"its fitness is a {type(fitness).__name__}, not a number"
    if not 0 <= fitness <= 1:       # false for NaN, too
        return f"its fitness {fitness!r} is not in [0, 1]"
    if not isinstance(metrics, dict):
        return f"its metrics are a {type(metrics).__name__}, not a dict"
    problem = _problem(metrics, "metrics", DEPTH)
    if problem:
        return problem
    kept = metrics if len(payload) <= KEPT_BYTES else bounded_metrics(metrics)
    return Score(fitness=float(fitness), metrics=kept)


def _problem(value: JSON, where: str, depth: int) -> str:
    """What is wrong with a JSON value: NaN, inf, or too deep a nest."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where[:200]} is {value}"
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return f"{where[:200]} is an integer of more than 64 bits"
    if not isinstance(value, dict | list):
        return ""
    if depth == 0:
        return f"{where[:200]} is nested too deeply"
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in items:
        problem = _problem(part, f"{where}[{name!r}]", depth - 1)
        if problem:
            return problem
    return ""


def failed_score(fault: Fault) -> Score:
    """The score of a call that failed."""
    return Score(fitness=0.0, fault=fault)


def examine(launcher: ProgramLauncher, contract: Contract, evaluator: Program, recording: Recording, *,
            seed: int) -> Score:
    """The evaluator's score of one episode of T_0, with a fault where it is not valid on it.

    Two calls must agree, and the second has another seed, so an evaluator that draws lots is found out.
    It must also answer on the episode cut short. Raises as `evaluate` does.
    """
    score = replace(evaluate(launcher, contract, evaluator, recording, seed=seed), cpu_s=0.0)
    if score.fault is not None:
        return score
    again = evaluate(launcher, contract, evaluator, recording, seed=derive_seed(seed, "again"))
    if again.fault is not None:
        return replace(score, fault=replace(again.fault, message=f"called again: {again.fault.message}"))
    if json.dumps([score.fitness, score.metrics]) != json.dumps([again.fitness, again.metrics]):
        message = f"two calls on the same episode disagree: fitness {score.fitness} and {again.fitness}"
        if score.fitness == again.fitness:
            message = "two calls on the same episode disagree in their metrics"
        return replace(score, fault=Fault(kind=FaultKind.INVALID_RESULT, message=message))
    for steps in cuts(recording.steps):
        short = evaluate(launcher, contract, evaluator, recording.cut(steps), seed=seed)
        if short.fault is not None:
            message = f"on the episode cut to {steps} steps: {short.fault.message}"
            return replace(score, fault=replace(short.fault, message=message))
    return score


def cuts(steps: int) -> tuple[int, ...]:
    """To how many steps an examination cuts an episode of `steps`: 0, 1 and half, as far as shorter."""
    return tuple(sorted({cut for cut in (0, 1, steps // 2) if cut < steps}))
