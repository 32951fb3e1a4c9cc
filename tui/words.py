"""The words that the live display and `memento watch` share, as texts with roles. Pure.

Each interface maps a role to a colour of its own library: `live.py` for rich, `watch/colours.py` for textual.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ..core.events import FinalMeasured
from ..core.examined import AttackCount, EvaluatorTests
from ..core.faults import Fault, kind_words
from ..core.methods import HELD_OUT, episode_shares
from ..core.ports import Activity
from ..core.returns import return_of
from ..core.text import DASH, both, cost, number, one_line, plural, share, token_count
from ..core.values import JSON, Episode, Examination
from ..memory.gate_report import GateReport
from ..memory.pace import Pace
from ..memory.run_status import NodeUse, RunStatus, state_of, time_left_s
from ..memory.slots import Slot
from .snapshot import BranchSlots

PLAIN, DIM, LOUD, ACCENT, GOOD, BAD, WARN, BEST, WORST = (
    "plain", "dim", "loud", "accent", "good", "bad", "warn", "best", "worst"
)
ROBOT_CELL = "memento.extensions.cell.domain:DOMAIN"      # the domain of a calibration
NODES_SHOWN = 3     # of a cluster
Styled = tuple[str, str]
"""A text and its role, such as PLAIN or GOOD."""

MARKS: Mapping[str, Styled] = {     # by the state of a slot
    "asked": ("?", ACCENT), "proposed": ("p", ACCENT), "tuning": ("t", WARN), "rolling": ("~", WARN),
    "scored": ("o", PLAIN),
    "accepted": ("+", BEST), "rejected": ("-", BAD), "pruned": ("<", DIM), "failed": ("x", WORST),
    "stopped": ("|", DIM), "voted": ("v", GOOD), "withdrawn": ("/", DIM), "": ("·", DIM),
}
MARKED = 400    # places of a branch that get a mark: more fit on no screen
BUSY = frozenset({"rolling", "tuning"})     # states of a slot for which workers roll episodes out
LEGEND = (
    "? asked", "p proposed", "t tuning", "~ rolling out", "o scored", "+ accepted", "- rejected", "< pruned",
    "x failed", "| stopped", "/ withdrawn",
)
STAGES: Mapping[str, str] = {
    "": "starting", "initial": "a first policy p_0", "baseline": "the rollouts T_0 of p_0",
    "evaluator": "evaluators", "hardening": "attacks on E*", "search": "policies",
    "final": "p_0 and the elite on held-out episodes",
    "done": "done",
}
STATE_ROLES: Mapping[str, str] = {"running": GOOD, "paused": WARN, "done": ACCENT, "killed": BAD, "failed": BAD}
DOING: Mapping[str, str] = {
    "roll": "rolls out", "ahead": "rolls out ahead", "score": "scores", "examine": "examines", "warm": "warms up",
}
GUARDS = {"landlock": "reach your files", "seccomp": "use the network and start programs"}  # layer: without it
NOT_ISOLATED = "NOT ISOLATED"
BARS = "▁▂▃▄▅▆▇█"


def clock(seconds: float) -> str:
    """1:02:03, or 2:03."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def coarse(seconds: float) -> str:
    """A duration without false precision: whole tens of seconds, minutes, or tenths of hours."""
    if seconds < 90:
        return f"{max(1, round(seconds / 10)) * 10} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def success_or_return(success: float | None, mean_return: float | None) -> str:
    """A cell of at most 8 characters: the mean return of a task with rewards, otherwise the share of successes."""
    if mean_return is None:
        return share(success)
    return f"{mean_return:,.1f}" if abs(mean_return) < 99_999 else f"{mean_return:.2g}"


def final_words(final: FinalMeasured) -> str:
    """Success and return of p_0 and the elite on held-out seeds, after F: ", success 0 % -> 40 %"; "" for neither."""
    success = both(final.initial_success, final.elite_success, share)
    returns = both(final.initial_return, final.elite_return, partial(number, digits=2))
    return f"{f', success {success}' if success else ''}{f', return {returns}' if returns else ''}"


def episode_outcome(episode: Episode) -> str:
    """The result of an episode: its return, for a task with rewards, and whether it succeeded."""
    total = return_of(episode)
    if total is None:
        return "success" if episode.success else "failure"
    return f"return {number(total, digits=2)}{', success' if episode.success else ''}"


def left(status: RunStatus, *, now: float) -> str:
    """The remaining time of the run, such as "about 5 min left"; empty if it is not known."""
    left_s = time_left_s(status, now=now)
    return "" if left_s is None else f"about {coarse(left_s)} left"


def stage_of(status: RunStatus, *, short: bool = False) -> str:
    """The current stage in words; the search with its generation."""
    if status.stage != "search":
        return STAGES.get(status.stage, status.stage)
    of = status.number("generations") or "?"
    return f"generation {status.generation_under_way} of {of}{'' if short else ', ' + STAGES['search']}"


def state_words(status: RunStatus, *, live: bool, reading: bool = False) -> Styled:
    """The state of the run as a word, with its role."""
    state = state_of(status.status, live=live, reading=reading)
    return state, STATE_ROLES.get(state, WARN)


