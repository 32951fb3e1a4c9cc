"""Which settings have an effect in which search method. A setting that has none is refused, never ignored."""

from collections.abc import Mapping

from .core.errors import unknown

_ALWAYS = frozenset({
    "domain", "method", "preset", "model", "judges", "evaluator", "initial", "seed", "workers",
    "require_sandbox", "n_roll", "final_episodes",
    "evaluator_pool", "evaluator_generations", "evaluator_judges",
})

SETTINGS_OF_METHOD: Mapping[str, frozenset[str]] = {
    "memento": _ALWAYS | {"generations", "k_hc", "k_macro", "k_cross"},
}


def settings_of(method: str) -> frozenset[str]:
    """The settings that change something in `method`. Raises UsageError with the nearest names."""
    if method not in SETTINGS_OF_METHOD:
        raise unknown("method", method, SETTINGS_OF_METHOD)
    return SETTINGS_OF_METHOD[method]
