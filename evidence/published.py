"""Published values to compare with: the paper's and others', their settings, and how a run differs from them. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from ..baselines.log import PAPER_STEPS
from ..baselines.settings import Hyperparameters
from ..core.methods import METHODS
from ..core.text import one_line
from ..core.values import JSON, Program
from ..settings import fits, group_of, preset_named, recorded_settings
from .experiment import Measure
from .learned import BaselineRow
from .records import RunRecord

Value = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperColumn:
    """A column of a table of the paper. The final measure `measure` corresponds to it, if it has these options."""

    title: str
    domain: str
    measure: str
    options: Mapping[str, JSON] = field(default_factory=dict)


HANOI, KITCHEN = "hanoi", "kitchen"
DOMAIN_TITLES = {HANOI: "Robosuite Franka Tower of Hanoi", KITCHEN: "AI2-THOR household interaction"}

LEAST_EPISODES = 10  # of a final measure; the paper gives the number of episodes in the search only

GENERALISATION_COLUMNS = (
    PaperColumn(title="Cube", domain=HANOI, measure="Cube"),
    PaperColumn(title="Asym.", domain=HANOI, measure="Asym.", options={"variant": "asymmetric"}),
    PaperColumn(title="Cyl.", domain=HANOI, measure="Cyl.", options={"variant": "cylinder"}),
    PaperColumn(title="Search scenes", domain=KITCHEN, measure="Search scenes"),
    PaperColumn(title="Held-out scenes", domain=KITCHEN, measure="Held-out scenes", options={"scenes": ["held-out"]}),
)
# Table "Final success rate on original and held-out generalization domains".
GENERALISATION: Mapping[str, tuple[Value | None, ...]] = {
    "Eureka": ((0.00, 0.00), (0.00, 0.00), (0.00, 0.00), (0.00, 0.00), (0.00, 0.00)),
    "REvolve": ((0.53, 0.12), (0.23, 0.15), (0.00, 0.00), (0.40, 0.10), (0.08, 0.04)),
    "MEMENTO": ((0.97, 0.06), (0.87, 0.23), (0.63, 0.17), (1.00, 0.00), (0.78, 0.08)),
    "SAC+HER sparse": ((0.00, 0.00), None, None, None, None),
    "SAC+HER dense": ((0.00, 0.00), None, None, None, None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalValues:
    """F and S of the best policy at the last generation, on the search's own episodes."""

    fitness: Value | None
    success: Value


# Sections "Main Evolution Results" and "Ablations". Eureka's fitness in the kitchen is not given.
FINAL: Mapping[str, Mapping[str, FinalValues]] = {
    HANOI: {
        "Eureka": FinalValues(fitness=(0.45, 0.04), success=(0.0, 0.0)),
        "REvolve": FinalValues(fitness=(0.72, 0.08), success=(0.53, 0.12)),
        "MEMENTO": FinalValues(fitness=(0.99, 0.02), success=(0.97, 0.06)),
        "Zero-shot": FinalValues(fitness=(0.37, 0.12), success=(0.0, 0.0)),
        "Unevolved evaluator": FinalValues(fitness=(0.42, 0.05), success=(0.0, 0.0)),
        "Hill-only": FinalValues(fitness=(0.50, 0.04), success=(0.0, 0.0)),
        "Without-Crossover": FinalValues(fitness=(0.55, 0.02), success=(0.0, 0.0)),
    },
    KITCHEN: {
        "Eureka": FinalValues(fitness=None, success=(0.0, 0.0)),
        "REvolve": FinalValues(fitness=(0.67, 0.05), success=(0.40, 0.10)),
        "MEMENTO": FinalValues(fitness=(0.98, 0.00), success=(1.00, 0.00)),
        "Zero-shot": FinalValues(fitness=(0.22, 0.10), success=(0.0, 0.0)),
        "Unevolved evaluator": FinalValues(fitness=(0.33, 0.05), success=(0.0, 0.0)),
        "Hill-only": FinalValues(fitness=(0.46, 0.04), success=(0.0, 0.0)),
        "Without-Crossover": FinalValues(fitness=(0.51, 0.04), success=(0.0, 0.0)),
    },
}