def ended_words(status: RunStatus, state: str, limit: int = 300) -> str:
    """The state of a run with the sentence on its end: "failed: lab:m refused the key (HTTP 401)"."""
    ended = state in ("failed", "stopped", "out of budget")
    return f"{state}: {one_line(status.why, limit)}" if status.why and ended else state


def fault_words(fault: Fault | None, limit: int = 200) -> str:
    """The kind of a failure and its message, in a line; empty without a failure."""
    if fault is None:
        return ""
    message = one_line(fault.message, limit)
    return f"{kind_words(fault)}: {message}" if message else kind_words(fault)


def order_words(examination: Examination) -> str:
    """How often an evaluator ranked recordings of known order wrongly."""
    return f"{examination.order_violations} of {plural(examination.order_pairs, 'known order')} violated"


def tests_words(tests: EvaluatorTests) -> str:
    """What tests found of an evaluator, in a line."""
    tau = "" if tests.tau is None else f", tau {tests.tau:.2f}"
    of = plural(len(tests.invariances), "invariance")
    broken = f"; {tests.broken_invariances} of {of} broken" if tests.invariances else ""
    attacks = "" if tests.attacks is None else f"; {attack_words(tests.attacks)}"
    return f"{tests.inversions} of {plural(tests.pairs, 'certain pair')} inverted{tau}{broken}{attacks}"


def attack_words(count: AttackCount) -> str:
    """What an attack found."""
    best = "" if count.best is None else f", f at most {count.best:.3f}"
    return f"{count.found} exploits among {plural(count.tried, 'program')} without success{best}"


def test_lines(tests: EvaluatorTests) -> list[str]:
    """What tests found of an evaluator, a line each."""
    lines = [f"flaw: {one_line(tests.flaw, 200)} (out before the votes, unless all have a flaw)"] if tests.flaw else []
    for ladder in tests.ladders:
        order = "" if ladder.certain else " in the expected order"
        lines.append(
            f"{one_line(ladder.name, 80)}: {ladder.inversions} of {plural(ladder.pairs, 'pair')}{order} inverted, "
            f"Kendall's tau {ladder.tau:+.2f}"
        )
    moved = [each for each in tests.invariances if each.is_moved]
    if tests.invariances:
        lines.append(f"{len(moved)} of {plural(len(tests.invariances), 'invariance')} broken")
    lines += [f"  {one_line(each.name, 80)}: f {each.change:+.3f}" for each in moved]
    lines.append(
        f"f of {plural(tests.failures, 'failure')} spreads over {tests.spread:.3f} ({plural(tests.ties, 'tie')}); "
        f"f is 1 in {tests.saturated} of {tests.successes} recorded successes"
    )
    return lines


def isolation(sandbox: Sequence[str]) -> str:
    """The layers that isolated generated programs from this machine, and what is missing."""
    missing = [risk for layer, risk in GUARDS.items() if layer not in sandbox]
    live = f"isolation: {', '.join(sandbox) or 'none'}"
    if not missing:
        return live
    return f"{live}. {NOT_ISOLATED}: generated programs can {' and '.join(missing)}; see memento doctor"


def programs_asked(settings: Mapping[str, JSON]) -> list[str]:
    """The settings that name a program as a model, `command:PROGRAM`, which runs outside every isolation."""
    judges = settings.get("judges")
    named = [*(settings.get(key) for key in ("model", "evaluator_model", "critic", "attacker_model")),
             *(judges if isinstance(judges, list | tuple) else ())]
    texts = dict.fromkeys(each for each in named if isinstance(each, str))
    return [one_line(text, 200) for text in texts if re.search(r"(^|,)\s*command:", text)]


def nodes_words(nodes: Mapping[str, NodeUse]) -> str:
    """The nodes of a cluster, those with the most episodes first."""
    most = sorted(nodes.items(), key=lambda each: (-each[1].episodes, each[0]))
    shown = [f"{name} {plural(use.episodes, 'episode')} in {coarse(use.wall_s)}" for name, use in most[:NODES_SHOWN]]
    more = [f"{len(most) - NODES_SHOWN} more"] if len(most) > NODES_SHOWN else []
    return ", ".join([*shown, *more])


def worker_words(activity: Activity) -> str:
    """The task of a worker in words."""
    where = "" if activity.node is None else f" on {activity.node}"
    if activity.order is None or activity.phase in ("idle", "starting"):
        return f"{activity.phase}{where}"
    about = activity.order.replace("_", "/")       # a trajectory's key is its order as a file name
    if activity.phase == "environment":
        return f"makes the environment for {about}"
    steps = f", step {activity.steps}" if activity.steps else ""
    return f"{DOING.get(activity.doing or '', activity.doing or activity.phase)} {about}{steps}{where}"


def rolling_words(slot: Slot, of: int) -> str:
    """The state of a slot, with its number of episodes while they are rolled out, or of tried constants."""
    if slot.state == "tuning":
        return f"tuning, {plural(slot.tried, 'vector')} tried"
    return f"rolling out {slot.rolled}{f'/{of}' if of else ''}" if slot.state == "rolling" else slot.state


