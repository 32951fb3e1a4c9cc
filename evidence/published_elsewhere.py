"""Values that others have published for tasks outside the paper, and what differs from a run here. Pure.

A published value stands next to ours with the differences in words, since neither the episodes nor the models are the
same: it is a yardstick, not a comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.text import one_line
from ..core.values import JSON
from .records import RunRecord

HORIZONS = ("max_episode_steps", "horizon")  # the options that hold the most steps of an episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Yardstick:
    """Published values of some tasks. `columns` are whose values, `values` those of each domain in their order.

    `episodes` is the budget of the published searches. `total` are values over all the tasks, by whose they are.
    """

    title: str
    columns: tuple[str, ...] = ()
    values: Mapping[str, tuple[float, ...]]
    total: Mapping[str, str]
    quantity: str
    episodes: int | None
    differs: str


_CORE16 = Yardstick(
    title="Core16 (EvoPolicyGym, arXiv 2607.02440)",
    columns=("GPT-5.5", "Claude Opus 4.7", "MiniMax-M3", "DeepSeek-V4-Pro", "their baseline"),
    values={
        "gym:Acrobot-v1": (-84.69, -88.59, -136.41, -91.16, -499.16),
        "gym:MountainCarContinuous-v0": (95.22, 98.77, 91.88, 94.48, -33.36),
        "gym:BipedalWalker-v3": (248.87, -15.84, -80.87, -97.48, -100.98),
        "gym:CarRacing-v3": (604.14, 602.34, 233.43, 25.20, -29.63),
        "gym:Reacher-v5": (-3.47, -3.98, -5.10, -6.51, -43.77),
        "gym:HalfCheetah-v5": (601.83, 452.02, 606.15, -0.47, -291.84),
        "gym:Ant-v5": (989.58, 990.15, 983.43, 897.99, -34.60),
        "gym:Pusher-v5": (-37.11, -38.52, -39.25, -54.18, -147.46),
        "gym:MiniGrid-DoorKey-8x8-v0": (0.99, 0.98, 0.0, 0.0, 0.0),
        "gym:MiniGrid-KeyCorridorS3R3-v0": (0.92, 0.93, 0.0, 0.0, 0.0),
        "gym:MiniGrid-FourRooms-v0": (0.66, 0.70, 0.40, 0.08, 0.04),
        "gym:MiniGrid-ObstructedMaze-1Dl-v0": (0.90, 0.91, 0.0, 0.0, 0.0),
        "gym:parking-v0": (-30.24, -38.18, -32.71, -53.38, -47.45),
        "gym:roundabout-v0": (9.82, 9.33, 9.52, 10.20, 7.19),
        "gym:FetchPush-v4": (-18.16, -19.69, -25.88, -27.66, -46.03),
        "gym:FetchPickAndPlace-v4": (-11.81, -13.34, -13.22, -20.56, -43.75),
    },
    total={},
    quantity="return",
    episodes=128,
    differs="Published (August 2026): a coding agent with 128 episodes of each task writes a program, which is "
    "measured on 64 hidden episodes (32 for some tasks). Here: our prompts or offline parts, our seeds, and the "
    "tasks' present versions. The sizes of the MiniGrid tasks are our choice.",
)
_ROBOSUITE = Yardstick(
    title="Seven tasks of robosuite, state tier (CaP-Bench; RHO, arXiv 2606.16458)",
    values={
        f"robosuite:{name}": ()
        for name in ("Lift", "Stack", "Restack", "NutAssemblySquare", "Wipe", "TwoArmLift", "TwoArmHandover")
    },
    total={
        "RHO, no model call at run time": "490 of 700 (0.70)",
        "the same coding agent without its search": "210 of 700 (0.30)",
        "CaP-Agent0, up to 66 calls per trial": "0.68",
    },
    quantity="success",
    episodes=None,
    differs="Published programs call primitives of perception and motion, and are measured on 100 trials of each task. "
    "Here programs read the simulator's state and command the controller at 20 Hz. It is not the same benchmark.",
)
YARDSTICKS = (_CORE16, _ROBOSUITE)


def task_differences(record: RunRecord, yardstick: Yardstick) -> str:
    """How this run's task and budget differ from the published ones, in words; "" if they do not."""
    kwargs = _options(record).get("kwargs")
    words = [one_line(f"kwargs = {kwargs}", 120)] if kwargs else []
    budget = record.settings.get("budget_episodes")
    if yardstick.episodes is not None and budget != yardstick.episodes:
        words.append("no budget of episodes" if budget is None else f"{budget} episodes")
    return "; ".join(words)


def horizon(record: RunRecord) -> JSON:
    """The most steps of an episode of this run; None if its options do not say."""
    options = _options(record)
    return next((options[key] for key in HORIZONS if key in options), None)


def _options(record: RunRecord) -> Mapping[str, JSON]:
    options = record.settings.get("options")
    return options if isinstance(options, Mapping) else {}
