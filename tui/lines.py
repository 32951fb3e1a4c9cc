"""Facts as plain lines for a person who reads along. Pure: (fact, view before, view after, time) -> lines."""

from ..core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EvaluatorChosen,
    EvaluatorPoolScored,
    Fact,
    FinalMeasured,
    InitialChosen,
    ProposalFailed,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    StageEntered,
)
from ..core.methods import branch_of, branches_of
from ..core.values import Candidate, EvaluatorCandidate, Fault, Operator
from .view import View, time_left_s

SUMMARY_LENGTH = 72
FAULT_LENGTH = 100
GUARDS = {"landlock": "reach your files", "seccomp": "use the network and start programs"}  # layer: without it
_OPERATORS = {Operator.HILL_CLIMB: "hill-climb", Operator.MACRO: "macro", Operator.CROSSOVER: "crossover"}


def lines_of(fact: Fact, view: View, *, now_s: float | None) -> tuple[str, ...]:
    """What to say of `fact`, once `view` holds it; without a time (a run that is read) nothing of the time left.

    Most facts say nothing: the ones that follow sum them up.
    """
    match fact:
        case RunStarted():
            return _started(fact)
        case RunResumed():
            layers = () if fact.sandbox is None else (isolation(fact.sandbox),)
            return ("resumed: what was done is kept, what was open is done again", *layers)
        case RunPaused():
            return ("paused: what is under way ends, nothing new begins",)
        case RunContinued():
            return ("continued",)
        case RunStopped():
            return (f"left: {'a budget is spent' if fact.reason == 'budget' else 'asked to stop'}; nothing is lost",)
        case StageEntered():
            return _stage(fact.stage, view)
        case InitialChosen():
            return ("   p_0 is settled, its rollouts T_0 are recorded",)
        case ProposalFailed() if not (fact.order or "").startswith("g"):
            return (f"   {fact.order}  no program: {_fault(fact.fault)}",)
        case EvaluatorPoolScored():
            return tuple(_evaluator(entry) for entry in fact.pool)
        case EvaluatorChosen():
            return _chosen(fact)
        case CandidateScored() if fact.candidate.operator is not Operator.HILL_CLIMB:
            return (_candidate(fact.candidate, view, ""),)
        case CandidateAccepted():
            return (_verdict(fact.candidate, view, "accepted", fact.fitness_difference),)
        case CandidateRejected():
            return (_verdict(fact.candidate, view, "rejected", fact.rejection.fitness_difference),)
        case BranchEnded() if fact.winner is None:
            return (f"   {_word(view, fact.operator)}: every candidate failed",)
        case DuplicateFound():
            return (f"   {fact.candidate}: the same program as {fact.of}, not rolled out again",)
        case EliteChanged():
            return _elite(fact, view, now_s)
        case FinalMeasured():
            return _final(fact)
    return ()


def still_working(view: View, *, now_s: float) -> str:
    """What to say where nothing was said for a while."""
    where = f"generation {view.generation}, " if view.stage == "search" else ""
    counts = f"{counted(view.episodes, 'episode')}, {counted(view.model_calls, 'model call')} so far"
    return f"   … {where}{counts}{_spent(view)}{_left(view, now_s)}"


# ------------------------------------------------------------------------------------- start and stages


def _started(fact: RunStarted) -> tuple[str, ...]:
    settings = fact.settings
    model = settings.get("model")
    lines = [
        f"{settings.get('domain')} by {settings.get('method')}, preset {settings.get('preset')}, "
        f"seed {settings.get('seed')}, up to {settings.get('workers')} rollouts at once, model {model}"
    ]
    if model == "offline":
        lines.append("no language model: programs are built and varied by the embedded offline mutator, "
                     "which shows the machinery and proves nothing about language models; --model takes one")
    return (*lines, isolation(fact.sandbox))


def isolation(sandbox: tuple[str, ...]) -> str:
    """Which layers stood between generated programs and this machine, and what is missing."""
    missing = [risk for layer, risk in GUARDS.items() if layer not in sandbox]
    live = f"isolation: {', '.join(sandbox) or 'none'}"
    if not missing:
        return live
    return f"{live}. NOT ISOLATED: generated programs can {' and '.join(missing)}; see memento doctor"


def _stage(stage: str, view: View) -> tuple[str, ...]:
    def many(key: str, word: str) -> str:
        return counted(view.number(key), word)

    branches = ", ".join(counted(branch.slots, branch.what) for branch in branches_of(view.settings))
    evaluator = view.settings.get("evaluator")
    evolved = (
        f"an evaluator, evolved: {many('evaluator_generations', 'generation')} of "
        f"{many('evaluator_pool', 'program')}, {many('evaluator_judges', 'judge')}"
    )
    titles = {
        "initial": f"a first policy p_0, rolled out over {many('n_roll', 'episode')}",
        "evaluator": evolved if evaluator == "evolve" else f"an evaluator: {evaluator}",
        "search": f"policies: {many('generations', 'generation')} of {branches}",
        "final": f"p_0 and the elite on {many('final_episodes', 'episode')} that the search never saw",
    }
    return ("", f"== {titles[stage]}") if stage in titles else ()


