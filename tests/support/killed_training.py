"""A training in a separate process that is killed at a chosen place. Importing it imports torch."""

import os
import signal
import sys
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from memento.extensions.rl.checkpoints import PREFIX
from memento.extensions.rl.log import BaselineLog
from memento.extensions.rl.settings import BaselineArguments, BaselineSettings, build
from memento.extensions.rl.training import train

IMPORTED = "memento.tests.support.killed_training"      # this module for a new process, whatever the checkout's name is
OPTIONS = (
    "hanoi-kinematic.horizon=20", "sac.random_steps=60", "sac.batch=16", "sac.hidden=[16]", "sac.buffer=4000",
    "sac.learning_rate=0.01",
)


def small(**changed: Any) -> BaselineSettings:
    """A training of seconds."""
    return build(BaselineArguments(**{
        "domain": "hanoi-kinematic", "steps": 1200, "seed": 3, "salt": "none", "flags": {}, "environments": 2,
        "checkpoint": 100, "assignments": OPTIONS, "evaluate_every": 0, **changed,
    }))


def begin(folder: Path, settings: BaselineSettings) -> None:
    """The log of a new run."""
    folder.mkdir()
    BaselineLog(folder).add("started", {"settings": settings.as_json(), "versions": {}})


def trained(folder: Path, settings: BaselineSettings, *, step: int = 0, access: int = 0) -> int | None:
    """Train in a new process from where the run is; its exit code, None if it has not ended in two minutes.

    It kills itself at this step, or before this access to the files of a checkpoint.
    """
    context = get_context("forkserver")     # torch is imported once, not once for every process
    context.set_forkserver_preload([IMPORTED])
    process = context.Process(target=import_module(IMPORTED)._work, args=(folder, settings, step, access))
    process.start()
    process.join(120)
    code = process.exitcode
    if code is None:
        process.kill()
        process.join()
    process.close()
    return code


def _work(folder: Path, settings: BaselineSettings, step: int, access: int) -> None:
    steps, accesses = 0, 0

    def stopped() -> bool:
        nonlocal steps
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)
        return False

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal accesses
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir") and PREFIX in str(arguments[0]):
            accesses += 1
            if accesses == access:
                os.kill(os.getpid(), signal.SIGKILL)

    if access:
        sys.addaudithook(watch)
    train(settings, folder, report=lambda progress: None, stopped=stopped)
