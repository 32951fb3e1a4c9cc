"""One run on one screen. Pure: view, folder, whether it is live, and a width -> lines."""

import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..core.events import BranchEnded, EliteChanged
from ..core.methods import branches_of
from ..core.operators import OPERATORS
from ..core.order_ids import parse
from ..core.text import (
    cost,
    duration,
    number,
    one_line,
    plural,
    printable_line,
    share,
    success_and_return,
    token_count,
    two_digits,
    version_words,
)
from ..evidence.statistics import fleiss_kappa
from ..memory.card import Card, gap_words, luck_words, purposes_words, size_words, unseen_words
from ..memory.evaluator_pools import EvaluatorPool, hardened_words, list_judges, list_pools, moved_words
from ..memory.gate_report import gate_report
from ..memory.pace import pace_of, slow_candidates, start_up_s
from ..memory.quality import quality_words
from ..memory.run_status import FailureCount, RunStatus, list_failures, state_of
from ..memory.run_view import GenerationRow, RunView, gain_of, list_generations, list_rejections, quality_in
from ..memory.slots import Slots
from ..tui.fact_words import choice_words, final_conflict, islands_words
from ..tui.words import (
    domain_words,
    ended_words,
    final_words,
    gate_report_words,
    isolation,
    nodes_words,
    of_islands,
    pace_words,
    sparkline,
    tests_words,
)

LABEL = 12                # columns of the left margin, which holds the names of sections
FAILURES_SHOWN = 4
REASONS_SHOWN = 2
SLOW_SHOWN = 3
GENERATIONS_SHOWN = 12    # of a longer run: the first, and the last ones


def describe_run(
    view: RunView, *, folder: Path, live: bool, width: int, card: Card | None = None
) -> Iterator[str]:
    """All sections, each line at most `width` wide."""
    card = Card() if card is None else card
    status, slots = view.status, view.slots
    state = state_of(status.status, live=live)
    words = status.settings
    yield _fit(f"{folder.name}: {domain_words(words)} by {words.get('method')}, {state}", width)
    if (ended := ended_words(status, state)) != state:
        yield from _wrap("", ended, width)
    rows = list_generations(slots)
    for lines in (
        _settings(status, width), _evaluator(list_pools(slots.evaluation), words.get("evaluator"), width),
        _curve(rows), _elites(view, width), _islands(status), _final_measure(status), _notes(card, width),
        _unseen(card, folder, width), _failures(list_failures(status), width), _rejections(slots),
        _effort(status, card),
        _wrap("", _spent_time(status, slots), width), _gate(status, slots),
        _pace(slots), _wrap("size", size_words(card), width), _onward(folder, status, state, live=live),
    ):
        yield from (_fit(line, width) for line in lines)


def _settings(status: RunStatus, width: int) -> Iterator[str]:
    words = status.settings
    at_once = f"on {plural(len(status.nodes), 'node')}" if status.nodes else f"{words.get('workers')} at once"
    yield _row(
        "settings", f"preset {words.get('preset')}, seed {words.get('seed')}, {at_once}, model {words.get('model')}"
    )
    branches = ", ".join(plural(each.slots, each.short) for each in branches_of(words) if each.slots)
    episodes = _many(words.get("n_roll"), "episode")
    where = of_islands(words)
    yield _row("", f"{_many(words.get('generations'), 'generation')} of {branches}{where}; {episodes} each")
    if words.get("replay") is not None:
        yield _row("replay", _replay(status))
    layers = isolation(status.sandbox).removeprefix("isolation: ")
    yield from _wrap("isolation", layers, width)


def _replay(status: RunStatus) -> str:
    """What a replay repeats, and where its prompts were no longer the recorded ones."""
    of = f"of {status.settings.get('replay')}"
    if status.replay_differs is None:
        return of
    return f"by order, since prompts have changed, first that of {status.replay_differs}; {of}"


