"""Facts as plain lines for a reader who follows a run. Pure: (fact, view with that fact, time) -> lines."""

from collections.abc import Callable, Mapping

from ..core.events import (
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    DuplicateFound,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EnvironmentRemembered,
    EvaluatorChosen,
    EvaluatorHardened,
    EvaluatorMoved,
    EvaluatorPoolScored,
    Fact,
    FinalMeasured,
    HintGiven,
    InitialChosen,
    IslandsChanged,
    Migrated,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    ReplayDiffered,
    RobustMeasured,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    SaturationChecked,
    ServiceNoted,
    StageEntered,
    ToolAnswered,
    TurnTaken,
)
from ..core.faults import Fault
from ..core.methods import CALIBRATE, branches_of, replies_in_turn
from ..core.operators import OPERATORS
from ..core.order_ids import CHOICE, CONDITIONS, CONFIRM, FINAL, SEARCH, STARTS, parse
from ..core.text import cost, digits_apart, number, one_line, plural, success_and_return, token_count, version_words
from ..core.values import EvaluatorCandidate, MethodBranch, Operator
from ..memory.activity import ActivityNote
from ..memory.evaluator_pools import hardened_words, moved_words
from ..memory.run_status import RunStatus, held_out_episodes
from ..memory.run_view import RunView, gain_of
from ..memory.slots import Slot
from .fact_words import (
    choice_conflict,
    choice_words,
    confirmed_words,
    elite_conflict,
    fact_words,
    final_conflict,
    saturation_words,
)
from .words import (
    coarse,
    domain_words,
    episodes_words,
    fault_words,
    isolation,
    left,
    of_islands,
    order_words,
    programs_asked,
    shares_words,
)

SUMMARY_LENGTH = 72
FAULT_LENGTH = 100
HINT_LENGTH = 200
WHY_LENGTH = 200


def lines_of(fact: Fact, view: RunView, *, now: float | None) -> tuple[str, ...]:
    """The lines for `fact`, which `view` already holds; without `now` (a run that is not live) without the time left.

    Most facts have no line: a later fact sums them up.
    """
    status = view.status
    match fact:
        case RunStarted():
            return _start_lines(fact)
        case RunResumed():
            layers = () if fact.sandbox is None else (isolation(fact.sandbox),)
            model = (f"the model is {one_line(fact.model, 80)} from here on",) if fact.model else ()
            return ("resumed: completed work is kept, open work is repeated", *model, *layers)
        case RunPaused():
            return ("paused: what is under way is finished, nothing new starts",)
        case RunContinued():
            return ("continued",)
        case HintGiven():
            return (f"   hint from the person who runs it: “{one_line(fact.text, HINT_LENGTH)}”",)
        case ReplayDiffered():
            return (f"   the prompt of {fact.asked} is not the recorded one: recorded replies are used in their order",)
        case RunStopped(reason="failed"):
            return ("failed: what is done is on record, resume continues it",)    # the command's own message follows
        case RunStopped():
            why = fact.why or ("a budget is spent; resume continues it" if fact.reason == "budget"
                               else "on request; resume continues it")
            return (f"stopped: {why}",)
        case ProposalFailed(prompt_room=room) if room:
            return (
                f"   {fact.order}  no program: {_fault(fact.fault)}",
                f"   prompts have at most {room:,} characters from now on: episodes are shortened, then past attempts",
            )
        case ProposalMade(left_out=parts) if parts:
            return (f"   {fact.order}  its prompt had no room for {'; '.join(parts)}",)
        case ServiceNoted() | EnvironmentRemembered():
            return (f"   {fact.text}",)
        case StageEntered():
            return _stage(fact.stage, status)
        case InitialChosen():
            return ("   the first policy p_0 works; its episodes are recorded",)
        case ProposalFailed() if parse(fact.order or "").stage != SEARCH:
            return (f"   {fact.order}  no program: {_fault(fact.fault)}",)
        case ProbesRecorded():
            return (f"   {plural(len(fact.probes), 'probe')} on record, on which evaluators are compared",)
        case EvaluatorHardened():
            return (f"   {hardened_words(fact)}",)
        case EvaluatorMoved():
            return _move_lines(fact)
        case EvaluatorPoolScored():
            return tuple(_evaluator(entry, moves=status.elite is not None) for entry in fact.pool)
        case EvaluatorChosen():
            return _choice_lines(fact)
        case CandidateScored() if fact.candidate.operator is not Operator.HILL_CLIMB:
            return (_candidate(view.slots.candidates[fact.candidate.id], status, _to_the_elite(fact, status)),)
        case CandidateAccepted() | CandidateRejected():
            return (_verdict(view.slots.candidates[fact.candidate], status),)
        case BranchEnded() if fact.winner is None:
            return (f"   {_word(status, fact.operator)}: every candidate failed",)
        case DuplicateFound():
            return (f"   {fact.candidate}: the same program as {fact.of}, whose F it has",)
        case IslandsChanged() | Migrated():
            return (f"   {fact_words(fact)}",)
        case EliteConfirmed():
            return (f"   {confirmed_words(fact)}",)
        case EliteChosen():
            return (f"   the choice: {choice_words(fact)}", *_noted(choice_conflict(fact)))
        case SaturationChecked():
            return (f"   {saturation_words(fact)}",)
        case EliteChanged():
            first = view.slots.elites[0] if view.slots.elites else fact
            return (*_elite(fact, status, now), *(_noted(elite_conflict(first, fact)) if fact.changed else ()))
        case RobustMeasured():
            return (f"   under {fact.conditions} changes of the conditions:", *_final(fact))
        case FinalMeasured():
            return _final(fact)
        case TurnTaken() | ToolAnswered() if status.settings.get("model") == "offline":
            return ()               # hundreds, of which no line tells more than that of their candidate
    return () if fact.line_begins is None else (f"   {fact.line_begins}  {fact_words(fact)}",)


