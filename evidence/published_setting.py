"""The setting of the paper's published values, and how a run differs from it. Pure.

A measured value may stand next to a published one only where nothing differs. The paper states the task in its
appendices on the two environments, and the budget in its section on experiments. A setting that the paper does not
know is as if it did not exist.
"""

from collections.abc import Iterable, Mapping

from ..core.methods import METHODS
from ..core.text import one_line
from ..core.values import JSON, Program
from ..settings import fits, group_of, preset_named, recorded_settings
from .baseline_rows import BaselineRow
from .experiment import Measure
from .published import HANOI, KITCHEN, LEAST_EPISODES, PaperColumn
from .records import RunRecord

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
PAPER_STEPS = 50_000_000
TRAINED: Mapping[str, JSON] = {
    "steps": PAPER_STEPS, "environments": 1,
    "hyper": {
        "batch": 512, "buffer": 2_000_000, "gamma": 0.995, "tau": 0.005, "learning_rate": 1e-4, "goals": 8,
        "random_steps": 25_000, "updates": 1, "hidden": [256, 256],
    },
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