def _evaluator(pools: Sequence[EvaluatorPool], given: object, width: int) -> Iterator[str]:
    label = "evaluator"
    for pool in pools:
        yield _row(label, _pool(pool, given))
        label = ""
        if pool.moved is not None:
            yield _row("", f"  {moved_words(pool.moved)}")
        if pool.chosen is None or not pool.final:
            continue
        for vote in [vote for vote in pool.votes if vote.choice == pool.chosen.slot and vote.reason][:REASONS_SHOWN]:
            yield _fit(_row("", f"  judge {vote.seat}: “{one_line(vote.reason, width)}"), width - 1) + "”"
        tests = pool.chosen.examination.tests
        if tests is not None:
            yield _row("", f"  tests: {tests_words(tests)}")
        if pool.hardened is not None:
            yield _row("", f"  attacks: {hardened_words(pool.hardened)}")
    yield from (_row("", f"  {line}") for line in _judges(pools))


def _judges(pools: Sequence[EvaluatorPool]) -> Iterator[str]:
    """The agreement of the judges with one another and with the tests; nothing where evaluators were not tested."""
    if not any(pool.has_tests and pool.votes for pool in pools):
        return
    kappa = fleiss_kappa([vote.choice for vote in pool.votes if vote.choice is not None] for pool in pools)
    among = f"judges: kappa {number(kappa, digits=2)}"
    judges = list_judges(pools)
    if not judges:
        yield among
        return
    votes, agreed = sum(each.votes for each in judges), sum(each.agreed for each in judges)
    chance = sum(each.chance for each in judges)
    yield f"{among}; {agreed} of {plural(votes, 'vote')} as the tests ({share(chance / votes)} by chance)"
    worse = [f"{judge.seat} ({judge.agreed} of {judge.votes})" for judge in judges if judge.below_chance]
    if worse:
        yield f"worse than chance: judge {', '.join(worse)}"


def _pool(pool: EvaluatorPool, given: object) -> str:
    if pool.chosen is None:
        return f"pool {pool.generation}: {len(pool.entries)} programs, the judges have not voted yet"
    frozen = " is E*" if pool.final else ""
    if not pool.entries:
        how = {"reference": "the reference evaluator of the domain"}.get(str(given), f"given: {given}")
        return f"{pool.chosen.id}{frozen}, {how}"
    valid = sum(entry.candidate.examination.valid for entry in pool.entries)
    head = f"{pool.chosen.id}{frozen}; {valid} of {len(pool.entries)} valid"
    if pool.chosen.carried_over:
        return f"{head}; kept from before"
    if not pool.votes:
        return head
    tally = [entry for entry in pool.entries if entry.votes]
    votes = ", ".join(f"{plural(entry.votes, 'vote')} for #{entry.candidate.slot}" for entry in tally)
    first = sum(entry.votes == max(each.votes for each in tally) for entry in tally) if tally else 0
    return f"{head}{_tests_words(pool)}; {votes}{' (tie)' if first > 1 else ''}{_abstentions(pool)}"


def _tests_words(pool: EvaluatorPool) -> str:
    """How many evaluators the tests left to the votes, where they were tested."""
    if not pool.has_tests:
        return ""
    return f", {len(pool.leading)} ahead in the tests"


def _abstentions(pool: EvaluatorPool) -> str:
    return f", {pool.abstentions} abstained" if pool.abstentions else ""


