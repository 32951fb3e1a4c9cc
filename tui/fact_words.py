"""Any fact in one line: its words, without its kind and order, for all displays. Pure."""

import dataclasses

from ..core.events import (
    ArchiveChanged,
    AskedAgain,
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    ConstantsTried,
    Criticised,
    DuplicateFound,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EnvironmentRemembered,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorAttacked,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorHardened,
    EvaluatorMoved,
    EvaluatorPoolScored,
    Fact,
    FinalMeasured,
    GateDecided,
    HintGiven,
    InitialChosen,
    IslandsChanged,
    Migrated,
    PopulationChanged,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    ReplayDiffered,
    RobustMeasured,
    RolledAhead,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SaturationChecked,
    SearchEnded,
    ServiceNoted,
    SpeculationEnded,
    StageEntered,
    ToolAnswered,
    TuningEnded,
    TurnTaken,
    TwinTried,
    VoteCast,
    WhatIfBegun,
)
from ..core.faults import is_stopped
from ..core.text import (
    both,
    digits_apart,
    number,
    one_line,
    plural,
    share,
    success_and_return,
    two_digits,
    version_words,
)
from ..memory.evaluator_pools import hardened_words, moved_words
from ..memory.quality import conflict_words
from .words import (
    attack_words,
    domain_words,
    episode_outcome,
    fault_words,
    isolation,
    order_words,
)


def fact_words(fact: Fact) -> str:
    """What the fact says. Every fact has its words here; those of small ones are their plain fields."""
    for words_of in (_of_answers, _of_episodes, _of_evaluators, _of_search, _of_small_ones):
        words = words_of(fact)
        if words is not None:
            return words
    raise TypeError(f"the fact {type(fact).__name__} has no words")


def _of_answers(fact: Fact) -> str | None:
    match fact:
        case RunStarted():
            words = fact.settings
            what = f"{domain_words(words)} by {words.get('method')}, seed {words.get('seed')}"
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
        case ServiceNoted() | EnvironmentRemembered():
            return fact.text
    return None


def _of_episodes(fact: Fact) -> str | None:
    match fact:
        case EpisodeEnded(episode=episode):
            word = episode_outcome(episode)
            wrong = f"; {fault_words(episode.fault)}" if episode.fault else ""
            return f"{word}, {episode.steps} steps in {episode.wall_s:.1f} s, ended by {episode.ended_by}{wrong}"
        case ConstantsTried():
            mean = sum(fact.fitnesses) / max(1, len(fact.fitnesses))
            return f"f {mean:.3f} over {plural(len(fact.fitnesses), 'episode')}"
        case TuningEnded():
            tried = f"{plural(fact.tried, 'vector')} of {plural(len(fact.constants), 'constant')}"
            return f"{tried}, f {fact.before:.3f} -> {fact.fitness:.3f}: {fact.summary}"
        case RolledAhead():
            return f"{plural(fact.episodes, 'episode')} rolled out ahead, {fact.used} used, {fact.aborted} aborted"
        case EpisodeScored(score=score):
            return fault_words(score.fault) if score.fault else f"f {score.fitness:.3f}"
        case TwinTried():
            wrong = f"; {fault_words(fact.fault)}" if fact.fault else ""
            return f"f {number(fact.fitness)} on the cheap twin, {fact.steps} steps in {fact.wall_s:.1f} s{wrong}"
    return None


def _of_evaluators(fact: Fact) -> str | None:
    match fact:
        case EvaluatorExamined(examination=examination):
            if examination.fault:
                return fault_words(examination.fault)
            order = f"; {order_words(examination)}" if examination.order_pairs else ""
            return "f on T_0: " + " ".join(f"{score.fitness:.3f}" for score in examination.scores) + order
        case EvaluatorAttacked():
            return attack_words(fact.count)
        case EvaluatorHardened():
            return f"{fact.chosen.id}: {hardened_words(fact)}"
        case EvaluatorMoved():
            return moved_words(fact)
        case ProbesRecorded():
            return ", ".join(probe.name for probe in fact.probes)
        case EvaluatorPoolScored():
            valid = sum(entry.examination.valid for entry in fact.pool)
            return f"generation {fact.generation}: {valid} of {plural(len(fact.pool), 'evaluator')} valid"
        case VoteCast():
            return f"abstains: {fact.reason}" if fact.choice is None else f"for #{fact.choice}: {fact.reason}"
        case EvaluatorChosen():
            return f"{fact.chosen.id}{', frozen as E*' if fact.final else ''}"
    return None


