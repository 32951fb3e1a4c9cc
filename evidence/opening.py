"""The first screen of a report: the answer in one sentence, the number behind it with its interval, and one figure.

A run opens with what was searched, what was returned and how that does on held-out episodes. A comparison opens with
its methods in the measure that decides, and with what its tests allow to say. Pure: evidence -> opening.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from ..core.events import FinalMeasured
from ..core.intervals import Interval, share_interval
from ..core.operators import OPERATORS
from ..core.text import interval_words, number, one_line, plural, share
from ..memory.card import luck_words
from ..memory.quality import conflict_words
from .figures import Figure, dots_of, held_out_rows
from .findings import SUCCESS, ArmFinding, Findings, GroupFinding, TestFinding
from .loading import Evidence
from .records import RunRecord
from .sentences import LEVEL, list_words
from .svg import Dots

MOST_ROWS = 24      # of the main figure of several tasks; of more arms the first and the best other one are shown
NAMED = 3           # methods that the sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A figure in large print: what it is, its value, and its interval and sample."""

    name: str
    value: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The first screen. A run has numbers and pictures, a comparison its main figure."""

    sentence: str
    numbers: tuple[Number, ...] = ()
    figure: Figure | None = None
    run: str = ""       # the run whose elite is shown
    note: str = ""      # where the search's figure is not confirmed


def open_page(evidence: Evidence, findings: Findings, figures: Sequence[Figure]) -> Opening | None:
    """The opening of the page; `figures` are those of all groups. None if there is no run of a search."""
    if len(evidence.records) == 1 and not evidence.missing and evidence.records[0].curve:
        return _of_run(evidence.records[0])
    groups = [group for group in findings.groups if any(record.curve for arm in group.arms for record in arm.records)]
    if not groups:
        return None
    sentence = _of_group(groups[0]) if len(groups) == 1 else _of_groups(groups)
    return Opening(sentence=sentence, figure=_main_figure(groups, figures))


# ------------------------------------------------------------------------------------------------ a run


def _of_run(record: RunRecord) -> Opening:
    last, final = record.curve[-1], record.final
    done = record.status == "done"
    program = f"{last.elite} (p_0, since nothing was better)" if last.elite == record.curve[0].elite else (
        f"{last.elite}, a {OPERATORS[last.origin].proposal}"
    )
    offline = "the offline model" if "offline" in record.model else record.model
    words = (
        f"{_method(record.method)} {'searched' if done else 'is searching'} {record.task} with {offline}"
        f" (seed {record.seed}): {plural(record.candidates, 'candidate')} in"
        f" {plural(last.generation, 'generation')}, {plural(record.episodes_run, 'episode')}. It"
        f" {'returned' if done else 'has as its elite'} {program}"
    )
    if final is None:
        return Opening(sentence=f"{words}, not yet measured on held-out episodes.", run=record.name, numbers=(Number(
            name="best F so far", value=number(last.best_fitness),
            detail=f"in the search, under its own evaluator; p_0 had {number(record.initial_fitness)}",
        ),))
    name, value, interval, before = _decisive(record, final)
    sample = plural(final.episodes, "episode")
    sample = f"95 %:{interval}, {sample}" if interval else sample
    unseen = plural(final.episodes, "held-out episode")
    does = f"succeeds in {value} of {unseen} (p_0: {before})" if name == "success" else (
        f"has {name} {value} on {unseen} (p_0: {before})"
    )
    luck = "" if record.card is None else luck_words(record.card, one_line(record.name, 60))
    notes = () if record.card is None else record.card.notes
    conflict = conflict_words(
        (final.initial_fitness, final.elite_fitness), (final.initial_success, final.elite_success)
    )
    success = f"success {share(last.success)} there; " if last.success is not None else ""
    return Opening(
        sentence=f"{words}, which {does}.",
        run=record.name,
        numbers=(
            Number(name=f"{name}, held-out", value=value, detail=f"{sample}; p_0: {before}"),
            Number(name="F in the search", value=number(last.fitness),
                   detail=f"{success}p_0: {number(record.initial_fitness)}"),
        ),
        note=" ".join(f"{words[:1].upper()}{words[1:]}." for words in (conflict, *notes, luck) if words),
    )


def _method(name: str) -> str:
    return "MEMENTO" if name == "memento" else f"the method {name}"


def _decisive(record: RunRecord, final: FinalMeasured) -> tuple[str, str, str, str]:
    """The measure that decides, success before return before F: name, value, interval in words, and p_0's value."""
    unseen = None if record.card is None else record.card.unseen
    if final.elite_success is not None:
        found: Interval | None = share_interval(round(final.elite_success * final.episodes), final.episodes)
        return ("success", share(final.elite_success), interval_words(found, percent=True),
                share(final.initial_success))
    if final.elite_return is not None:
        found = None if unseen is None else unseen.return_interval
        return ("return", number(final.elite_return, digits=1), interval_words(found, digits=1),
                number(final.initial_return, digits=1))
    found = None if unseen is None else unseen.fitness_interval
    return "F", number(final.elite_fitness), interval_words(found), number(final.initial_fitness)


# ---------------------------------------------------------------------------------------- a comparison


