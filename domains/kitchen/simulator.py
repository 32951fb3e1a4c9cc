"""What the environment asks of a back end: one kitchen at a time, begun at a pose, acted in, looked at."""

from typing import Final, Protocol

from .observation import Fragment

EXTRA_TARGET: Final = 5     # how recordings tell an object that is none of the task's


class Simulator(Protocol):
    """A back end. Actions return an error message in AI2-THOR's words, empty for success."""

    target_ids: tuple[str, ...]     # Apple, Bread, Microwave and Fridge of the present kitchen

    def begin(self, scene: str, *, seed: int | None) -> None:
        """Everything as at the start of `scene`; the agent at the scene's own start, or a pose drawn from a seed."""

    def moment(self) -> Fragment:
        """What there is to say of the present."""

    def move(self, name: str) -> str:
        """One of the moves."""

    def act(self, name: str, object_id: str) -> str:
        """One of the object actions."""

    def knows(self, object_id: str) -> bool:
        """Whether there is such an object in the present kitchen."""

    def close(self) -> None:
        """Let go of it."""


def target_code(simulator: Simulator, object_id: str | None) -> int:
    """1 to 4 for the task's objects, 5 for another object of the kitchen, 0 for none."""
    if object_id is None or not simulator.knows(object_id):
        return 0
    ids = simulator.target_ids
    return ids.index(object_id) + 1 if object_id in ids else EXTRA_TARGET