# F and S of the selected candidates: three methods × three seeds × six generations.
CORRELATED = ("MEMENTO", "REvolve", "Eureka")
CORRELATION: Mapping[str, tuple[float, float, int]] = {HANOI: (0.922, 0.755, 54), KITCHEN: (0.871, 0.801, 54)}

# Section "Ablations", search-scene diversity: over FloorPlan1–29.
ALL_KITCHENS = PaperColumn(
    title="All 29 kitchens", domain=KITCHEN, measure="All 29 kitchens", options={"scenes": ["training", "held-out"]},
)
ONE_KITCHEN = (0.09, 0.02)

_EARLIER = {"eureka"}  # the paper describes the variant with an elite; if both were run, that one counts


def paper_name(record: RunRecord) -> str | None:
    """The paper's name for the method of this run; None for a method that is not in the paper."""
    if record.settings.get("evaluator") == "zero-shot":
        return "Unevolved evaluator" if record.method == "memento" else None
    method = METHODS.get(record.method)
    return method.published if method is not None else None


def chosen_arms(records: "tuple[RunRecord, ...]") -> dict[str, str]:
    """The arm for each of the paper's methods, by its published name; of several arms, the paper's own variant."""
    found: dict[str, str] = {}
    for record in sorted(records, key=lambda record: record.method in _EARLIER):
        name = paper_name(record)
        if name is not None:
            found.setdefault(name, record.arm)
    return found


# The setting of the paper's published values, and how a run differs from it. Pure.
#
# A measured value may stand next to a published one only where nothing differs. The paper states the task in its
# appendices on the two environments, and the budget in its section on experiments. A setting that the paper does not
# know is as if it did not exist.


# The options of the domains, by their names here.
TASKS: Mapping[str, Mapping[str, JSON]] = {
    HANOI: {
        "n_cubes": 4, "variant": "cube", "randomisation": "table", "horizon": 12_000, "rules": "paper",
        "physics": "exact", "idle_stop_s": 0.0,
    },
    KITCHEN: {
        "backend": "unity", "scenes": ["FloorPlan1", "FloorPlan2", "FloorPlan3"], "horizon": 250, "rules": "paper",
        "targets.reveal_unseen": True,
    },
}
PAPER: Mapping[str, JSON] = recorded_settings({"domain": HANOI, **preset_named("paper")}).as_json()
"""The settings of the paper's search: its budget, and nothing that runs lacked before there was a setting for it."""
FREE = frozenset({
    "domain", "options", "final_episodes", "robust",   # compared as a task (`TASKS`), as a measure (`same_measure`)
    "method", "model", "preset", "seed", "salt",    # a row, a table, where the values come from, and the chance
    "tune_episodes", "tune_generations",    # of no use without slots for tuning, which are compared
    "budget", "budget_calls", "budget_tokens", "budget_usd", "budget_wall_s",   # a run that one ends does not count
    "workers", "calls_at_once", "prices", "replay", "replay_loosely", "require_sandbox", "keep_trajectories",
    "trajectories_limit_mb", "racing", "duplicates", "speculation", "roll_ahead",   # change no result
})
"""The settings in which a run may differ from the paper's, and still stand beside it."""
SHARED_FILES: Mapping[str, tuple[JSON, ...]] = {"initial": (None,), "evaluator": ("evolve", "zero-shot")}
"""Settings that hold a file in a comparison, whose runs share p_0 and E*; and their values where a model writes it."""
ONE_KITCHEN_DIFFERS = ("scenes = FloorPlan1",)     # what differs in the paper's search in one kitchen


def differences(record: RunRecord, among: Iterable[RunRecord] = ()) -> tuple[str, ...]:
    """What differs from the paper's setting, such as "randomisation = light"; () if nothing does.

    `among` are the runs of the same report. A run that was given p_0 or E* as a file is in the paper's setting if one
    of them, which does not differ in more, had it written by the same model.
    """
    own = _own_differences(record)
    if record.method not in METHODS or record.domain not in TASKS:
        return own
    others = tuple(among)
    return (*own, *(
        _words(key, str(record.settings[key]).rpartition("/")[2]) for key in SHARED_FILES
        if key in record.settings and not _is_written(key, record)
        and not any(_wrote(other, key, record) for other in others)
    ))


