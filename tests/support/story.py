"""An invented run as facts, with everything that a display can show."""

from dataclasses import replace

from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EvaluatorChosen,
    EvaluatorPoolScored,
    Fact,
    FinalMeasured,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SearchEnded,
    StageEntered,
    VoteCast,
)
from memento.core.faults import Fault, FaultKind
from memento.core.values import (
    Call,
    CandidateState,
    Document,
    Episode,
    EvaluatorCandidate,
    Examination,
    Operator,
    Program,
    Rejection,
    Score,
)

SETTINGS = {
    "domain": "hanoi", "method": "memento", "preset": "quick", "model": "offline", "seed": 3, "workers": 2,
    "evaluator": "evolve", "generations": 2, "k_hc": 2, "k_macro": 1, "k_cross": 1, "n_roll": 2,
    "evaluator_pool": 2, "evaluator_generations": 1, "evaluator_judges": 3, "final_episodes": 4,
}
PROGRAM = Program("class Policy: ...")
CALL = Call(model="offline", prompt=Document("?"), reply=Document("!"))
CRASH = Fault(kind=FaultKind.CRASHED, message="ZeroDivisionError:\n\x1b[31mdivision by zero")


def episode(index: int) -> EpisodeEnded:
    ended = Episode(index=index, seed=index, steps=40, ended_by="horizon", success=False, wall_s=4.0)
    return EpisodeEnded(order=f"init/0/e{index}", episode=ended)


def candidate(slot: int, operator: Operator, fitness: float, word: str, summary: str = "") -> CandidateState:
    return CandidateState(
        id=f"g1/{word}/{slot}", program=PROGRAM, operator=operator, generation=1, slot=slot, fitness=fitness,
        success_rate=0.5 if fitness > 0.4 else 0.0, summary=summary,
    )


def scored(candidate: CandidateState) -> CandidateScored:
    return CandidateScored(order=candidate.id, candidate=candidate)


POOL = (
    EvaluatorCandidate(
        id="eval/g0/0", generation=0, slot=0, program=PROGRAM, summary="counts cubes",
        examination=Examination(scores=(Score(fitness=0.25), Score(fitness=0.5))),
    ),
    EvaluatorCandidate(id="eval/g0/1", generation=0, slot=1, program=PROGRAM, examination=Examination(fault=CRASH)),
)
CLIMB_1 = candidate(0, Operator.HILL_CLIMB, 0.4, "hill", "slower descent")
CLIMB_2 = candidate(1, Operator.HILL_CLIMB, 0.1, "hill", "faster\n\x1b]0;title\x07descent " + "very " * 30)
MACRO = replace(candidate(0, Operator.MACRO, 0.0, "macro", "search anew"), fault=CRASH)
CROSS = candidate(0, Operator.CROSSOVER, 0.45, "cross")

STORY: tuple[Fact, ...] = (
    RunStarted(settings=SETTINGS, versions={}, sandbox=("rlimits", "landlock", "seccomp")),
    StageEntered(stage="initial"),
    ProposalFailed(order="init/0", fault=Fault(kind=FaultKind.NO_PROGRAM, message="")),
    ProposalMade(order="init/1", program=PROGRAM, summary="first", call=CALL),
    episode(0),
    episode(1),
    InitialChosen(order="init/1", program=PROGRAM),
    StageEntered(stage="evaluator"),
    EvaluatorPoolScored(generation=0, pool=POOL),
    VoteCast(generation=0, seat=0, choice=0, reason="", call=CALL),
    EvaluatorChosen(generation=0, chosen=POOL[0], votes={"0": 2, "1": 1}, final=True),
    StageEntered(stage="search"),
    EliteChanged(generation=0, candidate="init/1", origin=Operator.INITIAL, fitness=0.375, success_rate=0.0),
    scored(CLIMB_1),
    CandidateAccepted(order=CLIMB_1.id, candidate=CLIMB_1.id, fitness=0.4, fitness_difference=0.025),
    RunPaused(),
    RunContinued(),
    scored(MACRO),
    BranchEnded(generation=1, operator=Operator.MACRO, winner=None, fitness=None),
    scored(CLIMB_2),
    CandidateRejected(
        order=CLIMB_2.id, candidate=CLIMB_2.id,
        rejection=Rejection(summary=CLIMB_2.summary, candidate=CLIMB_2.id, fitness_difference=-0.3, reason="lower"),
    ),
    BranchEnded(generation=1, operator=Operator.HILL_CLIMB, winner=CLIMB_1.id, fitness=0.4),
    scored(CROSS),
    EliteChanged(generation=1, candidate=CROSS.id, origin=Operator.CROSSOVER, fitness=0.45, success_rate=0.5),
    RunStopped(reason="stopped"),
    RunResumed(),
    EliteChanged(
        generation=2, candidate=CROSS.id, origin=Operator.CROSSOVER, fitness=0.45, success_rate=0.5, changed=False
    ),
    SearchEnded(elite=CROSS.id, program=PROGRAM, fitness=0.45, success_rate=0.5),
    StageEntered(stage="final"),
    FinalMeasured(episodes=4, initial_fitness=0.3, initial_success=0.0, elite_fitness=0.5, elite_success=0.25),
    StageEntered(stage="done"),
)
