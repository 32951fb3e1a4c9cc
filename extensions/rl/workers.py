"""Environments in a few worker processes, each of which holds several: one message per process and step.

The library's own has one environment per process, so that sixteen environments are sixteen simulators to start.
"""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from itertools import chain
from multiprocessing.connection import Connection
from typing import Any, Final

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from ...core.errors import RolloutError

START_S: Final = 600.0      # imports and compilation, on a busy machine
ANSWER_S: Final = 120.0     # one step of all environments of a process, with new episodes
END_S: Final = 10.0

Make = Callable[[], gymnasium.Env[Any, Any]]


class Workers(VecEnv):
    """Environments 0, 1, … in order, an equal share in each process. Which process holds one changes no result.

    Raises RolloutError if a process ends or does not answer.
    """

    def __init__(self, make: Make, count: int, processes: int) -> None:
        context = multiprocessing.get_context("spawn")     # safe next to the threads of torch
        self._shares = [len(part) for part in np.array_split(np.arange(count), processes)]
        self._starts = [sum(self._shares[:k]) for k in range(processes)]
        self._pipes: list[Connection] = []
        self._processes = []
        for share in self._shares:
            near, far = context.Pipe()
            process = context.Process(target=_serve, args=(far, make, share), daemon=True)
            process.start()
            far.close()
            self._pipes.append(near)
            self._processes.append(process)
        spaces = [self._answer(pipe, START_S) for pipe in self._pipes]
        super().__init__(count, *spaces[0])

    def reset(self) -> Any:
        """Begin an episode in every environment; returns the observations, by key: (count, …)."""
        for start, share, pipe in zip(self._starts, self._shares, self._pipes, strict=True):
            self._send(pipe, "reset", self._seeds[start : start + share])
        found = [self._answer(pipe) for pipe in self._pipes]
        self.reset_infos = [info for _, infos in found for info in infos]
        self._reset_seeds()
        return _joined([observations for observations, _ in found])

    def step_async(self, actions: Any) -> None:
        """Send each process its actions."""
        for start, share, pipe in zip(self._starts, self._shares, self._pipes, strict=True):
            self._send(pipe, "step", actions[start : start + share])

    def step_wait(self) -> Any:
        """Observations, rewards, ends and infos of all environments."""
        found = [self._answer(pipe) for pipe in self._pipes]
        observations, rewards, ends, infos = zip(*found, strict=True)
        return _joined(observations), np.concatenate(rewards), np.concatenate(ends), [*chain.from_iterable(infos)]

    def close(self) -> None:
        """End the processes."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.join(END_S)
            if process.is_alive():
                process.kill()
                process.join()

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of the environments at these indices."""
        return self._each("call", indices, method_name, method_args, method_kwargs)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environments at these indices."""
        return self._each("get", indices, attr_name)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the environments at these indices."""
        self._each("set", indices, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """Whether the environments at these indices have this wrapper."""
        return self._each("wrapped", indices, wrapper_class)

    def _each(self, what: str, indices: Any, *content: Any) -> list[Any]:
        found = []
        for place in self._get_indices(indices):
            held_by = max(k for k, start in enumerate(self._starts) if start <= place)
            self._send(self._pipes[held_by], what, place - self._starts[held_by], *content)
            found.append(self._answer(self._pipes[held_by]))
        return found

    def _send(self, pipe: Connection, *message: Any) -> None:
        try:
            pipe.send(message)
        except OSError as error:
            raise RolloutError("a process of the training has ended; to continue: memento resume") from error

    def _answer(self, pipe: Connection, deadline_s: float = ANSWER_S) -> Any:
        try:
            if not pipe.poll(deadline_s):
                raise RolloutError(f"a process of the training has not answered for {deadline_s:.0f} s")
            return pipe.recv()
        except (EOFError, OSError) as error:
            raise RolloutError("a process of the training has ended; to continue: memento resume") from error


def _serve(pipe: Connection, make: Make, count: int) -> None:
    """Hold `count` environments until the other end of the pipe closes. Ctrl-C is for the trainer, which ends this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    environments = DummyVecEnv([make] * count)
    try:
        pipe.send((environments.observation_space, environments.action_space))
        while True:
            what, *content = pipe.recv()
            pipe.send(_done(environments, what, content))
    except (EOFError, BrokenPipeError):
        pass
    finally:
        environments.close()


def _done(environments: DummyVecEnv, what: str, content: Sequence[Any]) -> Any:
    match what:
        case "step":
            return environments.step(content[0])
        case "reset":
            environments._seeds = content[0]
            return environments.reset(), environments.reset_infos
        case "call":
            place, name, given, named = content
            return environments.env_method(name, *given, indices=place, **named)[0]
        case "get":
            return environments.get_attr(content[1], indices=content[0])[0]
        case "set":
            return environments.set_attr(content[1], content[2], indices=content[0])
        case _:
            return environments.env_is_wrapped(content[1], indices=content[0])[0]


def _joined(observations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {key: np.concatenate([each[key] for each in observations]) for key in observations[0]}
