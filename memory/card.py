"""The card of a run: how much of its result was luck, what its episodes were for, and what became of the program.

Pure: the view of a run, the facts of its final measure and its programs give the card. `tail.read_card` reads them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from ..core.events import (
    CandidateScored,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    FinalMeasured,
    InitialChosen,
)
from ..core.intervals import Interval, mean_interval, share_interval
from ..core.order_ids import CONFIRM, FINAL, INITIAL, SCORE, SEARCH, final, owner_of, parse
from ..core.returns import return_of
from ..core.text import interval_words, number, plural, share, signed_number
from ..core.values import Episode
from .notes import notes_of
from .pace import pace_of
from .quality import IN_SEARCH, on_episodes
from .run_status import RunStatus
from .run_view import RunView
from .slots import Slot, Slots

FEW: Final = 10         # unseen episodes below which no figure can be trusted
LEAST_LINE: Final = 8   # characters of a line that can be recognised again
PROGRAMS: Final = (InitialChosen, CandidateScored)
PURPOSES: Final = {INITIAL: "p_0", SEARCH: "candidates", CONFIRM: "confirmation", FINAL: "final"}

# What the unseen episodes say about the stated figure:
ALIKE = 0.01  # of the unseen figure
HOLDS: Final = "holds"
OVERSTATED: Final = "overstated"
UNDERSTATED: Final = "understated"
TOO_FEW: Final = "too few"
LuckVerdict = Literal["holds", "overstated", "understated", "too few"]      # of an archive too, which anybody may write


@dataclass(frozen=True, slots=True, kw_only=True)
class Luck:
    """A figure that the run states of the returned program, and the same one on unseen episodes.

    `measure` is "fitness", "success" or "return"; `on` says of which episodes the stated one is: "in the search", "on
    16 fresh episodes". `gap` is the stated figure minus the unseen one; its interval is that of the unseen one.
    `verdict`: the stated figure "holds", is "overstated" or "understated" by more than the interval, or the episodes
    are "too few".
    """

    measure: str
    stated: float
    on: str
    unseen: float
    unseen_interval: Interval | None
    gap: float
    gap_interval: Interval | None
    verdict: LuckVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """The returned program on the held-out episodes of the final measure, with 95 % intervals.

    F is under the reference evaluator. What the task does not have is None; `failures` are episodes without success.
    """

    episodes: int
    fitness: float | None
    fitness_interval: Interval | None
    success: float | None
    success_interval: Interval | None
    mean_return: float | None
    return_interval: Interval | None
    failures: int | None
    faults: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The card of a run; before the final measure it has no `unseen` and no `luck`.

    `luck` holds what both sides have and measure alike: F only where the search used the reference evaluator, which
    measures the unseen episodes, since F under two evaluators cannot be compared; success and return. `episodes` are by
    purpose; those of the gate are on its cheap twin. Lines are not blank; `reintroduced` is the share of lines added by
    candidates which an earlier candidate had deleted.
    """

    notes: tuple[str, ...] = ()     # what is to be known before the figures are believed
    unseen: Unseen | None = None
    robust: Mapping[str, Unseen] = field(default_factory=dict)      # the same under changed conditions, by their name
    luck: tuple[Luck, ...] = ()
    episodes: Mapping[str, int] = field(default_factory=dict)
    call_ms: float | None = None            # CPU time of a call of the elite, median
    call_p99_ms: float | None = None
    elite_lines: int | None = None
    initial_lines: int | None = None
    reintroduced: float | None = None       # None: no line was added


def card_of(view: RunView, measured: Iterable[Fact], programs: Iterable[Fact]) -> Card:
    """The card; `measured` holds the facts about final episodes, `programs` those with programs, both in order."""
    status, slots = view.status, view.slots
    texts, parents = _texts(programs)
    elite = None if status.elite is None else status.elite.candidate
    first = None if status.first_elite is None else status.first_elite.candidate
    pace = None if elite is None else pace_of(slots, elite)
    facts = [*measured]
    unseen = None if status.final is None else _unseen_figures(status.final, facts)
    return Card(
        notes=notes_of(status),
        unseen=unseen,
        robust={each.conditions: _unseen_figures(each, facts, each.conditions) for each in status.robust},
        luck=() if unseen is None else tuple(_luck(view, unseen)),
        episodes=_by_purpose(view),
        call_ms=None if pace is None else pace.median_ms,
        call_p99_ms=None if pace is None else pace.p99_ms,
        elite_lines=_lines(texts.get(elite or "")),
        initial_lines=_lines(texts.get(first or "")),
        reintroduced=reintroduction_share(texts, parents),
    )


# ------------------------------------------------------------------------------------------------- luck


def measured_names(status: RunStatus) -> tuple[str, ...]:
    """The names under which p_0 and the elite were rolled out on held-out episodes."""
    conditions = ("", *(each.conditions for each in status.robust))
    return tuple(name for each in conditions for name in _names(each))


def _names(conditions: str) -> tuple[str, str]:
    """Those under these conditions; of both the first that was rolled out is the elite's."""
    return str(final("elite", conditions)), str(final("initial", conditions))