def _curve(rows: Sequence[GenerationRow]) -> Iterator[str]:
    if not rows:
        return
    operators = OPERATORS.ordered(branch.operator for row in rows for branch in row.branches)
    yield ""
    heads = "".join(f"{OPERATORS[each].branch[:8]:>9}" for each in operators)
    yield _row("fitness", f"{'elite':<17}{heads}  slots")
    shown = rows if len(rows) <= GENERATIONS_SHOWN else (rows[0], *rows[1 - GENERATIONS_SHOWN:])
    least, most = min(row.elite.fitness for row in rows), max(row.elite.fitness for row in rows)
    before: EliteChanged | None = None
    for row in shown:
        elite = row.elite
        if before is not None and elite.generation > before.generation + 1:
            yield _row("", "…")
            before = None
        gain = gain_of(elite, before, [elite.generation] if row.joined else ())
        note = f"+{plural(row.joined, 'start')}" if row.joined else version_words(elite.version).strip()
        gained = f"{gain:+.3f}" if gain is not None else note if before else ""
        branches = {branch.operator: branch for branch in row.branches}
        cells = "".join(_cell(row, branches.get(each)) for each in operators)
        bar = sparkline([elite.fitness], low=least, high=most)
        line = f"{number(elite.fitness)} {bar} {gained:<9}{cells}  {_slots(row)}".rstrip()
        yield _row(f"  g{elite.generation}", line)
        before = elite
    if operators:
        yield _row("", "* this branch's best became the elite")
    if any(row.joined for row in shown):
        yield _row("", "+N starts: the elite failed on them; F from there on counts them, F before does not")


def _cell(row: GenerationRow, branch: BranchEnded | None) -> str:
    if branch is None or branch.fitness is None:
        return f"{'none' if branch is not None else '':>8} "        # every candidate of it failed
    if branch.winner is not None and parse(branch.winner).generation != branch.generation:
        return f"{'no gain':>8} "       # it ended with the program that it began with
    mark = "*" if row.elite.changed and branch.winner == row.elite.candidate else " "
    return f"{branch.fitness:>8.3f}{mark}"


def _slots(row: GenerationRow) -> str:
    if not row.candidates:
        return "p_0" if row.elite.generation == 0 else ""
    climbs = row.accepted + row.rejected
    taken = f", {row.accepted}/{climbs} climbs taken" if climbs else ""
    stopped = f", {row.stopped} stopped" if row.stopped else ""
    return f"{row.candidates}{f', {row.failed} failed' if row.failed else ''}{stopped}{taken}"


def _elites(view: RunView, width: int) -> Iterator[str]:
    """Each new elite: what is stated of it, F in the search where that is another figure, and its edit."""
    slots = view.slots
    changed = [elite for elite in slots.elites if elite.changed and elite.candidate in slots]
    label = "elites"
    for elite in changed[-GENERATIONS_SHOWN:]:
        slot = slots.get(elite.candidate)
        what = one_line(slot.summary, width) if slot is not None else ""
        stated = quality_words(quality_in(view.status, slots, elite.candidate))
        if stated and slot is not None and slot.version > 1:
            stated += f" by{version_words(slot.version)}"
        early = " early" if slot is not None and slot.early else ""
        searched = (f"{number(elite.fitness)}{early}{version_words(elite.version)}"
                    f"{success_and_return(elite.success_rate, elite.mean_return, before='  ')}")
        line = _row(
            label, f"{elite.candidate:<11} {f'{stated}; in the search {searched}' if stated else f'F {searched}'}"
        )
        yield _fit(f"{line}  “{what}", width - 1) + "”" if what else line
        label = ""


def _islands(status: RunStatus) -> Iterator[str]:
    """The elite of each island, where there are several."""
    if status.islands is not None:
        for place, words in enumerate(islands_words(status.islands)):
            yield _row("" if place else "islands", words)


def _final_measure(status: RunStatus) -> Iterator[str]:
    final = status.final
    if final is None:
        return
    measured = f"F {_number(final.initial_fitness)} -> {_number(final.elite_fitness)}{final_words(final)}"
    of = f"({plural(final.episodes, 'episode')}, p_0 -> elite)"
    if final.elite_return is None:
        yield _row("held-out", f"{measured}   {of}")
    else:       # with a return it is too long for one line of a small terminal
        yield _row("held-out", measured)
        yield _row("", of)
    if words := final_conflict(final):
        yield _row("", f"NOTE: {words}")
    for each in status.robust:
        yield _row(
            each.conditions, f"F {_number(each.initial_fitness)} -> {_number(each.elite_fitness)}{final_words(each)}"
        )


