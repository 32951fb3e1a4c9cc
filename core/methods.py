"""The search methods: their names, their parts, and the branches of their generations; also of methods from outside."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any

from .errors import UsageError, no_such
from .import_strings import attribute_at, is_import_string
from .operators import OPERATORS, Operation
from .order_ids import CONDITIONS, RANDOM
from .provenance import UNKNOWN, Provenance
from .text import plural
from .values import JSON, MethodBranch, Operator

CALIBRATE = "calibrate"  # the name of the method that needs a robot


class SearchPart(Enum):
    """A part of a search method; settings of a part have no effect without it (`search/setting_groups.py`)."""

    GENERATIONS = auto()  # as many as the user wants
    BRANCHES = auto()     # each branch of a generation has slots that the user sets
    SLOTS = auto()        # the method divides the `k` slots of a generation itself
    EDITS = auto()        # models write edits of programs
    CLIMB = auto()        # hill-climbing with a memory of rejected edits
    MACRO = auto()        # macro-mutations
    TUNING = auto()       # constants are tuned without a model
    ELITE = auto()        # an elite lasts over generations
    RACING = auto()       # a candidate that cannot win may be pruned
    FINAL = auto()        # p_0 and the elite are compared on held-out episodes


_EVOLUTION = frozenset({SearchPart.GENERATIONS, SearchPart.EDITS, SearchPart.ELITE, SearchPart.FINAL})


Branches = Callable[[Mapping[str, JSON]], tuple[MethodBranch, ...]]
"""The branches of a generation, from the settings of a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A search method. `parts` decides which settings have an effect.

    `published` is the paper's name of the method; None if the method is not in the paper. `selection` completes the
    sentence of prompts "The new program is run on the same episodes, with the same seeds, as its parent, and …";
    `acceptance` does the same for an edit of a climb.

    A method from outside MEMENTO also has a `keeper`: a function of C_0, the rollout plan, the slots of a generation,
    the options of the search and the choices of its parts, as in `search/keepers.py`. `parameters` is a dataclass of
    its own settings, which are given as `parameters.NAME` and reach the keeper as `choices.of(parameters)`. `operators`
    are those that it adds.
    """

    name: str
    title: str
    parts: frozenset[SearchPart]
    branches: Branches
    published: str | None = None
    acceptance: str = "replaces it if its F is at least as high"
    selection: str = "counts only if no other program of its generation has a higher F"
    keeper: Callable[..., Any] | None = None
    parameters: type[Any] | None = None
    operators: tuple[Operation, ...] = ()


def halves(slots: int) -> tuple[int, int]:
    """The slots of climb and macro-mutation if they share a generation: half each, an odd one goes to the climb."""
    return slots - slots // 2, slots // 2


def _climb(slots: int) -> MethodBranch:
    return branch_of_operator(Operator.HILL_CLIMB, slots)


def _macro(slots: int) -> MethodBranch:
    return branch_of_operator(Operator.MACRO, slots)


def branch_of_operator(operator: Operator, slots: int, *, label: str = "", word: str = "") -> MethodBranch:
    """The branch of one operator; `label` and `word` default to the operator's."""
    names = OPERATORS[operator]
    return MethodBranch(
        label=label or names.branch, word=word or names.word, what=names.proposal, short=names.short, slots=slots,
        operators=(operator,),
    )


def _memento(settings: Mapping[str, JSON]) -> tuple[MethodBranch, ...]:
    """The paper's three branches, and that of tuning if it has slots."""
    tuned = branch_of_operator(Operator.TUNE, _number(settings, "k_tune"))
    crosses = branch_of_operator(Operator.CROSSOVER, _number(settings, "k_cross"))
    paper = _climb(_number(settings, "k_hc")), _macro(_number(settings, "k_macro"))
    return (*paper, *([tuned] if tuned.slots else []), crosses)


def _two_branches(settings: Mapping[str, JSON]) -> tuple[MethodBranch, ...]:
    climbs, macros = halves(_number(settings, "k"))
    return _climb(climbs), _macro(macros)