def _unseen_figures(measure: FinalMeasured, facts: Iterable[Fact], conditions: str = "") -> Unseen:
    """The final measure of the elite with intervals, which need its single episodes.

    They are those of p_0 where both are one program.
    """
    episodes, scores = dict[str, Episode](), dict[str, float]()
    for fact in facts:
        match fact:
            case EpisodeEnded(order=str(order)):
                episodes[order] = fact.episode
            case EpisodeScored(order=str(order)):
                scores[order.removesuffix(f"/{SCORE}")] = fact.score.fitness
    owners = {owner_of(order) for order in episodes}
    owner = next((name for name in _names(conditions) if name in owners), "")
    own = {order: episode for order, episode in episodes.items() if owner_of(order) == owner}
    whole = len(own) == measure.episodes
    fitness = [scores.get(order, 0.0) for order in own]
    returns = [value for value in map(return_of, own.values()) if value is not None]
    has_success = measure.elite_success is not None
    won = sum(episode.success for episode in own.values())
    return Unseen(
        episodes=measure.episodes,
        fitness=measure.elite_fitness,
        fitness_interval=(
            mean_interval(fitness, least=0.0, most=1.0) if whole and measure.elite_fitness is not None else None
        ),
        success=measure.elite_success,
        success_interval=share_interval(won, len(own)) if whole and has_success else None,
        mean_return=measure.elite_return,
        return_interval=mean_interval(returns) if whole and measure.elite_return is not None else None,
        failures=len(own) - won if has_success else None,
        faults=sum(episode.fault is not None for episode in own.values()),
    )


def _luck(view: RunView, unseen: Unseen) -> Iterator[Luck]:
    """The figures that both sides have and that are measured alike."""
    elite, quality = view.status.elite, view.quality
    if elite is None or quality is None:
        return
    alike = view.status.settings.get("evaluator") == "reference"
    on = on_episodes(quality.episodes, quality.fresh)
    figures = (
        ("fitness", quality.fitness if alike else None, on, unseen.fitness, unseen.fitness_interval),
        (
            "success", quality.success, IN_SEARCH if quality.success_rate is None else on, unseen.success,
            unseen.success_interval,
        ),
        ("return", elite.mean_return, IN_SEARCH, unseen.mean_return, unseen.return_interval),
    )
    for measure, stated, where, found, interval in figures:
        if stated is not None and found is not None:
            fresh = quality.fresh if measure == "success" and quality.fresh == quality.episodes else 0
            yield Luck(
                measure=measure, stated=stated, on=where, unseen=found, unseen_interval=interval, gap=stated - found,
                gap_interval=None if interval is None else (stated - interval[1], stated - interval[0]),
                verdict=_verdict(
                    share_interval(round(stated * fresh), fresh) or (stated, stated), interval, unseen.episodes,
                    alike=abs(stated - found) <= ALIKE * abs(found),
                ),
            )


def _verdict(stated: Interval, interval: Interval | None, episodes: int, *, alike: bool) -> LuckVerdict:
    """`stated` is that of a share of fresh episodes, which selected nothing, else the figure itself, twice.

    `alike`: the figures differ by so little that nobody would act on it.
    """
    if interval is None:
        return TOO_FEW
    if alike or (interval[0] <= stated[1] and stated[0] <= interval[1]):
        return HOLDS if episodes >= FEW else TOO_FEW
    return OVERSTATED if stated[0] > interval[1] else UNDERSTATED


# -------------------------------------------------------------------------------------------- in words


VERDICTS: Final[dict[LuckVerdict, str]] = {     # the worst first
    OVERSTATED: "the first figure does not hold", UNDERSTATED: "better than stated",
    TOO_FEW: "too few episodes to trust either figure", HOLDS: "the first figure holds",
}


def card_words(card: Card, run: str) -> Iterator[tuple[str, str]]:
    """All of the card of a run, each entry with its name."""
    yield from (("Note", note) for note in card.notes)
    if card.unseen is not None:
        yield "Unseen", unseen_words(card.unseen)
    for name, unseen in card.robust.items():
        yield f"Unseen, {name} changes", unseen_words(unseen)
    if card.luck:
        yield "Luck gap", gap_words(card)
    yield "Luck", luck_words(card, run)
    yield "Episodes", purposes_words(card)
    if card.call_ms is not None and card.call_p99_ms is not None:
        yield "A call of the elite", f"{card.call_ms:.2g} ms of CPU time, 99 % {card.call_p99_ms:.2g} ms"
    yield "Size", size_words(card)


