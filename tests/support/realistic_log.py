"""Generations of a search whose programs, prompts and replies are as long as real ones."""

from collections.abc import Iterator

from memento.core import order_ids
from memento.core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    ProposalMade,
)
from memento.core.operators import OPERATORS
from memento.core.order_ids import CROSS, HILL, MACRO, episode_id, score_id
from memento.core.recording_file import trajectory_key
from memento.core.values import Call, CandidateState, Document, Episode, Operator, Program, Rejection, Score, Usage

EPISODES = 3
PER_GENERATION = {HILL: 4, MACRO: 4, CROSS: 2}
PROMPT_LETTERS, PROGRAM_LETTERS = 30_000, 9_000
METRICS = ("max_approach", "max_grasp_lift", "max_transport", "final_arrangement", "steps", "cubes_at_target_end")


def generation(number: int, fitness: float) -> Iterator[Fact]:
    """One generation of a search: ten candidates, each with its episodes and scores."""
    serial = number * 100
    for branch, slots in PER_GENERATION.items():
        for slot in range(slots):
            serial += 1
            name = str(order_ids.candidate(number, branch, slot))
            yield proposal(name, serial)
            for index in range(EPISODES):
                yield episode(name, index)
                yield EpisodeScored(order=score_id(episode_id(name, index)), score=Score(
                    fitness=fitness, metrics=dict.fromkeys(METRICS, 0.123456789 + serial % 7)
                ))
            candidate = CandidateState(
                id=name, program=program(serial), operator=OPERATORS.of_word(branch), generation=number, slot=slot,
                parents=(climb_of(number - 1),), summary=summary(serial),
                fitness=fitness, metrics={metric: {"mean": 0.5, "min": 0.1, "max": 0.9} for metric in METRICS},
            )
            yield CandidateScored(order=name, candidate=candidate)
            if branch == HILL and slot:
                rejection = Rejection(summary=summary(serial), candidate=name, fitness_difference=-0.01, reason="lower")
                yield CandidateRejected(order=name, candidate=name, rejection=rejection)
            elif branch == HILL:
                yield CandidateAccepted(order=name, candidate=name, fitness=fitness, fitness_difference=0.001)
        yield BranchEnded(generation=number, operator=OPERATORS.of_word(branch), winner=name, fitness=fitness)
    yield EliteChanged(
        generation=number, candidate=climb_of(number), origin=Operator.HILL_CLIMB, fitness=fitness,
        success_rate=fitness,
    )


def climb_of(generation: int) -> str:
    """The first hill-climb proposal of a generation, which becomes its elite; p_0 of generation 0."""
    return str(order_ids.candidate(generation, HILL, 0) if generation else order_ids.initial(0))


def proposal(name: str, serial: int) -> ProposalMade:
    """A model's reply of realistic length."""
    prompt = Document(f"prompt {serial // 10} ".ljust(PROMPT_LETTERS, "p"))      # most hill-climb prompts are shared
    return ProposalMade(order=name, program=program(serial), summary=summary(serial), call=Call(
        model="offline", prompt=prompt, reply=Document(program(serial).text[:2000]),
        usage=Usage(input_tokens=9000, output_tokens=2500, cost_usd=0.02, latency_s=12.0),
    ))


def program(serial: int) -> Program:
    """A program that differs from all others."""
    return Program(f"# {serial}\nclass FrankaPolicy:\n" + "    x = 1\n" * (PROGRAM_LETTERS // 10))


def summary(serial: int) -> str:
    """The summary of an edit."""
    return f"RETREAT_HEIGHT: 0.05 -> {serial / 1000}; closed: When the fingers are closer than the cube is wide"


def episode(name: str, index: int) -> EpisodeEnded:
    """A rollout."""
    return EpisodeEnded(order=episode_id(name, index), episode=Episode(
        index=index, seed=index, steps=900, ended_by="horizon", success=False, wall_s=1.5,
        trajectory=trajectory_key(episode_id(name, index)),
        info={"goal_update": "achieved", "drawn": {f"friction_{k}": 0.9697289328057885 for k in range(8)}},
    ))