def lane_words(lane: BranchSlots, episodes: int, *, width: int) -> Iterator[Styled]:
    """One line for a branch: a mark per slot, the best F, then current work and failures."""
    ordered = sorted(lane.slots, key=lambda slot: (slot.island, slot.place))
    yield f"{lane.label:<{width}}", LOUD
    if ordered and ordered[0].island:
        for island in dict.fromkeys(slot.island for slot in ordered):
            yield f"{island}:", DIM
            yield from _marks([slot for slot in ordered if slot.island == island], 0)
    else:
        yield from _marks(ordered, lane.places)
    if lane.waits:
        yield " waits for the best of both", DIM
    known = [slot.fitness for slot in lane.slots if slot.fitness is not None]
    if known:
        yield f" best {number(max(known))}", PLAIN
    rolling = [f"{_place(slot)} {rolling_words(slot, episodes)}" for slot in ordered if slot.state in BUSY]
    states = [slot.state for slot in ordered]
    open_ones = [f"{states.count(state)} {state}" for state in ("proposed", "asked") if state in states]
    if rolling or open_ones:
        yield f"  {', '.join((*rolling, *open_ones))}", WARN if rolling else ACCENT
    kinds = [kind_words(slot.fault) for slot in lane.slots if slot.fault is not None]
    if kinds:
        yield "  " + ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)), BAD


def _marks(slots: Sequence[Slot], places: int) -> Iterator[Styled]:
    """A mark for each place, in order, of the first MARKED: a log may say any number."""
    by_place = {slot.place: slot for slot in slots}
    for place in range(min(MARKED, max([places, *(place + 1 for place in by_place)]))):
        mark, role = MARKS.get(by_place[place].state if place in by_place else "", MARKS["scored"])
        yield f"{mark} ", role


def _place(slot: Slot) -> str:
    return f"island {slot.island} {slot.place + 1}" if slot.island else f"{slot.place + 1}"


def sparkline(curve: Sequence[float], *, low: float | None = None, high: float | None = None) -> str:
    """A curve as small bars; scaled to its own extremes if no others are given."""
    if not curve:
        return ""
    least, most = min(curve) if low is None else low, max(curve) if high is None else high
    if most <= least:
        return BARS[0] * len(curve)
    top = len(BARS) - 1
    return "".join(BARS[min(top, max(0, round((value - least) / (most - least) * top)))] for value in curve)


def episodes_words(status: RunStatus) -> str:
    """The number of episodes; under a budget of episodes, of those that count, with the limit."""
    limit = status.number("budget_episodes")
    if limit:
        return f"{status.search_episodes:,} of {plural(limit, 'episode')}"
    return plural(status.episodes, "episode")


def of_islands(settings: Mapping[str, JSON]) -> str:
    """On how many islands a run searches, after its slots; "" for one."""
    islands = settings.get("islands")
    return f" on {islands} islands" if isinstance(islands, int) and islands > 1 else ""


def shares_words(settings: Mapping[str, JSON]) -> str:
    """How a run divides its episodes, in a line."""
    shares = episode_shares(settings)
    words = [
        f"{share.purpose} {'' if share.exact else 'up to '}{share.most:,}{f' ({share.each})' if share.each else ''}"
        for share in shares
    ]
    limit = settings.get("budget_episodes")
    if not isinstance(limit, int):
        return f"episodes: {', '.join(words)}"
    spare = limit - sum(share.most for share in shares if share.purpose != HELD_OUT)
    if spare > limit // 4:
        words[-1] += f"; {spare:,} stay unspent: a larger n_roll or more generations would use them"
    return f"{limit:,} episodes: {', '.join(words)}"


def gate_report_words(report: GateReport) -> str:
    """How often the gate was wrong, and how the twin's ranking agrees with F."""
    known = report.audited - report.undecided
    checked = f"{report.wrong} of {plural(known, 'checked stop')} wrong" if known else "no stop was checked"
    rank = DASH if report.correlation is None else f"{report.correlation:+.2f}"
    return f"{checked}; rank correlation with F {rank} ({plural(report.compared, 'candidate')})"


def pace_words(pace: Pace | None, *, before: str = "") -> str:
    """The CPU time of a policy's calls: "0.4 ms a call, 99 % 1.2 ms"; empty if it was not measured."""
    return "" if pace is None else f"{before}{pace.median_ms:.2g} ms a call, 99 % {pace.p99_ms:.2g} ms"


def spent_words(status: RunStatus) -> str:
    """Calls, unusable replies, tokens and money."""
    total = status.spending.total
    unusable = f", {status.unusable} unusable" if status.unusable else ""
    tokens = f"{token_count(total.tokens, total.cached_tokens)}, " if total.tokens else ""
    return f"{plural(total.calls, 'call')}{unusable}, {tokens}{cost(total.cost_usd)}"


def domain_words(settings: Mapping[str, JSON]) -> str:
    """The domain of a run. That of the robot cell, which no one chooses by name, is called the cell."""
    return "robot cell" if settings.get("domain") == ROBOT_CELL else str(settings.get("domain", ""))
