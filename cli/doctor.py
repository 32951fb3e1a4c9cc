"""What this machine can do, in plain words."""

import os
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import typer

from .. import __version__
from ..runtime import sandbox
from ..runtime.models.spec import KEY_VARIABLES
from ..settings import usable_cpus

SIMULATORS = ("robosuite", "mujoco", "ai2thor", "numba", "numpy")


def examine() -> None:
    """`memento doctor`. Says whether a key is there, never what it is."""
    for topic, words in _findings():
        typer.echo(f"{topic:<12} {words}")


def _findings() -> Iterator[tuple[str, str]]:
    yield "memento", f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    yield "processors", f"{usable_cpus()} usable: rollouts at once unless --workers says otherwise"
    layers = sandbox.layers()
    for name, layer in layers.items():
        yield "isolation", f"{name}: {'yes' if layer.live else 'NO'}, {layer.found}"
    if not all(layer.live for layer in layers.values()):
        yield "", "where layers are missing, --require-sandbox refuses to run"
    for name in SIMULATORS:
        yield name, _version(name)
    for variable in sorted(set(KEY_VARIABLES.values())):
        yield "key", f"{variable} is {'set' if os.environ.get(variable, '').strip() else 'not set'}"
    yield "terminal", f"{'yes' if sys.stderr.isatty() else 'no'}, {os.environ.get('TERM', 'TERM is not set')}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