def _of_search(fact: Fact) -> str | None:
    match fact:
        case CandidateScored(candidate=candidate):
            if is_stopped(candidate.fault):
                return fault_words(candidate.fault)
            if candidate.fault:
                return f"failed: {fault_words(candidate.fault)}"
            if candidate.bound is not None:
                return f"pruned: F is at most {number(candidate.bound)}"
            also = success_and_return(candidate.success_rate, candidate.mean_return)
            return f"F {candidate.fitness:.3f}{version_words(candidate.version)}{also}: {candidate.summary}"
        case CandidateAccepted():
            return f"F {fact.fitness:.3f} ({fact.fitness_difference:+.3f})"
        case CandidateRejected(rejection=rejection):
            moved = "" if rejection.fitness_difference is None else f" ({rejection.fitness_difference:+.3f})"
            return f"{rejection.reason}{moved}: {rejection.summary}"
        case BranchEnded():
            best = f"{fact.winner}, F {fact.fitness:.3f}" if fact.fitness is not None else "every candidate failed"
            return f"g{fact.generation} {fact.operator}: {best}"
        case GateDecided():
            return gate_words(fact)
        case EliteConfirmed():
            return f"g{fact.generation}: {confirmed_words(fact)}"
        case EliteChosen():
            return choice_words(fact)
        case SaturationChecked():
            return saturation_words(fact)
        case ArchiveChanged():
            return f"g{fact.generation}: {plural(len(fact.candidates), 'candidate')} remembered"
        case IslandsChanged():
            return f"g{fact.generation}: {'; '.join(islands_words(fact))}"
        case Migrated():
            return f"g{fact.generation}: {fact.candidate} is a parent of the crossovers of island {fact.target}"
        case EliteChanged():
            stays = "" if fact.changed else ", stays"
            by = version_words(fact.version)
            return f"g{fact.generation}: {fact.candidate} from {fact.origin}, F {fact.fitness:.3f}{by}{stays}"
        case FinalMeasured():
            success = both(fact.initial_success, fact.elite_success, share)
            fitness = "" if success else f"F {both(fact.initial_fitness, fact.elite_fitness, number)}"
            under = f", {fact.conditions} changes" if isinstance(fact, RobustMeasured) else ""
            return f"{f'success {success}' if success else fitness} over {plural(fact.episodes, 'episode')}{under}"
    return None


def _of_small_ones(fact: Fact) -> str | None:
    match fact:
        case (
            RunResumed() | RunPaused() | RunContinued() | RunStopped() | HintGiven() | ReplayDiffered() | StageEntered()
            | InitialChosen() | DuplicateFound() | SpeculationEnded() | PopulationChanged() | SearchEnded()
            | WhatIfBegun()
        ):
            return _plain_fields(fact)
    return None


def _plain_fields(fact: Fact) -> str:
    plain = {field.name: getattr(fact, field.name) for field in dataclasses.fields(fact) if field.name != "order"}
    return ", ".join(f"{name} {value}" for name, value in plain.items()
                     if isinstance(value, str | int | float | bool) and not _is_reference(value))


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and value.partition(":")[0] in ("program", "document")


def gate_words(fact: GateDecided) -> str:
    """What the gate decided on a candidate, in a line."""
    others = " and ".join(number(each) for each in fact.parent_fitnesses)
    compared = f"F {number(fact.fitness)} on the cheap twin, its parent {others}"
    if fact.passed:
        return f"passed the gate: {compared}"
    return f"stopped at the gate{', but rolled out as a check' if fact.audited else ''}: {compared}"


def islands_words(fact: IslandsChanged) -> list[str]:
    """The elite of every island and the slots that it had, in a few words each."""
    return [
        f"island {place}  F {number(fitness)}  {name}, {plural(slots, 'slot')} in g{fact.generation}"
        for place, (name, fitness, slots) in enumerate(zip(fact.elites, fact.fitnesses, fact.slots, strict=False), 1)
    ]


