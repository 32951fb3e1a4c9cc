"""Any fact in one line, for the log. Pure; a fact without its own format shows its plain fields."""

import dataclasses

from ...core.critic_events import Criticised
from ...core.events import (
    AskedAgain,
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    EliteChanged,
    EliteConfirmed,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorPoolScored,
    Fact,
    FinalMeasured,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    RunStarted,
    VoteCast,
)
from ...core.gate_events import GateDecided, TwinTried
from ...core.text import both, counted, number, one_line, share, success_and_return
from ...core.tuning_events import ConstantsTried, TuningEnded
from ...core.turn_events import ToolAnswered, TurnTaken
from ...core.values import is_stopped
from ..words import (
    confirmed_words,
    episode_outcome,
    fault_words,
    gate_words,
    isolation,
    look_words,
    order_words,
    tool_words,
)

LENGTH = 400
TROUBLE = frozenset({"ProposalFailed"})


def words_of(fact: Fact) -> str:
    """The content of the fact, without its kind and order."""
    return one_line(_words(fact), LENGTH)


def _words(fact: Fact) -> str:
    match fact:
        case RunStarted():
            words = fact.settings
            what = f"{words.get('domain')} by {words.get('method')}, seed {words.get('seed')}"
            return f"{what}; {isolation(fact.sandbox)}"
        case ProposalMade():
            usage = fact.call.usage
            return f"{fact.call.model} in {usage.latency_s:.1f} s: {fact.summary}"
        case AskedAgain():
            return f"{fact.call.model} is asked again: {fact.reason}"
        case TurnTaken() | ToolAnswered():
            return tool_words(fact)
        case Criticised():
            return look_words(fact)
        case ProposalFailed():
            return fault_words(fact.fault)
        case EpisodeEnded(episode=episode):
            word = episode_outcome(episode)
            wrong = f"; {fault_words(episode.fault)}" if episode.fault else ""
            return f"{word}, {episode.steps} steps in {episode.wall_s:.1f} s, ended by {episode.ended_by}{wrong}"
        case ConstantsTried():
            mean = sum(fact.fitnesses) / max(1, len(fact.fitnesses))
            return f"f {mean:.3f} over {counted(len(fact.fitnesses), 'episode')}"
        case TuningEnded():
            tried = f"{counted(fact.tried, 'vector')} of {counted(len(fact.constants), 'constant')}"
            return f"{tried}, f {fact.before:.3f} -> {fact.fitness:.3f}: {fact.summary}"
        case EpisodeScored(score=score):
            return fault_words(score.fault) if score.fault else f"f {score.fitness:.3f}"
        case EvaluatorExamined(examination=examination):
            if examination.fault:
                return fault_words(examination.fault)
            order = f"; {order_words(examination)}" if examination.order_pairs else ""
            return "f on T_0: " + " ".join(f"{score.fitness:.3f}" for score in examination.scores) + order
        case ProbesRecorded():
            return ", ".join(probe.name for probe in fact.probes)
        case EvaluatorPoolScored():
            valid = sum(entry.examination.valid for entry in fact.pool)
            return f"generation {fact.generation}: {valid} of {counted(len(fact.pool), 'evaluator')} valid"
        case VoteCast():
            return f"abstains: {fact.reason}" if fact.choice is None else f"for #{fact.choice}: {fact.reason}"
        case EvaluatorChosen():
            return f"{fact.chosen.id}{', frozen as E*' if fact.final else ''}"
        case CandidateScored(candidate=candidate):
            if is_stopped(candidate.fault):
                return fault_words(candidate.fault)
            if candidate.fault:
                return f"failed: {fault_words(candidate.fault)}"
            if candidate.bound is not None:
                return f"pruned: F is at most {number(candidate.bound)}"
            also = success_and_return(candidate.success_rate, candidate.mean_return)
            return f"F {candidate.fitness:.3f}{also}: {candidate.summary}"
        case CandidateAccepted():
            return f"F {fact.fitness:.3f} ({fact.fitness_difference:+.3f})"
        case CandidateRejected(rejection=rejection):
            moved = "" if rejection.fitness_difference is None else f" ({rejection.fitness_difference:+.3f})"
            return f"{rejection.reason}{moved}: {rejection.summary}"
        case BranchEnded():
            best = f"{fact.winner}, F {fact.fitness:.3f}" if fact.fitness is not None else "every candidate failed"
            return f"g{fact.generation} {fact.operator.value}: {best}"
        case TwinTried():
            wrong = f"; {fault_words(fact.fault)}" if fact.fault else ""
            return f"f {number(fact.fitness)} on the cheap twin, {fact.steps} steps in {fact.wall_s:.1f} s{wrong}"
        case GateDecided():
            return gate_words(fact)
        case EliteConfirmed():
            return f"g{fact.generation}: {confirmed_words(fact)}"
        case EliteChanged():
            stays = "" if fact.changed else ", stays"
            return f"g{fact.generation}: {fact.candidate} from {fact.origin.value}, F {fact.fitness:.3f}{stays}"
        case FinalMeasured():
            success = both(fact.initial_success, fact.elite_success, share)
            fitness = "" if success else f"F {both(fact.initial_fitness, fact.elite_fitness, number)}"
            return f"{f'success {success}' if success else fitness} over {counted(fact.episodes, 'episode')}"
    plain = {field.name: getattr(fact, field.name) for field in dataclasses.fields(fact) if field.name != "order"}
    return ", ".join(f"{name} {value}" for name, value in plain.items()
                     if isinstance(value, str | int | float | bool) and not _is_reference(value))


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.partition(":")[0] in ("program", "document")