def _notes(card: Card, width: int) -> Iterator[str]:
    for note in card.notes:
        yield from _wrap("NOTE", note, width)


def _unseen(card: Card, folder: Path, width: int) -> Iterator[str]:
    """What the held-out episodes say about the elite, and whether they confirm what the search saw."""
    if card.unseen is not None:
        yield from _wrap("", f"the elite: {unseen_words(card.unseen)}", width)
        for name, unseen in card.robust.items():
            yield from _wrap("", f"{name} changes: {unseen_words(unseen)}", width)
        if card.luck:
            yield from _wrap("luck", f"stated minus held-out: {gap_words(card)}", width)
        yield from _wrap("", luck_words(card, str(folder)), width)


def _failures(rows: Sequence[FailureCount], width: int) -> Iterator[str]:
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


def _rejections(slots: Slots) -> Iterator[str]:
    memory = list_rejections(slots)
    if memory:
        counts = ", ".join(f"{len(edits)} in g{generation}" for generation, edits in sorted(memory.items()))
        yield _row("rejected", f"{counts}: edits that later climbs should not repeat")


def _effort(status: RunStatus, card: Card) -> Iterator[str]:
    spent = status.spending
    yield _row(
        "episodes",
        f"{status.episodes} run{_practice(status)}, {status.episodes_saved} saved{_duplicates(status)};"
        f" {plural(status.candidates, 'candidate')}, {status.failed} failed",
    )
    if card.episodes:
        yield _row("", purposes_words(card))
    if status.practice_cpu_s:
        yield _row("", f"practice and compute used {two_digits(status.practice_cpu_s)} s of CPU time")
    if status.nodes:
        yield _row("nodes", nodes_words(status.nodes))
    yield from _search_effort(status)
    total_tokens = token_count(spent.total.tokens, spent.total.cached_tokens)
    yield _row(
        "models", f"{plural(spent.total.calls, 'call')}, {total_tokens}, {cost(spent.total.cost_usd)}"
    )
    yield from _speculation(status)
    if len(spent.by_role) > 1 and spent.total.tokens:
        roles = [f"{role} {plural(each.calls, 'call')}, {cost(each.cost_usd)}" for role, each in spent.by_role.items()]
        yield _row("", "; ".join(roles))
    if status.hints:
        yield _row("hints", f"{status.hints} from the person who runs it")
    if status.critiques:
        yield _row("critic", f"said something about {plural(status.critiques, 'episode')}")
    begun = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(status.began or 0.0))
    yield _row("time", f"{duration(status.active_s)} of work since {begun}")


def _spent_time(status: RunStatus, slots: Slots) -> str:
    """Where the time went: models, rollouts, and what of it was the start of simulators; "" before the first."""
    words = []
    if status.spending.total.latency_s >= 1.0:
        words.append(f"models answered for {duration(status.spending.total.latency_s)}, all calls together")
    workers = status.number("workers")
    if slots.rollout_s >= 1.0 and workers and status.active_s:
        used = share(min(1.0, slots.rollout_s / (workers * status.active_s)))
        words.append(f"rollouts took {duration(slots.rollout_s)}, {used} of the time of {plural(workers, 'worker')}")
        start_s = start_up_s(slots, workers)
        words += [f"{duration(start_s)} of it to start simulators"] if start_s >= 1.0 else []
    if status.ahead_s:
        words.append(
            f"idle workers rolled {plural(status.ahead, 'episode')} out ahead in {duration(status.ahead_s)}, "
            f"{status.ahead_used} were used, {duration(status.ahead_unused_s)} were for nothing"
        )
    return "; ".join(words)


