"""The paper's published values. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.methods import METHODS
from ..core.values import JSON
from .records import RunRecord

Value = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperColumn:
    """A column of a table of the paper. The final measure `measure` corresponds to it, if it has these options."""

    title: str
    domain: str
    measure: str
    options: Mapping[str, JSON] = field(default_factory=dict)


HANOI, KITCHEN = "hanoi", "kitchen"
DOMAIN_TITLES = {HANOI: "Robosuite Franka Tower of Hanoi", KITCHEN: "AI2-THOR household interaction"}

LEAST_EPISODES = 10  # of a final measure; the paper gives the number of episodes in the search only

GENERALISATION_COLUMNS = (
    PaperColumn(title="Cube", domain=HANOI, measure="Cube"),
    PaperColumn(title="Asym.", domain=HANOI, measure="Asym.", options={"variant": "asymmetric"}),
    PaperColumn(title="Cyl.", domain=HANOI, measure="Cyl.", options={"variant": "cylinder"}),
    PaperColumn(title="Search scenes", domain=KITCHEN, measure="Search scenes"),
    PaperColumn(title="Held-out scenes", domain=KITCHEN, measure="Held-out scenes", options={"scenes": ["held-out"]}),
)
# Table "Final success rate on original and held-out generalization domains".
GENERALISATION: Mapping[str, tuple[Value | None, ...]] = {
    "Eureka": ((0.00, 0.00), (0.00, 0.00), (0.00, 0.00), (0.00, 0.00), (0.00, 0.00)),
    "REvolve": ((0.53, 0.12), (0.23, 0.15), (0.00, 0.00), (0.40, 0.10), (0.08, 0.04)),
    "MEMENTO": ((0.97, 0.06), (0.87, 0.23), (0.63, 0.17), (1.00, 0.00), (0.78, 0.08)),
    "SAC+HER sparse": ((0.00, 0.00), None, None, None, None),
    "SAC+HER dense": ((0.00, 0.00), None, None, None, None),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalValues:
    """F and S of the best policy at the last generation, on the search's own episodes."""

    fitness: Value | None
    success: Value


# Sections "Main Evolution Results" and "Ablations". Eureka's fitness in the kitchen is not given.
FINAL: Mapping[str, Mapping[str, FinalValues]] = {
    HANOI: {
        "Eureka": FinalValues(fitness=(0.45, 0.04), success=(0.0, 0.0)),
        "REvolve": FinalValues(fitness=(0.72, 0.08), success=(0.53, 0.12)),
        "MEMENTO": FinalValues(fitness=(0.99, 0.02), success=(0.97, 0.06)),
        "Zero-shot": FinalValues(fitness=(0.37, 0.12), success=(0.0, 0.0)),
        "Unevolved evaluator": FinalValues(fitness=(0.42, 0.05), success=(0.0, 0.0)),
        "Hill-only": FinalValues(fitness=(0.50, 0.04), success=(0.0, 0.0)),
        "Without-Crossover": FinalValues(fitness=(0.55, 0.02), success=(0.0, 0.0)),
    },
    KITCHEN: {
        "Eureka": FinalValues(fitness=None, success=(0.0, 0.0)),
        "REvolve": FinalValues(fitness=(0.67, 0.05), success=(0.40, 0.10)),
        "MEMENTO": FinalValues(fitness=(0.98, 0.00), success=(1.00, 0.00)),
        "Zero-shot": FinalValues(fitness=(0.22, 0.10), success=(0.0, 0.0)),
        "Unevolved evaluator": FinalValues(fitness=(0.33, 0.05), success=(0.0, 0.0)),
        "Hill-only": FinalValues(fitness=(0.46, 0.04), success=(0.0, 0.0)),
        "Without-Crossover": FinalValues(fitness=(0.51, 0.04), success=(0.0, 0.0)),
    },
}

# F and S of the selected candidates: three methods × three seeds × six generations.
CORRELATED = ("MEMENTO", "REvolve", "Eureka")
CORRELATION: Mapping[str, tuple[float, float, int]] = {HANOI: (0.922, 0.755, 54), KITCHEN: (0.871, 0.801, 54)}

# Section "Ablations", search-scene diversity: over FloorPlan1–29.
ALL_KITCHENS = PaperColumn(
    title="All 29 kitchens", domain=KITCHEN, measure="All 29 kitchens", options={"scenes": ["training", "held-out"]},
)
ONE_KITCHEN = (0.09, 0.02)

_EARLIER = {"eureka"}  # the paper describes the variant with an elite; if both were run, that one counts


def paper_name(record: RunRecord) -> str | None:
    """The paper's name for the method of this run; None for a method that is not in the paper."""
    if record.settings.get("evaluator") == "zero-shot":
        return "Unevolved evaluator" if record.method == "memento" else None
    method = METHODS.get(record.method)
    return method.published if method is not None else None


def chosen_arms(records: "tuple[RunRecord, ...]") -> dict[str, str]:
    """The arm for each of the paper's methods, by its published name; of several arms, the paper's own variant."""
    found: dict[str, str] = {}
    for record in sorted(records, key=lambda record: record.method in _EARLIER):
        name = paper_name(record)
        if name is not None:
            found.setdefault(name, record.arm)
    return found