DOING = {
    CHOICE: "choosing among the best programs on fresh episodes",
    CONFIRM: "comparing the best program with the elite on fresh episodes",
    STARTS: "trying the elite on further starts",
}


def still_working(status: RunStatus, *, now: float, note: ActivityNote | None = None) -> str:
    """The progress line for a while without other lines; `note` has the open orders."""
    if status.stage == FINAL:
        measured = status.episodes - status.search_episodes
        return f"   … {measured} of {plural(held_out_episodes(status), 'held-out episode')}"
    stages = {parse(order).stage for order, _ in note.orders} if note is not None else set()
    doing = next((words for stage, words in DOING.items() if stage in stages), "")
    where = f"generation {status.generation_under_way}" if status.stage == "search" else ""
    where = f"{doing or where}, " if doing or where else ""
    calls = status.spending.total.calls
    counts = f"{episodes_words(status)}, {plural(calls, 'model call')} so far"
    return f"   … {where}{counts}{_spent(status)}{_left(status, now)}"


def waiting(note: ActivityNote, status: RunStatus, retried: Callable[[str], str] = lambda order: "") -> str:
    """The line for a while without any change: the number of open orders, and the time since the oldest started.

    `retried` gives the words on an order whose model call is tried again, or "".
    """
    if status.status == "paused":
        return "   … paused"
    if not status.stage:
        began = note.at if status.began is None else status.began
        return f"   … starting: the clients of models and the workers, for {coarse(note.at - began)}"
    orders = sorted(note.orders, key=lambda order: order[1])
    if not orders:
        return "   … nothing is under way"
    named = [parse(order) for order, _ in orders]
    calls = sum(each.episode is None and each.vector is None for each in named)
    what = [plural(many, word) for many, word in ((calls, "answer"), (len(orders) - calls, "rollout")) if many]
    oldest, since = orders[0]
    why = f"; {one_line(again, WHY_LENGTH)}" if (again := retried(oldest)) else ""
    return f"   … waiting for {' and '.join(what)}; the oldest is {oldest}, for {coarse(note.at - since)}{why}"


# ------------------------------------------------------------------------------------- start and stages


def _start_lines(fact: RunStarted) -> tuple[str, ...]:
    settings = fact.settings
    model = settings.get("model")
    lines = [
        f"{domain_words(settings)} by {settings.get('method')}, preset {settings.get('preset')}, "
        f"seed {settings.get('seed')}, up to {settings.get('workers')} rollouts at once, model {model}"
    ]
    lines.append(shares_words(settings))
    options = settings.get("options")
    if isinstance(options, Mapping) and options.get("high_is_guess"):
        lines.append(f"F of a return is scaled by a guess of a good one, gym.high = {options.get('high'):.4g}")
    if model == "offline":
        lines.append("no language model: programs are built and varied by the embedded offline mutator, "
                     "which demonstrates the machinery, not language models; --model selects one")
    elif (waits := replies_in_turn(settings)) > 1:
        width = settings.get("climb_width")
        lines.append(f"each generation waits for {waits} replies, one after another (climb_width = {width})")
    return (*lines, *(f"not isolated: {each} runs with your rights" for each in programs_asked(settings)),
            isolation(fact.sandbox))


