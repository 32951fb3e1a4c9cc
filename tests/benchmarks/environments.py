"""Environments of other packages, each under a Python of its own: brief, returns, picture and speed beside a bare loop.

    python -m memento.tests.benchmarks.environments VENVS [NAME ...]

VENVS is a folder of virtual environments, one for each row's first word, with what its second word installs.
A policy that needs no knowledge plays the same episodes in MEMENTO's workers and in a bare Gymnasium loop under the
same Python; returns must be equal to the last digit. The bare loop runs before and after, and the speed of the workers
is divided by that of the faster one: whole episodes with their resets, and in the workers with the start of the
policy's process and the recording, all but the first. "main" is the Python that runs this. Prints a Markdown table.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from memento.core.errors import UsageError
from memento.core.ports import RollTask
from memento.core.provenance import GIVEN
from memento.core.values import JSON, Program
from memento.core.variables import common_kernels
from memento.domains import import_string, load
from memento.domains.gym.brief import element_names
from memento.domains.gym.names import parse_id, suite_of
from memento.domains.gym.options import settings
from memento.runtime.rollouts.pool import ProcessPool

from .bare_loop import POLICY

BARE: Final = Path(__file__).with_name("bare_loop.py")
EPISODES: Final = 3
ROWS: Final = Path(__file__).with_suffix(".tsv")    # venv, what is installed, environment, keyword arguments


def row(python: Path | None, install: str, name: str, kwargs: Mapping[str, JSON]) -> list[str]:
    """The cells of one environment; what refuses it stands in place of its brief."""
    domain = load(name, GIVEN)
    own: dict[str, JSON] = {} if python is None else {"python": str(python)}
    given = {**own, **{f"kwargs.{key}": value for key, value in kwargs.items()}}
    try:
        options = domain.options(given, preset="quick")
    except UsageError as error:
        return [install, f"`{name}`", f"refused: {error}"]
    known, brief = settings(options).description, domain.brief(options)
    names = element_names(settings(options))
    numbers = sum(leaf.size for leaf in known.observation)
    named = sum(min(leaf.size, max(len(names.get(leaf.name, ())), leaf.size == 1, sum(
        size for part, size in known.parts.get(leaf.name, ()) if not part.startswith("not found"))))
        for leaf in known.observation)
    bounds = [(low, high, leaf.whole) for leaf in known.action for low, high in zip(
        leaf.low * (leaf.size // len(leaf.low)), leaf.high * (leaf.size // len(leaf.high)), strict=True)]
    lists = zip(("LOW", "HIGH", "WHOLE"), map(list, zip(*bounds, strict=True)), strict=True)
    policy = "".join(f"{key} = {value!r}\n" for key, value in lists).replace("inf", "1.0") + POLICY
    identity, suite = parse_id(known.id), suite_of(parse_id(known.id))
    asked = json.dumps({
        "policy": policy, "module": identity.module or (suite.package if suite else identity.namespace_module),
        "id": identity.id, "kwargs": {**known.kwargs}, "mode": known.mode, "horizon": known.horizon,
        "episodes": EPISODES})

    def bare() -> Any:
        done = subprocess.run([python or sys.executable, BARE, asked], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True, timeout=900,
                              env={**os.environ, **common_kernels()})     # as workers: others differ in the last digits
        return json.loads(done.stdout)

    first = bare()
    played, speed = asyncio.run(rolled(name, options, python, Program(policy)))
    fastest = max(first[1], bare()[1])
    return [install, f"`{name}`", f"{len(brief.task) + len(brief.policy_interface)}",
            f"{named} of {numbers}", known.success_key or "none",
            "equal" if played == first[0] else f"**{played} {first[0]}**", picture(name, given, policy),
            f"{fastest:.0f}", f"{speed / fastest:.2f}"]


async def rolled(
    name: str, options: Mapping[str, JSON], python: Path | None, policy: Program
) -> tuple[list[list[float]], float]:
    """Return and length of each episode in a worker, and steps per second of all but the first."""
    with tempfile.TemporaryDirectory() as folder:
        async with ProcessPool(domain=import_string(name), splits={"search": options}, workers=1,
                               trajectories=Path(folder), python=None if python is None else str(python)) as pool:
            found = [await pool.roll(RollTask(order=str(seed), program=policy, split="search", index=0, seed=seed))
                     for seed in range(1, EPISODES + 1)]
    faults = [each.fault for each in found if each.fault is not None]
    speed = sum(each.steps for each in found[1:]) / sum(each.wall_s for each in found[1:])
    return [[faults[0].message] if faults else [each.info["return"], each.steps] for each in found], speed


def picture(name: str, given: Mapping[str, JSON], policy: str) -> str:
    """Whether `memento render` draws the third step; else its last words."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "policy.py").write_text(policy)
        command = [sys.executable, "-m", "memento", "render", "policy.py", "--domain", name, "--seed", "0", "--at", "3",
                   "--out", "picture.png", "--trust",
                   *(word for key, value in given.items() for word in ("--set", f"gym.{key}={json.dumps(value)}"))]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=900, check=False,
                              env={**os.environ, "MUJOCO_GL": "egl", "PYTHONWARNINGS": "ignore"})
        drawn = Path(folder, "picture.png")
        return f"yes, {drawn.stat().st_size // 1000} kB" if drawn.exists() else done.stderr.strip().splitlines()[-1]


def main() -> None:
    """Print the rows."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("venvs", type=Path)
    arguments.add_argument("names", nargs="*", help="parts of environments' names; by default all")
    given = arguments.parse_args()
    for line in ROWS.read_text().splitlines():
        venv, install, name, kwargs = line.split("\t")
        if not given.names or any(each in name for each in given.names):
            try:
                python = None if venv == "main" else given.venvs / venv / "bin" / "python"
                cells = row(python, install, f"gym:{name}", json.loads(kwargs))
            except (subprocess.SubprocessError, ValueError) as error:
                cells = [install, f"`gym:{name}`", f"failed: {error!s:.300}"]
            print("|", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
