"""The story of a run on one screen, from its facts. Pure: facts, how it stands and a width -> lines."""

import textwrap
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.events import BranchEnded, Fact
from ..core.methods import branches_of
from ..core.values import Operator
from ..memory.evaluator_pools import Pool, list_pools
from ..memory.queries import (
    GenerationRow,
    Summary,
    count_failures,
    list_candidates,
    list_generations,
    list_rejections,
    summarise,
)
from ..tui.lines import counted, isolation, one_line
from .result_text import cost, duration, number, share

LABEL = 12                # columns of the left margin, where a section is named
FAILURES_SHOWN = 4
REASONS_SHOWN = 2
GENERATIONS_SHOWN = 12    # the first, and the last ones of a longer run
BARS = "▁▂▃▄▅▆▇█"
BRANCHES = {
    Operator.INITIAL: "random", Operator.HILL_CLIMB: "climb", Operator.MACRO: "macro", Operator.CROSSOVER: "cross",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the facts alone do not tell: where the run is, whether a process writes it, how long it was worked on."""

    folder: Path
    live: bool
    begun: float = 0.0      # seconds since the epoch
    worked_s: float = 0.0


def state_of(status: str, *, live: bool) -> str:
    """How a run stands, in a word. What its facts call running and nobody writes was killed."""
    if not live and status in ("new", "running", "paused"):
        return "killed"
    return "out of budget" if status == "budget" else status


def tell_story(facts: Sequence[Fact], standing: Standing, *, width: int) -> Iterator[str]:
    """All sections, each line at most `width` wide."""
    summary = summarise(facts)
    state = state_of(summary.status, live=standing.live)
    words = summary.settings
    yield _fit(f"{standing.folder.name}: {words.get('domain')} by {words.get('method')}, {state}", width)
    for lines in (
        _settings(summary, width), _evaluator(list_pools(facts), words.get("evaluator"), width),
        _curve(list_generations(facts)), _elites(facts, width), _measured(summary),
        _failures(facts, width), _rejections(facts), _effort(summary, standing), _onward(standing, state, summary),
    ):
        yield from (_fit(line, width) for line in lines)


def _settings(summary: Summary, width: int) -> Iterator[str]:
    words = summary.settings
    yield _row(
        "settings",
        f"preset {words.get('preset')}, seed {words.get('seed')}, {words.get('workers')} at once,"
        f" model {words.get('model')}",
    )
    branches = ", ".join(counted(each.slots, each.short) for each in branches_of(words) if each.slots)
    episodes = _many(words.get("n_roll"), "episode")
    yield _row("", f"{_many(words.get('generations'), 'generation')} of {branches}; {episodes} each")
    layers = isolation(summary.sandbox).removeprefix("isolation: ")
    yield from _wrapped("isolation", layers, width)


def _evaluator(pools: Sequence[Pool], wanted: object, width: int) -> Iterator[str]:
    label = "evaluator"
    for pool in pools:
        yield _row(label, _pool(pool, wanted))
        label = ""
        if pool.chosen is None or not pool.final:
            continue
        for vote in [vote for vote in pool.votes if vote.choice == pool.chosen.slot and vote.reason][:REASONS_SHOWN]:
            yield _fit(_row("", f"  judge {vote.seat}: “{one_line(vote.reason, width)}"), width - 1) + "”"


def _pool(pool: Pool, wanted: object) -> str:
    if pool.chosen is None:
        return f"pool {pool.generation}: {len(pool.entries)} programs, the judges have not voted yet"
    frozen = " is E*" if pool.final else ""
    if not pool.entries:
        how = {"reference": "the one shipped with the domain"}.get(str(wanted), f"given: {wanted}")
        return f"{pool.chosen.id}{frozen}, {how}"
    valid = sum(entry.candidate.examination.valid for entry in pool.entries)
    head = f"{pool.chosen.id}{frozen}; {valid} of {len(pool.entries)} valid"
    if pool.chosen.carried_over:
        return f"{head}; kept from before"
    if not pool.votes:
        return head
    tally = [entry for entry in pool.entries if entry.votes]
    votes = ", ".join(f"{entry.votes} for #{entry.candidate.slot}" for entry in tally)
    first = sum(entry.votes == max(each.votes for each in tally) for entry in tally) if tally else 0
    return f"{head}; {votes}{' (tie)' if first > 1 else ''}{_abstained(pool)}"


def _abstained(pool: Pool) -> str:
    return f", {pool.abstentions} abstained" if pool.abstentions else ""


def _curve(rows: Sequence[GenerationRow]) -> Iterator[str]:
    if not rows:
        return
    operators = [each for each in BRANCHES if any(branch.operator is each for row in rows for branch in row.branches)]
    yield ""
    yield _row("fitness", f"{'elite':<17}" + "".join(f"{BRANCHES[each]:>9}" for each in operators) + "  slots")
    shown = rows if len(rows) <= GENERATIONS_SHOWN else (rows[0], *rows[1 - GENERATIONS_SHOWN:])
    least, most = min(row.fitness for row in rows), max(row.fitness for row in rows)
    before: GenerationRow | None = None
    for row in shown:
        if before is not None and row.generation > before.generation + 1:
            yield _row("", "…")
            before = None
        gained = f"{row.fitness - before.fitness:+.3f}" if before is not None else ""
        branches = {branch.operator: branch for branch in row.branches}
        cells = "".join(_cell(row, branches.get(each)) for each in operators)
        yield _row(f"  g{row.generation}", f"{row.fitness:.3f} {_bar(row.fitness, least, most)} {gained:<9}{cells}"
                   f"  {_slots(row)}".rstrip())
        before = row
    if operators:
        yield _row("", "* this branch's best became the elite")


def _cell(row: GenerationRow, branch: BranchEnded | None) -> str:
    if branch is None or branch.fitness is None:
        return f"{'none' if branch is not None else '':>8} "        # every candidate of it failed
    mark = "*" if row.changed and branch.winner == row.elite else " "
    return f"{branch.fitness:>8.3f}{mark}"


def _slots(row: GenerationRow) -> str:
    if not row.candidates:
        return "p_0" if row.generation == 0 else ""
    climbs = row.accepted + row.rejected
    taken = f", {row.accepted}/{climbs} climbs taken" if climbs else ""
    return f"{row.candidates}{f', {row.failed} failed' if row.failed else ''}{taken}"


def _elites(facts: Sequence[Fact], width: int) -> Iterator[str]:
    names = {row.id: row for row in list_candidates(facts)}
    changed = [row for row in list_generations(facts) if row.changed and row.elite in names]
    label = "elites"
    for row in changed[-GENERATIONS_SHOWN:]:
        what = one_line(names[row.elite].summary, width)
        said = f"  “{what}" if what else ""
        line = _row(label, f"{row.elite:<11} F {row.fitness:.3f}  success {share(row.success_rate)}{said}")
        yield _fit(line, width - 1) + ("”" if said else "")
        label = ""


def _measured(summary: Summary) -> Iterator[str]:
    final = summary.final
    if final is not None:
        yield _row(
            "unseen",
            f"F {number(final.initial_fitness)} -> {number(final.elite_fitness)}, success"
            f" {share(final.initial_success)} -> {share(final.elite_success)}"
            f"   ({counted(final.episodes, 'episode')}, p_0 -> elite)",
        )


def _failures(facts: Sequence[Fact], width: int) -> Iterator[str]:
    rows = count_failures(facts)
    yield ""
    if not rows:
        yield _row("failed", "nothing")
    label = "failed"
    for row in rows[:FAILURES_SHOWN]:
        example = f", {one_line(row.example, width)}" if row.example else ""
        yield _row(label, f"{row.count} × {row.where} {row.kind}: {row.order}{example}")
        label = ""
    if len(rows) > FAILURES_SHOWN:
        yield _row("", f"and {sum(row.count for row in rows[FAILURES_SHOWN:])} in other ways")


def _rejections(facts: Sequence[Fact]) -> Iterator[str]:
    memory = list_rejections(facts)
    if memory:
        counts = ", ".join(f"{len(edits)} in g{generation}" for generation, edits in sorted(memory.items()))
        yield _row("rejected", f"{counts}: edits that the climb remembers, so as not to repeat them")


def _effort(summary: Summary, standing: Standing) -> Iterator[str]:
    spent = summary.spending
    yield _row(
        "episodes",
        f"{summary.episodes_run} run, {summary.episodes_saved} saved{_known(summary)};"
        f" {counted(summary.candidates, 'candidate')}, {summary.failed} failed",
    )
    yield _row(
        "models", f"{counted(spent.total.calls, 'call')}, {spent.total.tokens:,} tokens, {cost(spent.total.cost_usd)}"
    )
    yield from _ahead(summary)
    if len(spent.by_role) > 1 and spent.total.tokens:
        roles = [f"{role} {each.calls} calls, {cost(each.cost_usd)}" for role, each in spent.by_role.items()]
        yield _row("", "; ".join(roles))
    begun = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(standing.begun))
    yield _row("time", f"{duration(standing.worked_s)} of work since {begun}")


def _known(summary: Summary) -> str:
    """How many of the episodes that were saved are owed to programs that were known already."""
    if not summary.duplicates:
        return ""
    return f" ({summary.saved_by_duplicates} by {counted(summary.duplicates, 'duplicate')})"


def _ahead(summary: Summary) -> Iterator[str]:
    """What became of the climbs that were asked for before their turn."""
    if summary.asked_ahead:
        lost = len(summary.spending.withdrawn)
        unknown = f"; {counted(lost, 'call')} withdrawn, of unknown cost" if lost else ""
        yield _row("", f"{counted(summary.asked_ahead, 'climb')} asked ahead, {summary.kept_ahead} kept{unknown}")


def _onward(standing: Standing, state: str, summary: Summary) -> Iterator[str]:
    name = standing.folder
    yield ""
    if standing.live:
        yield f"it is live: memento stop {name}, or memento pause {name}"
    elif state == "out of budget":
        yield f"go on with a larger budget: memento resume {name} --budget-…"
    elif state != "done":
        yield f"go on: memento resume {name}"
    if summary.elite is not None:
        yield f"look at the elite: memento show {name} {summary.elite}"
        if state == "done":
            yield f"take it: memento export {name} --out elite.py"


# ------------------------------------------------------------------------------------------ small words


def _many(value: object, word: str) -> str:
    return counted(value, word) if isinstance(value, int) else f"? {word}s"


def _bar(value: float, least: float, most: float) -> str:
    return BARS[round((value - least) / (most - least) * (len(BARS) - 1))] if most > least else BARS[0]


def _row(label: str, text: str) -> str:
    return f"{label:<{LABEL}}{text}"


def _wrapped(label: str, text: str, width: int) -> Iterator[str]:
    for line in textwrap.wrap(text, max(20, width - LABEL)):
        yield _row(label, line)
        label = ""


def _fit(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"