# ------------------------------------------------------------------------------------------- evaluators


def _evaluator(entry: EvaluatorCandidate) -> str:
    head = f"   evaluator {entry.generation}/{entry.slot}"
    if entry.examination.fault is not None:
        return f"{head}  invalid: {_fault(entry.examination.fault)}"
    scores = [score.fitness for score in entry.examination.scores]
    return f"{head}  f on T_0: {' '.join(f'{score:.3f}' for score in scores)}{_summary(entry.summary)}"


def _chosen(fact: EvaluatorChosen) -> tuple[str, ...]:
    frozen = "; frozen as E*" if fact.final else ""
    if fact.votes:
        votes = ", ".join(f"{count} for #{slot}" for slot, count in fact.votes.items())
        return (f"   chosen: evaluator {fact.chosen.generation}/{fact.chosen.slot} by vote, {votes}{frozen}",)
    again = " again, no other is valid" if fact.chosen.carried_over else ""
    return (f"   chosen: {fact.chosen.id}{again}{frozen}",)


# --------------------------------------------------------------------------------------------- policies


def _verdict(candidate_id: str, view: View, verdict: str, difference: float | None) -> str:
    candidate = view.candidates[candidate_id]
    gained = "" if difference is None else f" ({difference:+.3f})"
    return _candidate(candidate, view, f"{gained} {verdict}")


def _candidate(candidate: Candidate, view: View, verdict: str) -> str:
    slots = branch_of(view.settings, candidate.operator).slots
    head = f"   g{candidate.generation} {_word(view, candidate.operator):<10} {candidate.slot + 1}/{slots}"
    if candidate.fault is not None:
        return f"{head}  failed: {_fault(candidate.fault)}{_summary(candidate.summary)}"
    if candidate.bound is not None:
        ran = f"cut: F cannot exceed {candidate.bound:.3f}"
        return f"{head}  {ran}{verdict}{_summary(candidate.summary)}"
    if not verdict and view.elite is not None:
        verdict = f" ({candidate.fitness - view.elite.fitness:+.3f} to the elite)"
    success = f"  success {100 * candidate.success_rate:.0f} %" if candidate.success_rate else ""
    return f"{head}  F {candidate.fitness:.3f}{verdict}{success}{_summary(candidate.summary)}"


def _word(view: View, operator: Operator) -> str:
    return _OPERATORS.get(operator) or branch_of(view.settings, operator).label


def _elite(fact: EliteChanged, view: View, now_s: float | None) -> tuple[str, ...]:
    if fact.generation == 0:
        return (f"   elite: p_0  F {fact.fitness:.3f}  success {100 * fact.success_rate:.0f} %",)
    before = view.elite_before
    gained = "" if before is None else f" ({fact.fitness - before.fitness:+.3f})"
    what = f"new elite from {fact.origin}: {fact.candidate}" if fact.changed else "the elite stays"
    return (
        f"-- generation {fact.generation} of {view.number('generations')}: {what}  F {fact.fitness:.3f}{gained}"
        f"  success {100 * fact.success_rate:.0f} %{_spent(view)}{_left(view, now_s)}",
    )


def _final(fact: FinalMeasured) -> tuple[str, ...]:
    def say(fitness: float | None, success: float) -> str:
        graded = "" if fitness is None else f"F {fitness:.3f}  "
        return f"{graded}success {100 * success:.0f} %"

    return (
        f"   p_0    {say(fact.initial_fitness, fact.initial_success)}",
        f"   elite  {say(fact.elite_fitness, fact.elite_success)}",
    )


# ------------------------------------------------------------------------------------------ small words


def _spent(view: View) -> str:
    """What language models have cost so far; nothing to say of a run that pays nobody."""
    if not view.tokens:
        return ""
    cost = "price unknown" if view.cost_usd is None else f"${view.cost_usd:.2f}"
    return f"  {view.tokens:,} tokens, {cost} so far"


def _left(view: View, now_s: float | None) -> str:
    left_s = None if now_s is None else time_left_s(view, now_s=now_s)
    if left_s is None:
        return ""
    if left_s < 90:
        return f"  about {max(1, round(left_s / 10)) * 10} s left"
    if left_s < 5400:
        return f"  about {round(left_s / 60)} min left"
    return f"  about {left_s / 3600:.1f} h left"


def _summary(summary: str) -> str:
    return f"  “{one_line(summary, SUMMARY_LENGTH)}”" if summary.strip() else ""


def _fault(fault: Fault) -> str:
    return f"{fault.kind}, {one_line(fault.message, FAULT_LENGTH)}" if fault.message else str(fault.kind)


def counted(number: int, word: str) -> str:
    """A number with its noun: 1 judge, 3 judges."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def one_line(text: str, length: int = FAULT_LENGTH) -> str:
    """One bounded line of printable characters: the text comes from a candidate and may hold anything."""
    flat = "".join(letter if letter.isprintable() else " " for letter in " ".join(text.split()))
    return flat if len(flat) <= length else flat[: length - 1] + "…"
