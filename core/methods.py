"""The search methods there are, and which settings have an effect in each of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from .errors import unknown

_ALWAYS = frozenset({
    "domain", "method", "preset", "model", "judges", "evaluator", "initial", "seed", "workers",
    "require_sandbox", "n_roll", "final_episodes", "keep_trajectories", "trajectories_limit_mb",
    "evaluator_pool", "evaluator_generations", "evaluator_judges", "duplicates",
})
_CLIMB = frozenset({"generations", "racing", "speculation", "memory_detail", "memory_scope"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A way to search. A setting that is not in `settings` is refused: it would silently do nothing."""

    name: str
    title: str
    settings: frozenset[str]


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in [
        Method(
            name="memento",
            title="hill-climbing with a memory of rejected edits, macro-mutation and crossover; one elite (the paper)",
            settings=_ALWAYS | _CLIMB | {"k_hc", "k_macro", "k_cross"},
        ),
        Method(
            name="hill-only",
            title="memento with all slots in the climb (the paper's ablation)",
            settings=_ALWAYS | _CLIMB | {"k"},
        ),
        Method(
            name="without-crossover",
            title="memento with half of the slots in the climb and half macro-mutations (the paper's ablation)",
            settings=_ALWAYS | _CLIMB | {"k"},
        ),
        Method(
            name="eureka",
            title="macro-mutations of the best of the last generation; no population, no memory",
            settings=_ALWAYS | {"generations", "k", "racing"},
        ),
        Method(
            name="eureka-elite",
            title="macro-mutations of the best program so far; no population, no memory (the paper's Eureka)",
            settings=_ALWAYS | {"generations", "k", "racing"},
        ),
        Method(
            name="revolve",
            title="four islands of programs, bred by crossover and macro-mutation, the weaker half reset now and then",
            settings=_ALWAYS | {"generations", "k"},
        ),
        Method(
            name="zero-shot",
            title="one round of programs from the initial prompt, the best one taken (the paper's ablation)",
            settings=_ALWAYS | {"k", "racing"},
        ),
        Method(
            name="random",
            title="independent programs from the initial prompt, the best one kept; the floor for every method",
            settings=_ALWAYS | {"generations", "k", "racing"},
        ),
    ]
}


def method_named(name: str) -> Method:
    """The method called `name`. Raises UsageError with the nearest names."""
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]
