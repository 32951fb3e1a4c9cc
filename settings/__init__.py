"""A run's settings: what they are, where they may come from, and a text that repeats the run."""

from .building import build_settings, parse_budgets, settings_in, usable_cpus, with_budgets
from .checks import evaluator_file
from .model import ALL, BRANCHES, OPTIONS, SALT_PATTERN, Asking, RoleBudget, Settings, asked, without_effect
from .sources import parse_assignments

__all__ = [
    "ALL",
    "BRANCHES",
    "OPTIONS",
    "SALT_PATTERN",
    "Asking",
    "RoleBudget",
    "Settings",
    "asked",
    "build_settings",
    "evaluator_file",
    "parse_assignments",
    "parse_budgets",
    "settings_in",
    "usable_cpus",
    "with_budgets",
    "without_effect",
]