def _search_effort(status: RunStatus) -> Iterator[str]:
    """The use of the budget of episodes, and how often fresh episodes kept the old elite."""
    limit = status.number("budget_episodes")
    if limit:
        yield _row("", f"{status.search_episodes:,} of the {limit:,} that the search may run")
    if status.confirmations:
        each = plural(status.number("confirm_episodes"), "fresh episode")
        won = status.confirmations - status.refuted
        yield _row(
            "challenges", f"{won} of {plural(status.confirmations, 'challenger')} became the elite, on at most {each}"
        )
    if status.chosen is not None:
        yield _row("choice", choice_words(status.chosen))


def _gate(status: RunStatus, slots: Slots) -> Iterator[str]:
    """What the gate stopped, and how often it was wrong."""
    report = gate_report(slots)
    if report is not None:
        yield _row(
            "gate",
            f"{report.stopped} of {plural(report.tried, 'candidate')} stopped, {report.audited} checked;"
            f" {plural(status.gate_episodes, 'episode')} on the twin",
        )
        yield _row("", gate_report_words(report))


def _practice(status: RunStatus) -> str:
    """The number of episodes in which drafts were tried."""
    return f" ({status.practice} for practice)" if status.practice else ""


def _duplicates(status: RunStatus) -> str:
    """The number of episodes saved by duplicate programs."""
    if not status.duplicates:
        return ""
    return f" ({status.saved_by_duplicates} by {plural(status.duplicates, 'duplicate')})"


def _speculation(status: RunStatus) -> Iterator[str]:
    """The outcomes of speculative climbs."""
    if status.speculative:
        lost = len(status.spending.withdrawn)
        unknown = f"; {plural(lost, 'call')} withdrawn, of unknown cost" if lost else ""
        yield _row("", f"{plural(status.speculative, 'speculative climb')}, {status.speculative_kept} kept{unknown}")


def _pace(slots: Slots) -> Iterator[str]:
    """The CPU time of calls and the time of an episode, so that no slow policy slows the search down unnoticed."""
    label = "pace"
    for place, whose in ((-1, "the elite"), (0, "p_0")) if slots.elites else ():
        pace = pace_of(slots, slots.elites[place].candidate)
        if pace is not None:
            yield _row(label, f"{whose}: {pace_words(pace)}; {pace.episode_s:.2g} s an episode")
            label = ""
    slow = slow_candidates(slots)
    if slow.each_s:
        named = ", ".join(f"{name} {each_s:.2g} s" for name, each_s in [*slow.each_s.items()][:SLOW_SHOWN])
        count = plural(len(slow.each_s), "slow candidate")
        yield _row("slow", f"{count} took {share(slow.share)} of the policies' CPU time; an episode takes")
        yield _row("", f"{named}; candidates mostly {slow.usual_s:.2g} s")


def _onward(folder: Path, status: RunStatus, state: str, *, live: bool) -> Iterator[str]:
    yield ""
    if live:
        yield f"it is live: memento stop {folder}, or memento pause {folder}"
    elif state == "out of budget":
        yield f"continue with a larger budget: memento resume {folder} --budget-…"
    elif state == "failed":
        yield f"when its cause is fixed: memento resume {folder}"
        yield "what the run itself decided, such as that no first policy worked, stays so: that takes a new run"
    elif state != "done":
        yield f"continue: memento resume {folder}"
    if status.elite is not None:
        yield f"inspect the elite: memento show {folder} {status.elite.candidate}"
        if state == "done":
            yield f"save it: memento export {folder} --out elite.py"


# ------------------------------------------------------------------------------------------ small words


def _many(value: object, word: str) -> str:
    return plural(value, word) if isinstance(value, int) else f"? {word}s"


def _number(value: float | None) -> str:
    return number(value, unknown="?")


def _row(label: str, text: str) -> str:
    return f"{label:<{LABEL}}{text}"


def _wrap(label: str, text: str, width: int) -> Iterator[str]:
    for line in textwrap.wrap(text, max(20, width - LABEL), break_on_hyphens=False):
        yield _row(label, line)
        label = ""


def _fit(line: str, width: int) -> str:
    line = printable_line(line)
    return line if len(line) <= width else line[: width - 1] + "…"