def _stage(stage: str, status: RunStatus) -> tuple[str, ...]:
    def many(key: str, word: str) -> str:
        return plural(status.number(key), word)

    branches = ", ".join(
        plural(branch.slots, branch.what)
        + (f" over {many('tune_episodes', 'episode')}{_tuning_when(status)}"
           if Operator.TUNE in branch.operators else "")
        for branch in branches_of(status.settings)
    )
    evaluator = status.settings.get("evaluator")
    evolved = (
        f"an evaluator, evolved: {many('evaluator_generations', 'generation')} of "
        f"{many('evaluator_pool', 'program')}, {many('evaluator_judges', 'judge')}"
    )
    if status.elite is not None and stage in ("evaluator", "search"):
        evolved = (
            f"another evaluator, evolved from version {status.version}: "
            f"{plural(max(1, status.number('evaluator_generations') - 1), 'generation')} of "
            f"{many('evaluator_pool', 'program')}, {many('evaluator_judges', 'judge')}"
        )
        again = f"policies, from generation {status.generation_under_way} on, by version {status.version}"
        return ("", f"== {evolved if stage == 'evaluator' else again}")
    titles = {
        "initial": f"a first policy p_0, rolled out over {many('n_roll', 'episode')}",
        "evaluator": evolved if evaluator == "evolve" else f"an evaluator: {evaluator}",
        "hardening": f"attacks on the chosen evaluator, {many('evaluator_attacks', 'round')} at most",
        "search": f"policies: {many('generations', 'generation')} of {branches}{of_islands(status.settings)}",
        "final": f"p_0 and the elite on {many('final_episodes', 'episode')} held out from the search{_robust(status)},"
                 " by the reference evaluator",
    }
    return ("", f"== {titles[stage]}") if stage in titles else ()


def _robust(status: RunStatus) -> str:
    """Under which conditions they are repeated, where they are."""
    again = status.settings.get("robust") == "on"
    return f", also under {' and '.join(CONDITIONS)} changes of their conditions" if again else ""


def _tuning_when(status: RunStatus) -> str:
    """Which generations tune constants, where not all do."""
    tuned, generations = status.number("tune_generations"), status.number("generations")
    if not tuned or tuned >= generations:
        return ""
    return " in generation 2" if tuned == 1 else f" in generations 2 to {tuned + 1}"


# ------------------------------------------------------------------------------------------- evaluators


def _evaluator(entry: EvaluatorCandidate, *, moves: bool) -> str:
    head = f"   evaluator {entry.generation}/{entry.slot}"
    if entry.examination.fault is not None:
        return f"{head}  invalid: {_fault(entry.examination.fault)}"
    scores = [score.fitness for score in entry.examination.scores]
    order = "" if not entry.examination.order_pairs else f"  {order_words(entry.examination)}"
    tried = "T" if moves else "T_0"
    return f"{head}  f on {tried}: {' '.join(f'{score:.3f}' for score in scores)}{order}{_summary(entry.summary)}"


def _choice_lines(fact: EvaluatorChosen) -> tuple[str, ...]:
    frozen = "; frozen as E*" if fact.final else ""
    if fact.votes:
        votes = ", ".join(f"{count} for #{slot}" for slot, count in fact.votes.items())
        return (f"   chosen: evaluator {fact.chosen.generation}/{fact.chosen.slot} by vote, {votes}{frozen}",)
    again = " again, no other was chosen" if fact.chosen.carried_over else ""
    return (f"   chosen: {fact.chosen.id}{again}{frozen}",)


def _move_lines(fact: EvaluatorMoved) -> tuple[str, ...]:
    lines = [f"   the evaluator {'moves to ' if fact.moved else ''}{moved_words(fact)}"]
    if fact.moved:
        lines.append(f"   the elite {fact.elite} has F {number(fact.fitness)}{version_words(fact.version)} now")
    return (*lines,)


# --------------------------------------------------------------------------------------------- policies


def _verdict(slot: Slot, status: RunStatus) -> str:
    gained = "" if slot.difference is None else f" ({_signed(slot.difference)} to its parent)"
    return _candidate(slot, status, f"{gained} {'accepted' if slot.accepted else 'rejected'}")


