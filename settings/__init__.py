"""A run's settings: their definition, their sources, and their text form, which repeats the run."""

from .building import build_settings, parse_budgets, settings_in, usable_cpus, with_budgets
from .checks import evaluator_file
from .model import (
    ALL,
    BRANCHES,
    CRITIC,
    MOST_WORKERS,
    OPTIONS,
    SALT_PATTERN,
    Asking,
    RoleBudget,
    Settings,
    roles_of,
    without_effect,
)
from .recorded import recorded_settings
from .sources import parse_assignments

__all__ = [
    "ALL",
    "BRANCHES",
    "CRITIC",
    "MOST_WORKERS",
    "OPTIONS",
    "SALT_PATTERN",
    "Asking",
    "RoleBudget",
    "Settings",
    "build_settings",
    "evaluator_file",
    "parse_assignments",
    "parse_budgets",
    "recorded_settings",
    "roles_of",
    "settings_in",
    "usable_cpus",
    "with_budgets",
    "without_effect",
]
