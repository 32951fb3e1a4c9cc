"""Small runs of every method on the kinematic task, and what two of them are compared by."""

from memento.core.events import CandidateScored, EliteChanged, Fact, PopulationChanged, TuningEnded
from memento.core.methods import METHODS, SearchPart

SMALL = [
    "--preset", "smoke", "--seed", "3", "--evaluator", "reference", "--set", "n_roll=2",
    "--set", "hanoi-kinematic.horizon=200",
]
BUDGETS = {
    "memento": ["--set", "generations=2", "--set", "k_hc=1", "--set", "k_macro=1", "--set", "k_cross=1", "--set",
                "k_tune=1", "--set", "tune_episodes=56"],
    "zero-shot": ["--set", "k=4"],
}
OTHERS = sorted(METHODS.keys() - {"memento", "cma-es", "calibrate"})
SAVING = ["--set", "memory_detail=summary", "--set", "speculation=true", "--set", "memory_scope=run"]


def budget(method: str) -> list[str]:
    climbs = SAVING if SearchPart.CLIMB in METHODS[method].parts else []
    return [*BUDGETS.get(method, ["--set", "generations=2", "--set", "k=4"]), *climbs]


def verdicts(facts: list[Fact]) -> list[object]:
    kinds = (EliteChanged, PopulationChanged, TuningEnded)
    spent = sorted(fact.candidate.id for fact in facts if isinstance(fact, CandidateScored))
    return [*(fact for fact in facts if isinstance(fact, kinds)), *spent]