def _of_group(group: GroupFinding) -> str:
    quantity = _quantity(group)
    (words, where), means = _measure_words(quantity), _means(group, quantity)
    first, others = group.arms[0], [arm for arm in group.arms[1:] if arm.arm in means]
    runs = plural(max(len(arm.records) for arm in group.arms), "run")
    if first.arm not in means:
        return f"On {group.task}, {first.arm} has no {words} {where} yet."
    start = f"On {group.task}, {first.arm} has a {words} of {means[first.arm]:.2f} {where}"
    if not others:
        return f"{start}, the mean of {runs}{_over_runs(first, quantity)}."
    best = max(others, key=lambda arm: means[arm.arm])
    among = "" if len(others) == 1 else f", the best of the {len(others)} others"
    return f"{start} and {best.arm}{among}, {means[best.arm]:.2f}; {_verdict(group, quantity)}."


def _of_groups(groups: Sequence[GroupFinding]) -> str:
    """How often the first method is ahead, and in how many tasks a test says so."""
    compared = [group for group in groups if len(_means(group, _quantity(group))) > 1]
    if not compared:
        return f"{plural(len(groups), 'task')}, each with one method: nothing is compared."
    first = compared[0].arms[0].arm
    same = [group for group in compared if group.arms[0].arm == first]
    ahead = sum(_is_ahead(_means(group, _quantity(group)), first) for group in same)
    above = sum(any(_is_clear(one, above=True) for one in _tests(group, _quantity(group))) for group in same)
    below = sum(any(_is_clear(one, above=False) for one in _tests(group, _quantity(group))) for group in same)
    return (
        f"{first} has the highest mean of all methods in {ahead} of {plural(len(same), 'task')} (by success on"
        f" held-out episodes, or else by reference fitness); it is significantly above another method in {above} of"
        f" them, and below one in {below}."
    )


def _is_ahead(means: Mapping[str, float], first: str) -> bool:
    return first in means and all(means[first] > value for name, value in means.items() if name != first)


def _quantity(group: GroupFinding) -> str:
    """What decides: success on held-out episodes, else the reference fitness there, else success in the search."""
    for kind in ("success", "fitness"):
        for measure in (measure for arm in group.arms for measure in arm.measures):
            if (measure.success if kind == "success" else measure.fitness) is not None:
                return f"{kind}: {measure.name}"
    return SUCCESS


def _measure_words(quantity: str) -> tuple[str, str]:
    """What the quantity is, and where it was measured."""
    kind, colon, _ = quantity.partition(": ")
    if not colon:
        return "success rate", "in the search"
    return "success rate" if kind == "success" else "reference fitness", "on held-out episodes"


def _means(group: GroupFinding, quantity: str) -> dict[str, float]:
    found = {arm.arm: [*arm.values(quantity).values()] for arm in group.arms}
    return {name: fsum(values) / len(values) for name, values in found.items() if values}


def _over_runs(arm: ArmFinding, quantity: str) -> str:
    row = next(dots_of(arm, quantity, place=0), None)
    if row is None or row.low is None or row.high is None:
        return ""
    return f" (95 %:{interval_words((row.low, row.high), digits=2)})"


def _verdict(group: GroupFinding, quantity: str) -> str:
    """What the tests of the quantity allow to say."""
    tests = _tests(group, quantity)
    if not tests:
        return "nothing is tested, since they have no seed in common"
    parts = []
    for above, word in ((True, "above"), (False, "below")):
        clear = [one.other for one in tests if _is_clear(one, above=above)]
        if clear:
            named = list_words(clear) if len(clear) <= NAMED else f"{len(clear)} of the {len(tests)} others"
            parts.append(f"it is significantly {word} {named}")
    if parts:
        return " and ".join(parts)
    least = min(one.test.n for one in tests)
    weak = "" if tests[0].test.least_p <= LEVEL else f", and with {plural(least, 'seed')} none could be"
    return f"no difference is significant{weak}"


def _tests(group: GroupFinding, quantity: str) -> list[TestFinding]:
    return [one for one in group.tests if one.quantity == quantity]


def _is_clear(one: TestFinding, *, above: bool) -> bool:
    return one.adjusted is not None and one.adjusted < LEVEL and (one.test.difference > 0) == above


def _main_figure(groups: Sequence[GroupFinding], figures: Sequence[Figure]) -> Figure | None:
    """The figure of the measure that decides: the group's own one, or one row per task and method."""
    if len(groups) == 1:
        quantity = _quantity(groups[0])
        own = [figure for figure in figures if figure.measure == quantity]
        return next(iter([*own, *figures]), None)
    few = sum(len(group.arms) for group in groups) <= MOST_ROWS
    rows: list[Dots] = []
    for group in groups:
        quantity = _quantity(group)
        for place, arm in enumerate(group.arms):
            if few or arm in _first_and_best(group, quantity):
                rows += dots_of(arm, quantity, place=place, name=f"{group.task} · {arm.arm}")
    if not rows:
        return None
    kinds = {_quantity(group) for group in groups}
    title = "each task and method" if few else "each task's first method and the best other"
    chart = held_out_rows(rows, kinds.pop() if len(kinds) == 1 else "fitness: ")
    return Figure(title=f"Held-out episodes, {title}", about="all tasks", chart=chart, measure="all")


def _first_and_best(group: GroupFinding, quantity: str) -> list[ArmFinding]:
    means = _means(group, quantity)
    others = sorted(group.arms[1:], key=lambda arm: -means.get(arm.arm, 0.0))
    return [group.arms[0], *others[:1]]
