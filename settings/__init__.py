"""A run's settings: their definition, their sources, and their text form, which repeats the run.

    building   the settings of a run, from all their sources and checked
    checks     checks of settings
    effects    what settings would import, start, contact or read
    evaluate   the settings of `memento evaluate`, `memento rank` and `memento audit`
    audit      the settings of `memento audit`: a domain with its options, an evaluator, and how much to try
    describing   the settings in words: meaning, default, values, and where each has an effect
    groups     the groups of settings: each says which parts of a run its settings need to have an effect
    model      A run's settings and their allowed values
    presets    budgets by name: the paper's, one that shows a rising curve soon, and one for tests
    recorded   the settings of a recorded run
    schedule   the schedule of a search within a budget of episodes
    sources    where settings come from: the command line, the environment, a file
    toml_text  settings as TOML text
    what_if    what a what-if may change, and its experiments: states of recorded runs × arms of settings
"""

from ..search.setting_groups import ATTACKER, CRITIC, roles_of
from .building import build_settings, parse_budgets, settings_in, usable_cpus, with_budgets, with_model
from .checks import evaluator_file
from .model import ALL, BRANCHES, MOST_WORKERS, OPTIONS, SALT_PATTERN, Asking, RoleBudget, Settings, fits, group_of
from .presets import preset_named
from .recorded import recorded_settings
from .sources import parse_assignments

__all__ = [
    "ALL",
    "ATTACKER",
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
    "fits",
    "group_of",
    "parse_assignments",
    "parse_budgets",
    "preset_named",
    "recorded_settings",
    "roles_of",
    "settings_in",
    "usable_cpus",
    "with_budgets", "with_model",
]
