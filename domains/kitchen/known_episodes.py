"""Episodes of known order of merit for probes: the planner's way through the task, given up after each of its stages.

The planner knows the kitchen, so the episodes show what a policy will do once it succeeds, while p_0 still fails.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ...core.ports import KnownEpisode
from ...core.values import JSON
from . import procedural, recorded
from .backends import environment
from .embedded.planner import Step, plan
from .options import settings
from .scene import Kitchen

HELD, PLACED, ON, BREAD, DONE = (
    "Apple picked up and held", "Apple in the Microwave", "Apple in the Microwave, switched on",
    "Apple in the Microwave, switched on, Bread held", "all done",
)
STAGES: Final = (
    (HELD, "pickup_object"), (PLACED, "put_object"), (ON, "toggle_on"), (BREAD, "pickup_object"), (DONE, "put_object"),
)
"""The stages in their order, each with the action that completes it."""
UNDONE: Final = "Apple put into the Microwave and taken out again"
OFF: Final = "Microwave switched on and off again"
GIVE_UP: Final[Step] = ("done", None)


def known_episodes(options: Mapping[str, JSON], *, seed: int) -> Iterator[KnownEpisode]:
    """The stages in the first kitchen of these (completed) options, the last first; none in an unknown kitchen."""
    kitchen = _known_kitchen(options)
    steps = None if kitchen is None else plan(kitchen)
    if steps is None:
        return
    ends = _ends(steps)
    names = [name for name, _ in STAGES]
    for place, (name, end) in enumerate(zip(names, ends, strict=True)):
        yield from _episode_of(options, steps[:end], name, seed=seed, below=names[place + 1 : place + 2])
    taken, switched = (steps[ends[names.index(each)] - 1] for each in (HELD, ON))
    yield from _episode_of(options, [*steps[: ends[names.index(PLACED)]], taken], UNDONE, seed=seed, below=[PLACED])
    again: Step = ("toggle_off", switched[1])
    yield from _episode_of(options, [*steps[: ends[names.index(ON)]], again], OFF, seed=seed, below=[ON])


def _known_kitchen(options: Mapping[str, JSON]) -> Kitchen | None:
    chosen = settings(options)
    if chosen.backend == "unity":
        return None
    load = procedural.load
    if chosen.backend == "recorded":
        assert chosen.recordings is not None
        load = partial(recorded.load, chosen.recordings)
    return replace(load(chosen.scenes[0]), solid_walls=chosen.solid_walls)


def _ends(steps: Sequence[Step]) -> list[int]:
    """The number of steps after which each stage is done."""
    ends: list[int] = []
    for _, action in STAGES:
        start = ends[-1] if ends else 0
        ends.append(next(place for place in range(start, len(steps)) if steps[place][0] == action) + 1)
    return ends


def _episode_of(
    options: Mapping[str, JSON], steps: Sequence[Step], name: str, *, seed: int, below: Sequence[str]
) -> Iterator[KnownEpisode]:
    """An episode of these steps that gives up after them; none if it ends before, such as by the horizon."""
    made = environment(settings(options))
    made.reset(index=0, seed=seed)
    ended = None
    for step in [*steps, GIVE_UP]:
        if ended is not None:
            break
        ended = made.step([*step])
    if ended in ("success", "done"):
        yield KnownEpisode(
            name=name, recording=made.recording(), ended_by=ended, success=made.success(), below=tuple(below)
        )
    made.close()
