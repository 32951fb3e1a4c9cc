"""The setting of the paper's published values, and how a run differs from it. Pure.

A measured value may stand next to a published one only where nothing differs. The paper states the task in its
appendices on the two environments, and the budget in its section on experiments. A setting that the paper does not
know is as if it did not exist.
"""

from collections.abc import Iterable, Mapping

from ..core.methods import METHODS
from ..core.text import one_line
from ..core.values import JSON, Program
from ..settings import fits, group_of, recorded_settings
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
        "targets.reveal_unseen": False, "policy_seed": "zero",
    },
}
STATED: Mapping[str, JSON] = {
    "generations": 5, "k_hc": 10, "k_macro": 10, "k_cross": 4, "k": 24, "n_roll": 10, "final_episodes": 10,
    "evaluator_pool": 8, "evaluator_generations": 5, "evaluator_judges": 10,                # Algorithm 1
    "feedback": "metrics", "memory_detail": "summary", "memory_scope": "generation",        # what prompts show: F, M, H
    "reply": "whole", "repairs": 0, "macro_focus": False, "partners": "paper",              # what models write, of whom
    "probes": "off", "evaluator_tests": "off", "judge_reasons": False,                      # how judges vote
    "notes": "off", "proposer_turns": 0, "critic": None, "prompts": None,
    "confirm_episodes": 0, "choice_episodes": 0, "stop_when": "never", "islands": 1, "k_tune": 0, "gate": "off",
    "climb_width": 1, "head_start": False,
    "evaluator_attacks": 0, "evaluator_every": 0, "budget_episodes": None, "step_limit_ms": None,
}
"""The settings of the paper's search, and those that it does not know, switched off."""
PAPER: Mapping[str, JSON] = recorded_settings({"domain": HANOI, **STATED}).as_json()
FREE = frozenset({
    "domain", "options", "final_episodes", "robust",   # compared as a task (`TASKS`), as a measure (`same_measure`)
    "method", "model", "preset", "seed", "salt",    # a row, a table, where the values come from, and the chance
    "tune_episodes", "tune_generations",    # of no use without slots for tuning, which are compared
    "budget", "budget_calls", "budget_tokens", "budget_usd", "budget_wall_s",   # a run that one ends does not count
    "workers", "calls_at_once", "prices", "replay", "replay_loosely", "require_sandbox", "keep_trajectories",
    "trajectories_limit_mb", "racing", "duplicates", "speculation", "roll_ahead",   # change no result
})
"""The settings in which a run may differ from the paper's, and still stand beside it."""
WAITS = frozenset({"total_s", "read_s", "connect_s", "attempts"})       # of `sampling`: how long a model may take
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
    hints = (_words("hints", record.hints),) if record.hints and record.domain in TASKS else ()
    return (*settings_that_differ({**record.settings, "domain": record.domain, "method": record.method}), *hints)


def settings_that_differ(given: Mapping[str, JSON]) -> tuple[str, ...]:
    """What differs in these settings of a run from the paper's, apart from the files that it was given."""
    domain, method = str(given["domain"]), str(given["method"])
    if domain not in TASKS:
        return (f"the domain {one_line(domain, 60)} is not in the paper",)
    options = given.get("options")
    found = options if isinstance(options, Mapping) else {}
    different = tuple(_words(key, found.get(key)) for key, value in TASKS[domain].items() if found.get(key) != value)
    if method not in METHODS:
        return different
    settings = {**PAPER, **given, "sampling": _sampled(given.get("sampling"))}
    return (*different, *(
        _words(key, settings[key]) for key, value in PAPER.items()
        if key not in FREE and key not in SHARED_FILES and settings[key] != value
        and fits(key, method, str(settings["evaluator"])) and group_of(key).switched_off(key, settings) is None
    ))


def _sampled(given: JSON) -> JSON:
    """What is set of how models are called, such as {"judge.temperature": 0.3}, apart from `WAITS`."""
    if not isinstance(given, Mapping):
        return given or {}
    return {
        f"{role}.{name}": value for role, own in given.items() if isinstance(own, Mapping)
        for name, value in own.items() if value is not None and name not in WAITS
    }


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