def _islands(settings: Mapping[str, JSON]) -> tuple[MethodBranch, ...]:
    operators = (Operator.MACRO, Operator.CROSSOVER)
    bred = "bred program"
    return (MethodBranch(
        label="islands", word="", what=bred, short=bred, slots=_number(settings, "k"), operators=operators
    ),)


def _one_branch(operator: Operator, *, label: str = "", word: str = "") -> Branches:
    """All `k` slots for one operator."""
    return lambda settings: (branch_of_operator(operator, _number(settings, "k"), label=label, word=word),)


def _tuning_alone(settings: Mapping[str, JSON]) -> tuple[MethodBranch, ...]:
    return (branch_of_operator(Operator.TUNE, 1),)


def _calibration(settings: Mapping[str, JSON]) -> tuple[MethodBranch, ...]:
    return (branch_of_operator(Operator.CALIBRATE, 1),)


def _number(settings: Mapping[str, JSON], key: str) -> int:
    value = settings.get(key)
    return value if isinstance(value, int) else 0


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in [
        Method(
            name="memento",
            title="hill-climbing with a memory of rejected edits, macro-mutation and crossover; one elite (the paper)",
            parts=_EVOLUTION | {
                SearchPart.BRANCHES, SearchPart.CLIMB, SearchPart.MACRO, SearchPart.TUNING, SearchPart.RACING,
            },
            branches=_memento,
            published="MEMENTO",
        ),
        Method(
            name="hill-only",
            title="memento with all slots in the climb (the paper's ablation)",
            parts=_EVOLUTION | {SearchPart.SLOTS, SearchPart.CLIMB, SearchPart.RACING},
            branches=_one_branch(Operator.HILL_CLIMB),
            published="Hill-only",
        ),
        Method(
            name="without-crossover",
            title="memento with half of the slots in the climb and half macro-mutations (the paper's ablation)",
            parts=_EVOLUTION | {SearchPart.SLOTS, SearchPart.CLIMB, SearchPart.MACRO, SearchPart.RACING},
            branches=_two_branches,
            published="Without-Crossover",
        ),
        Method(
            name="eureka",
            title="macro-mutations of the best of the last generation; no population, no memory",
            parts=_EVOLUTION | {SearchPart.SLOTS, SearchPart.MACRO, SearchPart.RACING},
            branches=_one_branch(Operator.MACRO),
            published="Eureka",
            selection="is the parent of the next generation only if no other program of its generation has a higher F",
        ),
        Method(
            name="eureka-elite",
            title="macro-mutations of the best program so far; no population, no memory (the paper's Eureka)",
            parts=_EVOLUTION | {SearchPart.SLOTS, SearchPart.MACRO, SearchPart.RACING},
            branches=_one_branch(Operator.MACRO),
            published="Eureka",
            selection="is the parent of the next generation only if no other program of its generation has a higher F",
        ),
        Method(
            name="revolve",
            title="four islands of programs, bred by crossover and macro-mutation, the weaker half reset now and then",
            parts=_EVOLUTION | {SearchPart.SLOTS, SearchPart.MACRO},
            branches=_islands,
            published="REvolve",
            selection="joins the population of its island only if its F is at least the mean of the island",
        ),
        Method(
            name="zero-shot",
            title="one round of programs from the initial prompt, the best one taken (the paper's ablation)",
            parts=frozenset({SearchPart.SLOTS, SearchPart.RACING, SearchPart.FINAL}),
            branches=_one_branch(Operator.INITIAL, label="programs"),
            published="Zero-shot",
        ),
        Method(
            name="random",
            title="independent programs from the initial prompt, the best one kept; the floor for every method",
            parts=frozenset({
                SearchPart.GENERATIONS, SearchPart.SLOTS, SearchPart.ELITE, SearchPart.RACING, SearchPart.FINAL,
            }),
            branches=_one_branch(Operator.INITIAL, word=RANDOM),
        ),
        Method(
            name="cma-es",
            title="the constants of the first program tuned by an optimiser, without further programs; a baseline",
            parts=frozenset({SearchPart.TUNING, SearchPart.RACING, SearchPart.FINAL}),
            branches=_tuning_alone,
        ),
        Method(
            name=CALIBRATE,
            title="other values of named constants for a robot cell, from the metrics of a few trials (the paper's)",
            parts=frozenset({SearchPart.GENERATIONS}),  # its result is measured by `memento cell run`
            branches=_calibration,
        ),
    ]
}


