"""Hand-made facts about recordings: rolled-out episodes, and the candidates and elites that they belong to."""

from memento.core.events import CandidateScored, EliteChanged, EpisodeEnded
from memento.core.faults import Fault, FaultKind
from memento.core.values import CandidateState, Episode, Operator, Program

CRASH = Fault(kind=FaultKind.CRASHED, message="it raised")


def episode(order: str, key: str | None = None, *, fault: Fault | None = None) -> EpisodeEnded:
    return EpisodeEnded(
        order=order,
        episode=Episode(
            index=0, seed=0, steps=1, ended_by="fault" if fault else "horizon", success=False, fault=fault,
            trajectory=key or order,
        ),
    )


def scored(name: str, generation: int = 1, fitness: float = 0.0) -> CandidateScored:
    candidate = CandidateState(
        id=name, program=Program(name), operator=Operator.MACRO, generation=generation, slot=0, fitness=fitness
    )
    return CandidateScored(order=name, candidate=candidate)


def elite(name: str, generation: int = 1) -> EliteChanged:
    return EliteChanged(generation=generation, candidate=name, origin=Operator.MACRO, fitness=0.5, success_rate=0.0)


START = [episode("init/0/e0"), elite("init/0", 0)]