def confirmed_words(fact: EliteConfirmed) -> str:
    """The result of a comparison on fresh episodes, in a line."""
    verdict = "confirmed" if fact.confirmed else "not confirmed, the elite stays"
    chance = "" if fact.chance is None else f" (p = {fact.chance:.2g})"
    if fact.confirmed and fact.chance == 1.0:
        chance = " (no pair differs, so the search's episodes decide)"
    digits = digits_apart(fact.candidate_fitness, fact.elite_fitness)
    return (
        f"{fact.candidate} {verdict}: F {number(fact.candidate_fitness, digits=digits)} on"
        f" {plural(fact.episodes, 'fresh episode')}, the elite {number(fact.elite_fitness, digits=digits)}{chance}"
    )


def choice_words(fact: EliteChosen) -> str:
    """The result of the final choice, in a line."""
    stays = " stays" if fact.candidate == fact.elite else f" instead of {fact.elite}"
    digits = digits_apart(*(each.fitness for each in fact.ranking))
    met = ", ".join(
        f"{each.candidate} F {number(each.fitness, digits=digits)}"
        f"{'' if each.success_rate is None else f', success {share(each.success_rate)},'} on {each.episodes}"
        for each in fact.ranking
    )
    return f"{fact.candidate}{stays}, on fresh episodes: {met}"


def choice_conflict(fact: EliteChosen) -> str:
    """That the choice has a higher F and fewer successes than another program of it; "" where the two agree."""
    chosen = next((each for each in fact.ranking if each.candidate == fact.candidate), None)
    if chosen is None:
        return ""
    others = ((each.candidate, conflict_words(
        (each.fitness, chosen.fitness), (each.success_rate, chosen.success_rate)
    )) for each in fact.ranking)
    return next((f"against {name}, {words}" for name, words in others if words), "")


def elite_conflict(first: EliteChanged, elite: EliteChanged) -> str:
    """That F has risen since p_0 while success fell; "" where the two agree, or another evaluator is in use."""
    if first.version != elite.version:
        return ""
    return conflict_words((first.fitness, elite.fitness), (first.success_rate, elite.success_rate))


def final_conflict(fact: FinalMeasured) -> str:
    """That the elite has a higher F and fewer successes than p_0 on the same held-out episodes; "" for agreement."""
    return conflict_words(
        (fact.initial_fitness, fact.elite_fitness), (fact.initial_success, fact.elite_success)
    )


def saturation_words(fact: SaturationChecked) -> str:
    """What further starts of a perfect elite showed, in a line."""
    if not fact.joined:
        return (
            f"{fact.candidate} is perfect on {plural(fact.episodes, 'fresh start')} too: nothing is left to gain, the "
            "search ends"
        )
    return (
        f"{fact.candidate} is not perfect on {len(fact.joined)} of {plural(fact.episodes, 'fresh start')}: "
        f"the search goes on with {'it' if len(fact.joined) == 1 else 'them'}, F {number(fact.fitness)}"
    )


def look_words(fact: Criticised) -> str:
    """What a critic said about an episode, or why it said nothing."""
    said = f"“{one_line(fact.words, 160)}”" if fact.words else one_line(fact.problem, 160) or "its pictures are drawn"
    return f"critic on episode {fact.episode}: {said}"


def tool_words(fact: TurnTaken | ToolAnswered) -> str:
    """One turn of a conversation: what the model asked of a tool, or what the tool found."""
    if isinstance(fact, ToolAnswered):
        cpu = f", {two_digits(fact.cpu_s)} s of CPU time" if fact.cpu_s else ""
        if fact.episode is None or fact.score is None:
            return f"answered{cpu}"
        wrong = f"; {fault_words(fact.episode.fault)}" if fact.episode.fault else ""
        seen = f"f {fact.score.fitness:.3f}, {fact.episode.steps} steps{cpu}{wrong}"
        return f"practice episode {fact.episode.index}: {seen}"
    request = fact.request
    where = f" {request.whose} {request.number}" if request.whose else ""
    wrong = f": {one_line(request.problem, 100)}" if request.problem else ""
    return f"{request.tool or 'no usable reply'}{where}{wrong}"
