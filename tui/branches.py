"""What a generation of each method is made of: its branches with their names and slots. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.values import JSON, Operator


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """Some slots of a generation. `word` is that of their orders' ids, "" for any word."""

    label: str
    word: str
    what: str       # one of its proposals
    short: str      # the same in a short word
    slots: int
    operators: tuple[Operator, ...]


def branches_of(settings: Mapping[str, JSON]) -> tuple[Branch, ...]:
    """The branches of a run's method, from its settings; those of memento where the method is not known."""
    k = _number(settings, "k")
    match settings.get("method"):
        case "hill-only":
            return (_climb(k),)
        case "without-crossover":
            return (_climb(k - k // 2), _macro(k // 2))
        case "eureka" | "eureka-elite":
            return (_macro(k),)
        case "revolve":
            operators = (Operator.MACRO, Operator.CROSSOVER)
            bred = "bred program"
            return (Branch(label="islands", word="", what=bred, short=bred, slots=k, operators=operators),)
        case "zero-shot":
            return (_independent("programs", "initial", k),)
        case "random":
            return (_independent("random", "random", k),)
    crosses = Branch(
        label="cross", word="cross", what="crossover", short="crossover", slots=_number(settings, "k_cross"),
        operators=(Operator.CROSSOVER,),
    )
    return (_climb(_number(settings, "k_hc")), _macro(_number(settings, "k_macro")), crosses)


def branch_of(settings: Mapping[str, JSON], operator: Operator) -> Branch:
    """The branch that an operator's candidates belong to; the first where the method has none for it."""
    branches = branches_of(settings)
    return next((branch for branch in branches if operator in branch.operators), branches[0])


def _climb(slots: int) -> Branch:
    return Branch(
        label="climb", word="hill", what="hill-climb", short="climb", slots=slots, operators=(Operator.HILL_CLIMB,)
    )


def _macro(slots: int) -> Branch:
    return Branch(
        label="macro", word="macro", what="macro-mutation", short="macro", slots=slots, operators=(Operator.MACRO,)
    )


def _independent(label: str, word: str, slots: int) -> Branch:
    what = "independent program"
    return Branch(label=label, word=word, what=what, short=what, slots=slots, operators=(Operator.INITIAL,))


def _number(settings: Mapping[str, JSON], key: str) -> int:
    value = settings.get(key)
    return value if isinstance(value, int) else 0
