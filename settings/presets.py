"""Budgets by name: the paper's, one that shows a rising curve soon, and one for tests.

A domain completes its options (horizon, randomisation) with presets of the same names.
"""

from collections.abc import Mapping

from ..core.errors import no_such
from ..core.values import JSON

DEFAULT_PRESET = "quick"

# The keys are settings: G, k_hc, k_macro, k_cross and N_roll of Algorithm 2; n, T and k of Algorithm 1; and what
# makes a run faster without a change of its result. Speculation trades calls for time, so only big runs use it; it
# excludes a full memory, which the paper does not have either.
PRESETS: Mapping[str, Mapping[str, int | str]] = {
    "paper": {
        "generations": 5, "k_hc": 10, "k_macro": 10, "k_cross": 4, "n_roll": 10,
        "evaluator_pool": 8, "evaluator_generations": 5, "evaluator_judges": 10,
        "final_episodes": 10, "duplicates": True, "speculation": True, "memory_detail": "summary",
        "notes": "off", "evaluator_tests": "off", "roll_ahead": "off",
        "feedback": "metrics", "macro_focus": False, "reply": "whole", "repairs": 0, "probes": "off",
        "judge_reasons": False, "partners": "paper",
    },
    "quick": {
        "generations": 4, "k_hc": 4, "k_macro": 4, "k_cross": 2, "n_roll": 3,
        "evaluator_pool": 3, "evaluator_generations": 2, "evaluator_judges": 3,
        "final_episodes": 6, "duplicates": True, "speculation": False, "memory_detail": "full",
        "confirm_episodes": 9, "choice_episodes": 20, "stop_when": "saturated",
    },
    "smoke": {
        "generations": 1, "k_hc": 1, "k_macro": 1, "k_cross": 1, "n_roll": 1,
        "evaluator_pool": 2, "evaluator_generations": 1, "evaluator_judges": 3,
        "final_episodes": 1, "duplicates": True, "speculation": False, "memory_detail": "full",
        "evaluator_tests": "off",
    },
}

TASK_OPTIONS: Mapping[str, Mapping[str, Mapping[str, JSON]]] = {
    "paper": {"hanoi": {"rules": "paper"}, "kitchen": {"rules": "paper"}},
}
"""By preset and domain: the options of a search's task in which it differs from an evaluation with that preset."""

OFFLINE: Mapping[str, int | str] = {
    "generations": 2, "k_hc": 2, "k_macro": 1, "k_cross": 0, "confirm_episodes": 5, "choice_episodes": 6,
    "stop_when": "never", "proposer_turns": 20, "practice_episodes": 20, "practice_starts": 12,
}
"""What `quick` has instead where the offline model repairs programs in practice: fewer candidates, tried before."""

TUNES = frozenset({"quick"})
"""The presets whose searches with the offline model tune constants where programs need numbers that fit one another."""


def preset_named(name: str) -> Mapping[str, int | str]:
    """The settings of a preset. Raises UsageError with the nearest names."""
    if name not in PRESETS:
        raise no_such("preset", name, PRESETS)
    return PRESETS[name]
