"""The setting of the paper's published values, and how a run differs from it. Pure.

A measured value may stand next to a published one only where nothing differs. The paper states the task in its
appendices on the two environments, and the budget in its section on experiments; where it is silent, nothing is asked.
"""

from collections.abc import Mapping

from ..core.methods import METHODS
from ..core.text import one_line
from ..core.values import JSON
from ..settings import without_effect
from . import paper
from .experiment import Measure
from .records import RunRecord

# The options of the domains, by their names here.
TASKS: Mapping[str, Mapping[str, JSON]] = {
    paper.HANOI: {
        "n_cubes": 4, "variant": "cube", "randomisation": "table", "horizon": 12_000, "rules": "paper",
        "physics": "exact", "idle_stop_s": 0.0,
    },
    paper.KITCHEN: {
        "backend": "unity", "scenes": ["FloorPlan1", "FloorPlan2", "FloorPlan3"], "horizon": 250, "rules": "paper",
        "targets.reveal_unseen": True,
    },
}
# Settings of the search that the paper states, where the method has them.
SEARCH: Mapping[str, JSON] = {
    "generations": 5, "k_hc": 10, "k_macro": 10, "k_cross": 4, "k": 24, "n_roll": 10, "memory_detail": "summary",
    "memory_scope": "generation", "feedback": "metrics", "reply": "whole", "repairs": 0, "macro_focus": False,
    "probes": "off", "judge_reasons": False, "proposer_turns": 0, "notes": "off",
}
ONE_KITCHEN = ("scenes = FloorPlan1",)     # what differs in the paper's search in one kitchen


def differences(record: RunRecord) -> tuple[str, ...]:
    """What differs from the paper's setting, such as "randomisation = light"; () if nothing does."""
    wanted = TASKS.get(record.domain)
    if wanted is None:
        return (f"the domain {one_line(record.domain, 60)} is not in the paper",)
    options = record.settings.get("options")
    found = options if isinstance(options, Mapping) else {}
    different = [_words(key, found.get(key)) for key, value in wanted.items() if found.get(key) != value]
    known = METHODS[record.method].settings if record.method in METHODS else frozenset()
    if known:
        known -= without_effect(record.method, str(record.settings.get("evaluator", "evolve")))
    return (*different, *(
        _words(key, record.settings[key]) for key, value in SEARCH.items()
        if key in known and key in record.settings and record.settings[key] != value
    ))


def searched_one_kitchen(record: RunRecord) -> bool:
    """Whether this is the paper's search in a single kitchen."""
    return record.method == "memento" and differences(record) == ONE_KITCHEN


def same_measure(measure: Measure, column: paper.Column) -> bool:
    """Whether a final measure is that of a column of the paper's table."""
    return measure.episodes - measure.skip >= paper.LEAST_EPISODES and {**measure.options} == {**column.options}


def _words(key: str, value: JSON) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, list) else "not set" if value is None else value
    return one_line(f"{key} = {shown}", 120)