def luck_words(card: Card, run: str) -> str:
    """One sentence where the stated figure is not confirmed by the unseen episodes of `run`; "" where it is."""
    unseen = card.unseen
    if unseen is None:
        return ""
    more = f"memento rank {run} --episodes 64 measures its best programs"
    if not card.luck:
        return f"the search's F and the held-out F have different evaluators, and nothing else compares; {more}"
    luck = min(card.luck, key=lambda each: list(VERDICTS).index(each.verdict))     # of equals the first
    if luck.verdict == HOLDS:
        return ""
    percent, digits = luck.measure == "success", 1 if luck.measure == "return" else 3
    value = share if percent else partial(number, digits=digits)
    name = "" if luck.measure == "fitness" else f"{luck.measure} "
    interval = interval_words(luck.unseen_interval, percent=percent, digits=digits)
    return (
        f"{name}{value(luck.stated)} {luck.on}, {value(luck.unseen)}{interval} on"
        f" {plural(unseen.episodes, 'held-out episode')}: {VERDICTS[luck.verdict]}; {more}"
    )


def unseen_words(unseen: Unseen) -> str:
    """The returned program's figures on unseen episodes with their 95 % intervals, and what failed."""
    words = []
    if unseen.fitness is not None:
        words.append(f"F {number(unseen.fitness)}{interval_words(unseen.fitness_interval)}")
    if unseen.success is not None:
        words.append(f"success {share(unseen.success)}{interval_words(unseen.success_interval, percent=True)}")
    if unseen.mean_return is not None:
        words.append(f"return {number(unseen.mean_return, digits=1)}{interval_words(unseen.return_interval, digits=1)}")
    if unseen.failures is not None:
        words.append(f"{unseen.failures} of {unseen.episodes} without success")
    return ", ".join([*words, plural(unseen.faults, "fault")])


def gap_words(card: Card) -> str:
    """The luck gaps, the stated figures minus the unseen ones, with intervals; shares in points of a hundred."""
    return ", ".join(map(_gap_words, card.luck))


def _gap_words(luck: Luck) -> str:
    scale, digits, unit = {"success": (100, 0, " points"), "return": (1, 1, "")}.get(luck.measure, (1, 3, ""))
    ends = None if luck.gap_interval is None else (scale * luck.gap_interval[0], scale * luck.gap_interval[1])
    name = "F" if luck.measure == "fitness" else luck.measure
    return f"{name} {signed_number(scale * luck.gap, digits=digits)}{interval_words(ends, digits=digits)}{unit}"


def purposes_words(card: Card) -> str:
    """How many episodes each purpose took: p_0 3, candidates 45, final 8."""
    return ", ".join(f"{name} {count}" for name, count in card.episodes.items())


def size_words(card: Card) -> str:
    """The size of the elite against p_0's, and how much of what was added came back."""
    if card.elite_lines is None or card.initial_lines is None:
        return ""
    again = "" if card.reintroduced is None else f"; {share(card.reintroduced)} of added lines were deleted before"
    return f"the elite has {plural(card.elite_lines, 'line')}, p_0 {card.initial_lines}{again}"


# --------------------------------------------------------------------------------------------- episodes


def _by_purpose(view: RunView) -> dict[str, int]:
    """How many episodes each purpose took, without those that took none."""
    status, counts = view.status, Counter[str]()
    for slot in _all(view.slots):
        stage = parse(slot.id).stage
        counts[PURPOSES.get(stage, stage or "other")] += slot.rolled
    counts["tuning"], counts["practice"], counts["gate"] = (
        status.tuning_episodes, status.practice, status.gate_episodes
    )
    order = ("p_0", "candidates", "confirmation", "tuning", "practice", "gate")
    names = [*order, *(name for name in counts if name not in (*order, "final")), "final"]
    return {name: counts[name] for name in names if counts[name]}


def _all(slots: Slots) -> Iterable[Slot]:
    return (*slots.candidates.values(), *slots.others.values())


# --------------------------------------------------------------------------------------------- programs


def _texts(facts: Iterable[Fact]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The program and the parents of every candidate that has a program, in order of arrival."""
    texts, parents = dict[str, str](), dict[str, tuple[str, ...]]()
    for fact in facts:
        match fact:
            case InitialChosen(order=str(order)):
                texts[order] = fact.program.text
            case CandidateScored(candidate=found) if found.program.text:
                texts[found.id], parents[found.id] = found.program.text, found.parents
    return texts, parents


def _lines(text: str | None) -> int | None:
    return None if text is None else sum(bool(line.strip()) for line in text.splitlines())


def reintroduction_share(texts: Mapping[str, str], parents: Mapping[str, Sequence[str]]) -> float | None:
    """The share of added lines that an earlier candidate had deleted; `texts` in the order of arrival.

    A candidate adds the lines that no parent has, and deletes those that all its parents have and it has not. Lines
    are compared without their indentation; short ones, such as `else:`, and comments are left out.
    """
    lines = {name: _recognisable(text) for name, text in texts.items()}
    deleted, added, again = set[str](), 0, 0
    for name in texts:
        known = [lines[parent] for parent in parents.get(name, ()) if parent in lines]
        if known:
            new = lines[name].difference(*known)
            added, again = added + len(new), again + len(new & deleted)
            deleted |= known[0].intersection(*known) - lines[name]
    return again / added if added else None


def _recognisable(text: str) -> set[str]:
    stripped = (line.strip() for line in text.splitlines())
    return {line for line in stripped if len(line) >= LEAST_LINE and not line.startswith("#")}