_FROM_OUTSIDE: dict[str, Method] = {}


def method_named(name: str) -> Method:
    """The method called `name`. Raises UsageError with the nearest names.

    Of one from outside that is not loaded nothing is known: any setting may have an effect in it.
    """
    if name in METHODS or name in _FROM_OUTSIDE:
        return METHODS.get(name) or _FROM_OUTSIDE[name]
    if is_import_string(name):
        return Method(name=name, title=name, parts=frozenset(SearchPart), branches=lambda settings: ())
    raise UsageError(f"{no_such('method', name, METHODS)} (your own method is package.module:ATTRIBUTE)")


def load_method(name: str, provenance: Provenance = UNKNOWN) -> Method:
    """The method called `name`; one from outside is imported, if that is allowed. Raises UsageError."""
    if name in METHODS or name in _FROM_OUTSIDE or not is_import_string(name):
        return method_named(name)
    provenance.require([f"import {name!r}"])
    found = attribute_at(name, "method")
    if not isinstance(found, Method) or found.keeper is None:
        raise UsageError(f"{name!r} is not a search method: it is no core.methods.Method with a keeper")
    return add_method(replace(found, name=name))


def add_method(method: Method) -> Method:
    """Make a method from outside known by its name, with its operators. Raises UsageError for a name that is taken."""
    if method.name in METHODS:
        raise UsageError(f"there is a method {method.name!r} already: give yours another name")
    if method.keeper is None:
        raise UsageError(f"the method {method.name!r} has no keeper, so it cannot decide a search")
    for row in method.operators:
        OPERATORS.add(row)
    _FROM_OUTSIDE[method.name] = method
    return method


class RecordedSettings(dict[str, JSON]):
    """The settings of a recorded run, with the `branches` that its method had: it need not be installed here."""

    def __init__(self, settings: Mapping[str, JSON], branches: tuple[MethodBranch, ...]) -> None:
        super().__init__(settings)
        self.branches = branches


def branches_of(settings: Mapping[str, JSON]) -> tuple[MethodBranch, ...]:
    """The branches of a run's method: those that were recorded, else by its settings; none of an unknown method."""
    if isinstance(settings, RecordedSettings) and settings.branches:
        return settings.branches
    name = str(settings.get("method", "memento"))
    method = METHODS.get(name) or _FROM_OUTSIDE.get(name)
    return () if method is None else method.branches(settings)


def edits(settings: Mapping[str, JSON]) -> bool:
    """Whether the method of a run with these settings edits programs, rather than only asks for first programs."""
    return any(set(branch.operators) - {Operator.INITIAL} for branch in branches_of(settings))


def tunes(settings: Mapping[str, JSON]) -> bool:
    """Whether a run with these settings tunes constants."""
    return tuning_slots(settings) > 0