def _to_the_elite(fact: CandidateScored, status: RunStatus) -> str:
    if status.elite is None:
        return ""
    return f" ({_signed(fact.candidate.fitness - status.elite.fitness)} to the elite)"


def _signed(difference: float) -> str:
    """A difference of F, with more digits where three hide it."""
    return f"{difference:+.{digits_apart(0.0, difference)}f}"


def _candidate(slot: Slot, status: RunStatus, verdict: str) -> str:
    operator = slot.operator or Operator.INITIAL
    branch = _branch_of(status, operator)
    of = f" of {branch.slots}" if branch is not None and not slot.island else ""
    head = f"   {slot.id:<10}  {_word(status, operator)} {slot.place + 1}{of}"
    if slot.fault is not None and slot.state == "stopped":
        return f"{head}  {fault_words(slot.fault, FAULT_LENGTH)}{_summary(slot.summary)}"
    if slot.fault is not None:
        return f"{head}  failed: {_fault(slot.fault)}{_summary(slot.summary)}"
    if slot.bound is not None:
        verdict = "" if slot.accepted is None else verdict
        return f"{head}  pruned: F cannot exceed {number(slot.bound)}{verdict}{_summary(slot.summary)}"
    if _is_ungraded(slot.fitness, status):
        return f"{head}{success_and_return(slot.success_rate, slot.mean_return, before='  ')}{_summary(slot.summary)}"
    also = success_and_return(slot.success_rate, slot.mean_return, before="  ")
    return f"{head}  F {number(slot.fitness)}{verdict}{also}{_summary(slot.summary)}"


def _is_ungraded(fitness: float | None, status: RunStatus) -> bool:
    """Whether F says nothing: E_R, which measures the trials of a calibration, always returns 0."""
    return status.settings.get("method") == CALIBRATE and not fitness


def _word(status: RunStatus, operator: Operator) -> str:
    branch = _branch_of(status, operator) if operator is Operator.INITIAL else None
    return OPERATORS[operator].branch if branch is None else branch.label


def _branch_of(status: RunStatus, operator: Operator) -> MethodBranch | None:
    """The branch of an operator's candidates; None for one that the run's method is not known to have."""
    return next((branch for branch in branches_of(status.settings) if operator in branch.operators), None)


def _elite(fact: EliteChanged, status: RunStatus, now: float | None) -> tuple[str, ...]:
    by = version_words(fact.version)
    graded = "" if _is_ungraded(fact.fitness, status) else f"  F {number(fact.fitness)}{by}"
    if fact.generation == 0:
        return (f"   elite: p_0{graded}{_also(fact)}",)
    before = status.elite_before
    gain = gain_of(fact, before)
    gained = f" ({_signed(gain)})" if gain is not None and graded else ""
    what = f"new elite from {fact.origin}: {fact.candidate}" if fact.changed else "the elite stays"
    return (
        f"-- generation {fact.generation} of {status.number('generations')}: {what}{graded}{gained}"
        f"{_also(fact)}{_spent(status)}{_left(status, now)}",
    )


def _final(fact: FinalMeasured) -> tuple[str, ...]:
    def words(fitness: float | None, success: float | None, mean_return: float | None) -> str:
        graded = "" if fitness is None else f"  F {number(fitness)}"
        return f"{graded}{success_and_return(success, mean_return, before='  ')}"

    return (
        f"   p_0  {words(fact.initial_fitness, fact.initial_success, fact.initial_return)}",
        f"   elite{words(fact.elite_fitness, fact.elite_success, fact.elite_return)}", *_noted(final_conflict(fact)),
    )


def _noted(words: str) -> tuple[str, ...]:
    return (f"   NOTE: {words}",) if words else ()


def _also(fact: EliteChanged) -> str:
    return success_and_return(fact.success_rate, fact.mean_return, before="  ")


# ------------------------------------------------------------------------------------------ small words


def _spent(status: RunStatus) -> str:
    """The cost of language models so far; empty for a run without cost."""
    total = status.spending.total
    return f"  {token_count(total.tokens, total.cached_tokens)}, {cost(total.cost_usd)} so far" if total.tokens else ""


def _left(status: RunStatus, now: float | None) -> str:
    words = "" if now is None else left(status, now=now)
    return f"  {words}" if words else ""


def _summary(summary: str) -> str:
    return f"  “{one_line(summary, SUMMARY_LENGTH)}”" if summary.strip() else ""


def _fault(fault: Fault) -> str:
    return f"{fault.kind}, {one_line(fault.message, FAULT_LENGTH)}" if fault.message else str(fault.kind)
