"""The short name of `domains/envs/` in `gymnasium.make("memento.envs:memento/Hanoi-v0")`, which imports it."""

from .domains.envs import IDS

__all__ = ["IDS"]
