"""What was tried before, in words for a prompt: the lineage of a program, and edits that did not stay. As data."""

import re
from collections.abc import Collection, Sequence

from ..core.figures import REGULAR_ENDS, figure_of
from ..core.operators import OPERATORS
from ..core.order_ids import parse
from ..core.text import one_line, plural
from ..core.values import Ancestor, CandidateState, Change, Operator, Rejection, Verdict
from .episode_table import report_words
from .figure_text import figure_words

MAX_SUMMARY = 200  # characters of an edit summary in a prompt
MAX_BRIEF = 100  # of one in a list that is only an overview
MAX_REASON = 240
MAX_REPORT = 160  # characters of what a rejected program reported
MAX_REJECTIONS = 60
MAX_TRIED = 30  # attempts at a parent that macro-mutations and crossovers see
ROOM_FOR_MORE = 40  # characters of the words on what a cut list leaves out
MAX_STAGE = 24  # characters of the stage in which an episode ended
MAX_PARTS = 3  # changed parts of a program that a rejected edit names,
MAX_PART = 60  # characters of each
_CONSTANT = re.compile(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b")  # a constant that a summary names
MAX_ASIDE = 4  # rejected edits that the history names for each ancestor


def rejections_list(rejections: Sequence[Rejection], *, full: bool = False) -> str:
    """The rejection memory H, oldest first: edit summaries only, or in `full` with what each edit did to F."""
    places = {rejection.candidate: number for number, rejection in enumerate(rejections, start=1)}
    return _with_numbers(rejections, places, MAX_REJECTIONS, MAX_SUMMARY, full=full)


def tried_list(
    tried: Sequence[Rejection], parents: Sequence[CandidateState], others: Sequence[CandidateState] = ()
) -> str:
    """The edits of these parents that did not stay, and those of programs beside them, in short; "" for none.

    Edits of their ancestors are counted in their history, `others` have a separate list. A small edit of constants
    that no parent has is left out: it says nothing of these programs.
    """
    names = {parent.id for parent in parents}
    ancestors = _kept(parents) - names
    shown = _kept(parents) | {other.id for other in others}
    found = [one for one in tried if one.edited not in ancestors and one.candidate not in shown
             and (one.edited in names or _concerns(one, parents))]
    return _with_numbers(found, {}, MAX_TRIED, MAX_BRIEF, full=True, own=names)


def _concerns(rejection: Rejection, parents: Sequence[CandidateState]) -> bool:
    """Whether one of these programs has one of the constants that a small edit changed, where it changed any."""
    named = {part.rpartition(".")[2] for part in rejection.touched} | {*_CONSTANT.findall(rejection.summary)}
    constants = [name for name in named if name.isupper()]
    if rejection.operator is not Operator.HILL_CLIMB or not constants:
        return True
    return any(re.search(rf"\b{name}\b", parent.program.text) for name in constants for parent in parents)


def others_beside(others: Sequence[CandidateState], parents: Sequence[CandidateState]) -> list[CandidateState]:
    """Those of the programs that are no parent, and from which no parent descends."""
    kept = _kept(parents)
    return [one for one in others if one.id not in kept]


def others_list(others: Sequence[CandidateState]) -> str:
    """Good programs of other structures, a line each: their figure and what they do."""
    return "\n".join(
        f"{_label(one.lineage[-1]):<20}{figure_words(figure_of(one))}  {_summary(one.summary, MAX_SUMMARY)}"
        for one in others
    )


def _kept(parents: Sequence[CandidateState]) -> set[str]:
    """The programs themselves, and those that they descend from."""
    return {parent.id for parent in parents} | {one.id for parent in parents for one in parent.lineage}


def tried_earlier(tried: Sequence[Rejection], current: CandidateState, shown: Sequence[Rejection]) -> str:
    """The attempts before this chain began, at its program and beside it; "" for none. `shown` are of the chain."""
    known = {one.candidate for one in shown}
    return tried_list([one for one in tried if one.candidate not in known], [current])


def history(candidate: CandidateState, tried: Sequence[Rejection] = ()) -> str:
    """The edits that led to a candidate, oldest first, with F before and after; "" where it has none.

    `tried` are edits that were rejected; each is counted at the ancestor that it edited.
    """
    lines: list[str] = []
    kept = _kept([candidate])
    for place, ancestor in enumerate(candidate.lineage):
        change = _change(ancestor) if ancestor.version == candidate.version else BY_ANOTHER
        if candidate.fresh is not None and ancestor.id == candidate.id:
            change += f", now {figure_words(figure_of(candidate))}"
        lines.append(f"{_label(ancestor):<20}{change}  {_summary(ancestor.summary, MAX_SUMMARY)}")
        aside = [one for one in tried if one.edited == ancestor.id and one.candidate not in kept]
        if aside and place + 1 < len(candidate.lineage):  # those of the program itself have a separate list
            lines.append(f"{'':<20}{_aside(aside)}")
    return "\n".join(lines)


def verdict_in_words(rejection: Rejection, places: dict[str, int]) -> str:
    """What became of a rejected edit: it failed, it repeats an earlier one, it lowered F, or another was fitter."""
    change = rejection.fitness_difference
    if rejection.verdict is Verdict.NOT_CHOSEN:
        return "; ".join(filter(None, (
            _less_fit(rejection), _most_changed(rejection), _idle(rejection), _report_of(rejection)
        )))
    if rejection.verdict is Verdict.REPLACED:
        return "; ".join(filter(None, (f"rejected by an earlier evaluator: {RETRY}", _report_of(rejection))))
    if rejection.verdict is Verdict.SAME:
        number = places.get(rejection.same_as)
        return f"the same program as {'an earlier one' if number is None else f'number {number}'}, with the same F"
    if rejection.verdict is Verdict.STOPPED:
        return f"not rolled out, {one_line(rejection.reason, MAX_REASON)}"
    if rejection.verdict is Verdict.FAILED or change is None:
        return f"failed: {one_line(rejection.reason, MAX_REASON)}"
    words = [f"{_fitness(rejection)} lower by {-change:.4f}" if change < 0 else _beside(rejection, change)]
    if rejection.rose or rejection.fell:
        words.append(f"f_e fell in {rejection.fell} and rose in {rejection.rose} episodes")
    words.append(_most_changed(rejection))
    error = rejection.standard_error
    if error is not None and abs(change) < error:
        words.append(f"less than the standard error of the difference, {error:.4f}: it may be chance")
    if rejection.reason and rejection.reason != LOWER and change < 0:
        words.append(one_line(rejection.reason, MAX_REASON))
    return "; ".join(filter(None, (*words, _report_of(rejection))))


def _beside(rejection: Rejection, change: float) -> str:
    """Of an edit that lost to another one of its step of a wide climb, not to the program that it edited."""
    how = f"higher by {change:.4f}" if change else "the same"
    return (f"{_fitness(rejection)} {how}; another edit of the same program, asked for together, was taken: this "
            "one may be made again on top of it")


RETRY = "it may be worth another try"
BY_ANOTHER = "kept by an earlier evaluator"
IDLE = "it changed nothing in any episode"
LOWER = "lower fitness"  # the reason of a rejection that has no other


def _less_fit(rejection: Rejection) -> str:
    """How a program of a generation compares with the one that was chosen, on fresh episodes if it met any."""
    difference, fresh = rejection.fitness_difference, rejection.fresh
    met = "" if fresh is None else (
        f"{fresh.rejected:.4f} against {fresh.chosen:.4f} on {plural(fresh.episodes, 'fresh episode')}"
    )
    if difference is None:
        return ", ".join(filter(None, ("another program of that generation was fitter", met)))
    if difference > 0:
        more = f"{_fitness(rejection)} higher by {difference:.4f} on the search's episodes than that of the program "
        return f"{more}that was chosen, but {met or 'it met no fresh one, so that this may be chance'}"
    if difference == 0:
        words = f"{_fitness(rejection)} the same as that of the program of that generation that was chosen"
    else:
        words = f"{_fitness(rejection)} lower by {-difference:.4f} than that of the program that was chosen"
    return f"{words}, {met}" if met else words


def _most_changed(rejection: Rejection) -> str:
    """The episodes in which f_e changed most, and how they ended; "" for none."""
    return "most in " + ", ".join(map(_of_episode, rejection.changes)) if rejection.changes else ""


def _fitness(rejection: Rejection) -> str:
    return "F" if rejection.fitness is None else f"F {rejection.fitness:.4f},"


def _idle(rejection: Rejection) -> str:
    return IDLE if rejection.idle else ""


def _report_of(rejection: Rejection) -> str:
    """What the program itself said of one episode; "" for nothing."""
    words = report_words(rejection.report, MAX_REPORT)
    return f"it reported of episode {rejection.reported_in}: {words}" if words else ""


def _of_episode(change: Change) -> str:
    """One episode of a rejected edit: f_e before and after, and under which conditions it was cut short."""
    early = ""
    if change.ended_by not in REGULAR_ENDS:
        stage = f" in stage {one_line(change.stage, MAX_STAGE)}" if change.stage else ""
        before = ", before it regularly" if change.ended_before in REGULAR_ENDS else ""
        early = f", {one_line(change.ended_by, 24)} after {plural(change.steps, 'step')}{stage}{before}"
    return f"episode {change.episode} ({change.before:.3f} -> {change.after:.3f}{early})"


def _with_numbers(
    rejections: Sequence[Rejection], places: dict[str, int], most: int, width: int, *, full: bool,
    own: Collection[str] | None = None,
) -> str:
    """One line for each; those that edited a program that is not one of its `own` say so."""
    skipped = max(0, len(rejections) - most)
    lines = [f"({skipped} older ones are left out)"] if skipped else []
    for number, rejection in enumerate(rejections[skipped:], start=skipped + 1):
        beside = own is not None and rejection.edited not in own
        kind = "" if rejection.operator is Operator.HILL_CLIMB and not beside else (
            f"[{OPERATORS[rejection.operator].proposal}{' of another program' * beside}] ")
        line = f"{number}. {kind}{_summary(rejection.summary, width)}"
        verdict = f" -- {verdict_in_words(rejection, places)}" if full else ""
        lines.append(line + verdict + _outdated_words(rejection, full=full))
    return "\n".join(lines)


def _outdated_words(rejection: Rejection, *, full: bool) -> str:
    """That a part which the edit touched has changed since; "" if none has. Only in `full` the cause is exact."""
    if not rejection.changed:
        return ""
    named = ", ".join(one_line(part, MAX_PART) for part in rejection.changed[:MAX_PARTS])
    left = len(rejection.changed) - MAX_PARTS
    parts = named + (f" and {left} more" if left > 0 else "")
    return f" [rejected{_cause(rejection) if full else ''} before {parts} changed: {RETRY}]"


def _cause(rejection: Rejection) -> str:
    change, error = rejection.fitness_difference, rejection.standard_error
    if rejection.verdict is Verdict.REPLACED:
        return " by an earlier evaluator"
    if rejection.verdict in (Verdict.FAILED, Verdict.STOPPED) or change is None:
        return " because it failed"
    if rejection.verdict is Verdict.SAME:
        return " as a repetition"
    return " as a tie within the noise" if error is not None and -change < error else " as worse"


def _label(ancestor: Ancestor) -> str:
    if not ancestor.before:
        return "first program"
    return f"g{parse(ancestor.id).generation} {OPERATORS[ancestor.operator].proposal}"


def _change(ancestor: Ancestor) -> str:
    """F before and after. Two parents have two values before."""
    if not ancestor.before:
        return f"F {ancestor.fitness:.4f}"
    before = " and ".join(f"{value:.4f}" for value in dict.fromkeys(ancestor.before))
    gain = ancestor.fitness - max(ancestor.before)
    same = "nothing changed in any episode" if ancestor.idle else "the same F"
    return f"F {before} -> {ancestor.fitness:.4f} ({f'{gain:+.4f}' if gain else f'kept: {same}'})"


def _aside(rejections: Sequence[Rejection]) -> str:
    count = len(rejections)
    named = "; ".join(f"{_summary(one.summary, MAX_BRIEF)}{_with_fitness(one)}" for one in rejections[-MAX_ASIDE:])
    more = "the latest: " if count > MAX_ASIDE else ""
    return f"not kept from here: {plural(count, 'edit')} ({more}{named})"


def _with_fitness(rejection: Rejection) -> str:
    """F of an edit that was not kept, or that it failed; "" where neither is known."""
    if rejection.verdict in (Verdict.FAILED, Verdict.STOPPED):
        return f", {rejection.verdict.value}"
    if rejection.fresh is not None:
        return f", {rejection.fresh.rejected:.4f} on {plural(rejection.fresh.episodes, 'fresh episode')}"
    return "" if rejection.fitness is None else f", F {rejection.fitness:.4f}"


def _summary(text: str, width: int) -> str:
    """A summary in `width` characters; a list that is cut says of what is left out, and how many parts."""
    line = one_line(text, 10 * width)
    if len(line) <= width and not line.endswith("…"):
        return line or "(no summary)"
    kept = line[: width - ROOM_FOR_MORE].rstrip("…")
    whole = max(kept.rfind(", "), kept.rfind("; "))
    if whole <= 0:
        return one_line(text, width)
    left = len(re.split(r"[,;] ", line[whole + 2 :]))
    least = "at least " if line.endswith("…") else ""
    return f"{kept[: whole + 1]} … ({least}{plural(left, 'more part')} of this edit)"