def candidates_expected(settings: Mapping[str, JSON]) -> int:
    """The number of candidates that a run with these settings proposes: the slots of the whole search.

    A budget of episodes may have room for fewer, each with its N_roll episodes, after those of p_0 and of tuning.
    """
    generations, tunings = _number(settings, "generations"), tuning_slots(settings)
    slots = generations * (sum(branch.slots for branch in branches_of(settings)) - tunings)
    slots += tuning_generations(settings) * tunings
    limit, each = _number(settings, "budget_episodes"), max(1, _number(settings, "n_roll"))
    left = limit - tuning_episodes(settings) - _number(settings, "choice_episodes")
    return min(slots, max(0, left) // each - 1) if limit else slots


def tuning_episodes(settings: Mapping[str, JSON]) -> int:
    """The episodes on which a run with these settings tries constants at most."""
    return tuning_generations(settings) * tuning_slots(settings) * _number(settings, "tune_episodes")


def tuning_generations(settings: Mapping[str, JSON]) -> int:
    """How many generations of a run with these settings tune constants, if it has slots for that."""
    generations, limit = _number(settings, "generations"), _number(settings, "tune_generations")
    return min(generations, limit) if limit else generations


def is_tuned(generation: int, *, of: int, tuned: int) -> bool:
    """Whether generation 1, 2, … tunes constants, if `tuned` of them do: from the second on; 0 are all.

    The first one begins from p_0, whose structure seldom stays.
    """
    return not tuned or tuned >= of or 2 <= generation <= tuned + 1


def slots_for(settings: Mapping[str, JSON], operator: Operator) -> int:
    """The slots of a generation in the branches that use this operator."""
    return sum(branch.slots for branch in branches_of(settings) if operator in branch.operators)


def tuning_slots(settings: Mapping[str, JSON]) -> int:
    """The slots of a generation that tune constants."""
    return slots_for(settings, Operator.TUNE)


def replies_in_turn(settings: Mapping[str, JSON]) -> int:
    """How many replies a generation waits for one after another, with enough calls at once."""
    climbs, crosses = (slots_for(settings, each) for each in (Operator.HILL_CLIMB, Operator.CROSSOVER))
    apart = max(1, _number(settings, "islands")) * max(1, _number(settings, "climb_width"))
    others = any(slots_for(settings, each) for each in (Operator.MACRO, Operator.INITIAL))
    return max(-(-climbs // apart), int(others)) + (crosses > 0 and climbs + others > 0)


def climb_width(settings: Mapping[str, JSON], at_once: int) -> int:
    """The width that a climb needs to use as many calls at once, in at least two steps; for climb_width = "auto"."""
    climbs, macros = (slots_for(settings, each) for each in (Operator.HILL_CLIMB, Operator.MACRO))
    steps = max(2, -(-(climbs + macros) // max(1, at_once)))
    return max(1, -(-climbs // (steps * max(1, _number(settings, "islands")))))


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeShare:
    """The episodes of a run for one purpose: at most `most`, or exactly that number; `each` says what one gets."""

    purpose: str
    most: int
    exact: bool = False
    each: str = ""


HELD_OUT = "held out"  # the purpose of episodes that no budget counts


def final_measures(settings: Mapping[str, JSON]) -> int:
    """How often a run with these settings measures p_0 and the elite: also under each changed condition if robust."""
    return 1 + (len(CONDITIONS) if settings.get("robust") == "on" else 0)


def episode_shares(settings: Mapping[str, JSON]) -> tuple[EpisodeShare, ...]:
    """How a run with these settings divides its episodes. What a budget of episodes leaves goes to the choice."""
    def number(name: str) -> int:
        return _number(settings, name)

    n_roll, pairs, held_out = number("n_roll"), number("confirm_episodes"), number("final_episodes")
    parts = method_named(str(settings.get("method", "memento"))).parts
    measures = final_measures(settings)
    again = f", under {measures} conditions" if measures > 1 else ""
    shares = (
        EpisodeShare(purpose="p_0", most=n_roll, exact=True),
        EpisodeShare(purpose="candidates", most=candidates_expected(settings) * n_roll, each=f"{n_roll} each"),
        EpisodeShare(
            purpose="tuning", most=tuning_episodes(settings),
            each=f"{number('tune_episodes')} each, in {plural(tuning_generations(settings), 'generation')}",
        ),
        EpisodeShare(
            purpose="challenges of the elite", most=pairs * (number("generations") + 1),
            each=f"at most {pairs} pairs each",
        ),
        EpisodeShare(purpose="the choice at the end", most=number("choice_episodes"), exact=True),
        EpisodeShare(
            purpose=HELD_OUT, most=2 * held_out * measures if SearchPart.FINAL in parts else 0,
            exact=True, each=f"{held_out} of p_0 and of the elite{again}",
        ),
    )
    return tuple(share for share in shares if share.most)
