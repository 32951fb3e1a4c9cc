"""The interface of a back end: it loads one kitchen at a time, executes actions and returns observations."""

from typing import Final, Protocol

from .observation import Fragment

EXTRA_TARGET: Final = 5     # code in recordings for an object that is not one of the task's


class Simulator(Protocol):
    """A back end. Actions return an error message in AI2-THOR's words, empty for success."""

    target_ids: tuple[str, ...]     # Apple, Bread, Microwave and Fridge of the current kitchen

    def begin(self, scene: str, *, seed: int | None) -> None:
        """Load the start state of `scene`, with the agent at the scene's start or at a pose drawn from a seed."""

    def moment(self) -> Fragment:
        """The observation of the current state."""

    def move(self, name: str) -> str:
        """Do a move."""

    def act(self, name: str, object_id: str) -> str:
        """Do an object action."""

    def knows(self, object_id: str) -> bool:
        """Whether the current kitchen has this object."""

    def close(self) -> None:
        """Release the back end's resources."""


def target_code(simulator: Simulator, object_id: str | None) -> int:
    """1 to 4 for the task's objects, 5 for another object of the kitchen, 0 for none."""
    if object_id is None or not simulator.knows(object_id):
        return 0
    ids = simulator.target_ids
    return ids.index(object_id) + 1 if object_id in ids else EXTRA_TARGET


