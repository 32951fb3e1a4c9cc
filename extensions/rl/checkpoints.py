"""Checkpoints of a training: networks, optimisers, replay buffer, random generators and counters, in one folder.

A checkpoint is made under another name, flushed to the disk, and renamed: after a kill there is the old one or the new
one. The replay buffer is kept as plain arrays, and only the part of it that is filled.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ...core.errors import StoreError, os_problem
from ...core.files import require_regular

PREFIX: Final = "checkpoint-"
PARTIAL: Final = ".partial"
NETWORKS: Final = "networks.pt"
BUFFER: Final = "buffer.npz"
STATE: Final = "state.json"
_FLAT: Final = ("actions", "rewards", "dones", "timeouts", "ep_start", "ep_length")
_NESTED: Final = ("observations", "next_observations")
_CURRENT: Final = "_current_ep_start"
_GENERATOR: Final = "numpy_random"
_PARAMETERS: Final = "parameters"       # networks and optimisers
_ENTROPY: Final = "log_ent_coef"        # which the library keeps apart from the networks

Arrays = dict[str, NDArray[Any]]


def latest(folder: Path) -> Path | None:
    """The newest complete checkpoint of a run; None if there is none."""
    found = [path for path in folder.glob(f"{PREFIX}*") if re.fullmatch(rf"{PREFIX}\d+", path.name)]
    return max(found, key=steps_of, default=None)


def steps_of(checkpoint: Path) -> int:
    """The steps after which a checkpoint was made."""
    return int(checkpoint.name.removeprefix(PREFIX))


def save(folder: Path, model: Any, state: Mapping[str, Any]) -> Path:
    """Make a checkpoint of the library's `model` with our counters, and remove older ones. Raises StoreError."""
    import torch

    made = folder / f"{PREFIX}{model.num_timesteps}"
    partial = made.with_name(f".{made.name}{PARTIAL}")
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        torch.save({_PARAMETERS: model.get_parameters(), _ENTROPY: model.log_ent_coef.detach()}, partial / NETWORKS)
        with (partial / BUFFER).open("wb") as file:
            np.savez(file, **contents(model.replay_buffer), **_generators())
        (partial / STATE).write_text(json.dumps(dict(state), allow_nan=False))
        for path in partial.iterdir():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        if made.exists():       # the same steps again, after a measure that failed
            shutil.rmtree(made)
        partial.replace(made)
        for old in folder.glob(f"*{PREFIX}*"):
            if old != made:
                shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"the checkpoint {made} cannot be written: {os_problem(error)}") from error
    return made


def load(checkpoint: Path, model: Any) -> dict[str, Any]:
    """Set a new model and the generators to a checkpoint; returns our counters. Raises StoreError.

    The file of the networks may hold nothing but tensors and plain values, so it cannot run code.
    """
    import torch

    try:
        for name in (NETWORKS, BUFFER, STATE):
            require_regular(checkpoint / name)
        networks = torch.load(checkpoint / NETWORKS, map_location="cpu", weights_only=True)
        model.set_parameters(networks[_PARAMETERS], exact_match=True, device="cpu")
        model.log_ent_coef.data.copy_(networks[_ENTROPY])
        with np.load(checkpoint / BUFFER, allow_pickle=False) as found:
            arrays = dict(found)
        state: dict[str, Any] = json.loads((checkpoint / STATE).read_text())
        fill(model.replay_buffer, arrays)
        _set_generators(arrays)
    except (OSError, EOFError, ValueError, KeyError, RuntimeError, UnpicklingError, BadZipFile) as error:
        raise StoreError(f"the checkpoint {checkpoint} cannot be read: {error}") from error
    return state


def contents(buffer: Any) -> Arrays:
    """The filled part of a replay buffer as arrays."""
    rows = buffer.buffer_size if buffer.full else buffer.pos
    found = {name: array[:rows] for name, array in _arrays(buffer)}
    return {**found, _CURRENT: buffer._current_ep_start, "pos": np.array(buffer.pos), "full": np.array(buffer.full)}


def fill(buffer: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Put the content of a checkpoint into an empty buffer of the same size. Raises ValueError if it does not fit.

    An episode that was under way is left as it is: it was not complete, so it is never sampled, and the next episode
    begins after it.
    """
    for name, array in _arrays(buffer):
        array[: len(arrays[name])] = arrays[name]
    buffer.pos, buffer.full = int(arrays["pos"]), bool(arrays["full"])
    buffer._current_ep_start = np.full_like(arrays[_CURRENT], buffer.pos)


def _arrays(buffer: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    for name in _FLAT:
        yield name, getattr(buffer, name)
    for group in _NESTED:
        for key, array in getattr(buffer, group).items():
            yield f"{group}/{key}", array


def _generators() -> Arrays:
    """The states of the two generators that the library uses."""
    import torch

    _, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    return {
        _GENERATOR: np.asarray(keys), f"{_GENERATOR}_place": np.array([position, has_gauss], dtype=np.int64),
        f"{_GENERATOR}_gauss": np.array(gauss), "torch_random": torch.get_rng_state().numpy(),
    }


def _set_generators(arrays: Mapping[str, NDArray[Any]]) -> None:
    import torch

    position, has_gauss = (int(each) for each in arrays[f"{_GENERATOR}_place"])
    np.random.set_state(("MT19937", arrays[_GENERATOR], position, has_gauss, float(arrays[f"{_GENERATOR}_gauss"])))
    torch.set_rng_state(torch.from_numpy(arrays["torch_random"].copy()))