def _own_differences(record: RunRecord) -> tuple[str, ...]:
    """What differs, apart from the files that a run was given."""
    wanted = TASKS.get(record.domain)
    if wanted is None:
        return (f"the domain {one_line(record.domain, 60)} is not in the paper",)
    options = record.settings.get("options")
    found = options if isinstance(options, Mapping) else {}
    different = [_words(key, found.get(key)) for key, value in wanted.items() if found.get(key) != value]
    if record.method not in METHODS:
        return tuple(different)
    if record.hints:
        different.append(_words("hints", record.hints))
    evaluator = str(record.settings.get("evaluator", PAPER["evaluator"]))
    settings = {**PAPER, **record.settings}
    return (*different, *(
        _words(key, settings[key]) for key, value in PAPER.items()
        if key not in FREE and key not in SHARED_FILES and settings[key] != value
        and fits(key, record.method, evaluator) and group_of(key).switched_off(key, settings) is None
    ))


def _is_written(key: str, record: RunRecord) -> bool:
    """Whether the run's own model wrote this program."""
    return record.settings.get(key, PAPER[key]) in SHARED_FILES[key]


def _wrote(other: RunRecord, key: str, record: RunRecord) -> bool:
    """Whether `other` is a run whose model wrote this program, and that differs from the paper in no more settings."""
    program: Program | None = getattr(record, key)
    return (
        program is not None and getattr(other, key) == program and _is_written(key, other)
        and (other.domain, other.model) == (record.domain, record.model)
        and _names(_own_differences(other)) <= _names(_own_differences(record))
    )


def _names(words: Iterable[str]) -> set[str]:
    return {each.partition(" = ")[0] for each in words}


LEARNED = {"sparse": "SAC+HER sparse", "dense": "SAC+HER dense"}      # the paper's names of trainings, by their reward
TRAINED: Mapping[str, JSON] = {
    "steps": PAPER_STEPS, "environments": 1,
    "hyper": {**asdict(Hyperparameters()), "hidden": [*Hyperparameters().hidden]},
}


def training_differences(row: BaselineRow) -> tuple[str, ...]:
    """What differs in a training or its measure from the paper's SAC with hindsight; () if nothing does."""
    if row.settings.get("domain") != HANOI or row.reward not in LEARNED:
        return (f"the task {one_line(row.task, 60)} is not the paper's",)
    wanted = {**TASKS[HANOI], "randomisation": "none"}
    different = [_words(key, row.settings.get(key)) for key, value in TRAINED.items() if row.settings.get(key) != value]
    for part in ("training", "options"):
        found = row.settings.get(part)
        options = found if isinstance(found, Mapping) else {}
        different += [_words(key, options.get(key)) for key, value in wanted.items() if options.get(key) != value]
    if not row.done or row.steps < PAPER_STEPS:
        different.append(row.status)
    if row.episodes < LEAST_EPISODES:
        different.append(f"{row.episodes} episodes")
    return tuple(dict.fromkeys(different))


def searched_one_kitchen(record: RunRecord, among: Iterable[RunRecord] = ()) -> bool:
    """Whether this is the paper's search in a single kitchen; `among` as in `differences`."""
    return record.method == "memento" and differences(record, among) == ONE_KITCHEN_DIFFERS


def same_measure(measure: Measure, column: PaperColumn) -> bool:
    """Whether a final measure is that of a column of the paper's table."""
    return measure.episodes - measure.skip >= LEAST_EPISODES and {**measure.options} == {**column.options}


def _words(key: str, value: JSON) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, list) else "not set" if value is None else value
    return one_line(f"{key} = {shown}", 120)


# Values that others have published for tasks outside the paper, and what differs from a run here. Pure.
#
# A published value stands next to ours with the differences in words, since neither the episodes nor the models are the
# same: it is a yardstick, not a comparison.


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
