"""Draws a live run within a width and a height. Pure: (live, time, size) -> lines of styled text."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group
from rich.text import Text

from ...core.methods import branches_of
from ..lines import SUMMARY_LENGTH, counted, one_line
from ..view import time_left_s
from .slots import Activity, Live, Slot

NARROWEST, SHORTEST = 30, 6
MARKS = {
    "asked": ("?", "cyan"), "proposed": ("p", "cyan"), "rolling": ("~", "yellow"), "scored": ("o", "white"),
    "accepted": ("+", "green"), "rejected": ("-", "red"), "cut": ("<", "dim"), "failed": ("x", "bold red"),
    "voted": ("v", "green"), "": ("·", "dim"),
}
LEGEND = "? asked  p proposed  ~ rolling  o scored  + accepted  - rejected  < cut  x failed"
LEGENDS = (LEGEND, LEGEND.replace("  ", " "), "~ rolling o scored + accepted - rejected < cut x failed")
BARS = "▁▂▃▄▅▆▇█"
LABEL = 11
WORKERS_SHOWN = 8
TITLES = {
    "": "starting", "initial": "a first policy p_0", "baseline": "the rollouts T_0 of p_0", "evaluator": "evaluators",
    "search": "policies", "final": "p_0 and the elite on unseen episodes", "done": "done",
}
DOING = {"roll": "rolls out", "score": "scores", "examine": "examines"}


def draw(live: Live, *, now_s: float, width: int, height: int) -> Group:
    """At most `height` lines of at most `width` columns. What matters least goes first where it is short."""
    width, height = max(width, NARROWEST), max(height, SHORTEST)
    rule = [Text("─" * width, style="dim")]
    head, lanes, elite = [*_head(live, now_s)], [*_lanes(live)], [*_elite(live, width)]
    spent, foot = [_spent(live)], [_foot(live, width)]
    fitting = [each for each in LEGENDS if len(each) <= width] if live.view.stage == "search" else []
    legend = [Text(each, style="dim") for each in fitting[:1]]
    space = [Text()]
    fixed = len(head) + len(lanes) + len(spent) + len(foot)
    workers = [*_workers(live, max(1, height - fixed - len(elite) - len(legend) - 3))]
    # From the most to the least wanted; the order on the screen is another.
    kept: dict[str, list[Text]] = {}
    left = height
    for name, lines in (
        ("head", head), ("foot", foot), ("lanes", lanes), ("elite", elite), ("spent", spent),
        ("workers", workers), ("rule", rule), ("gap 1", space), ("gap 2", space), ("legend", legend), ("gap 3", space),
    ):
        taken = lines[:left] if name in ("head", "lanes", "workers") else (lines if len(lines) <= left else [])
        kept[name] = taken
        left -= len(taken)
    shown = ("rule", "head", "gap 1", "lanes", "legend", "gap 2", "elite", "gap 3", "workers", "spent", "foot")
    lines = [line for name in shown for line in kept[name]]
    for line in lines:
        line.no_wrap = True
        line.truncate(width, overflow="ellipsis")
    return Group(*lines)


def _head(live: Live, now_s: float) -> Iterator[Text]:
    words = live.view.settings
    run = live.folder.name if live.folder is not None else ""
    yield Text.assemble(
        ("MEMENTO ", "bold"), f"{words.get('domain', '')} by {words.get('method', '')}, {words.get('model', '')}"
        f", preset {words.get('preset', '')}, seed {words.get('seed', '')}", ("  " + run, "dim"),
    )
    stage = TITLES.get(live.view.stage, live.view.stage)
    if live.view.stage == "search":
        of = live.view.number("generations")
        stage = f"generation {min(live.view.generation, of)} of {of}, {stage}"
    left_s = time_left_s(live.view, now_s=now_s)
    left = "paused" if live.paused else "" if left_s is None else f"about {_coarse(left_s)} left"
    if not left and live.view.stage == "search":
        left = "time left: told after a few candidates"
    yield Text.assemble((stage, "bold cyan"), f"   {_clock(now_s - live.began_s)}", f"   {left}" if left else "")


# ----------------------------------------------------------------------------------------------- lanes


def _lanes(live: Live) -> Iterator[Text]:
    view = live.view
    if view.stage == "search":
        for branch in branches_of(view.settings):
            yield _lane(live, branch.label, _of_branch(live, branch.word), branch.slots)
    elif view.stage == "evaluator":
        judges = [key for key in live.slots if "/judge/" in key]
        pool = [key for key in live.slots if key not in judges]
        yield _lane(live, "evaluators", sorted(pool, key=_place), view.number("evaluator_pool"))
        yield _lane(live, "judges", sorted(judges, key=_place), view.number("evaluator_judges"))
    else:
        of = view.number("final_episodes" if view.stage == "final" else "n_roll")
        for key, slot in live.slots.items():
            yield Text.assemble((f"{key:<{LABEL}} ", "bold"), _words(slot, of))


def _of_branch(live: Live, word: str) -> list[str]:
    now = [key for key in live.slots if key.startswith(f"g{live.view.generation}/")]
    return sorted((key for key in now if not word or key.split("/")[1] == word), key=_place)


def _lane(live: Live, label: str, keys: Sequence[str], slots: int) -> Text:
    """One mark a slot, then what is under way in words."""
    line = Text.assemble((f"{label:<{LABEL}}", "bold"))
    by_place = {_place(key): live.slots[key] for key in keys}
    for place in range(max(slots, *(place + 1 for place in by_place)) if by_place else slots):
        mark, style = MARKS[by_place[place].state if place in by_place else ""]
        line.append(f"{mark} ", style=style)
    known = [slot.fitness for slot in by_place.values() if slot.fitness is not None]
    if known:
        line.append(f" best {max(known):.3f}")
    said = _under_way(by_place, live.view.number("n_roll"))
    if said:
        line.append(f"  {said}", style="yellow" if "rolling" in said else "cyan")
    elif not by_place and label == "cross":
        line.append(" waits for the best of both", style="dim")
    return line


def _under_way(by_place: Mapping[int, Slot], of: int) -> str:
    """What is rolling out, each with its episodes; of the rest how many."""
    rolling = [f"{place + 1} {_words(slot, of)}" for place, slot in sorted(by_place.items()) if slot.state == "rolling"]
    states = [slot.state for slot in by_place.values()]
    rest = [f"{states.count(state)} {state}" for state in ("proposed", "asked") if state in states]
    return ", ".join((*rolling, *rest))


def _words(slot: Slot, of: int) -> str:
    return f"rolling out {slot.rolled}/{of}" if slot.state == "rolling" else slot.state


def _place(key: str) -> int:
    last = key.rpartition("/")[2]
    return int(last) if last.isdigit() else 0


# -------------------------------------------------------------------------------------- elite and spend


def _elite(live: Live, width: int) -> Iterator[Text]:
    elite = live.view.elite
    if elite is None:
        return
    first, last = live.curve[0], live.curve[-1]
    yield Text.assemble(
        (f"{'fitness':<{LABEL}}", "bold"), (_sparkline(live.curve[-max(1, width - 40):]), "green"),
        f"  {first:.3f} -> {last:.3f}" if len(live.curve) > 1 else f"  {last:.3f}",
    )
    yield Text.assemble(
        (f"{'elite':<{LABEL}}", "bold"), (elite.candidate, "bold green"), f" from {elite.origin}, F {elite.fitness:.3f}"
        f", success {100 * elite.success_rate:.0f} %",
    )
    candidate = live.view.candidates.get(elite.candidate)
    if candidate is not None and candidate.summary.strip():
        room = min(SUMMARY_LENGTH + 20, width - LABEL - 2)
        yield Text(f"{'':<{LABEL}}“{one_line(candidate.summary, room)}”", style="italic")


def _sparkline(curve: Sequence[float]) -> str:
    least, most = min(curve), max(curve)
    if most <= least:
        return BARS[0] * len(curve)
    return "".join(BARS[round((value - least) / (most - least) * (len(BARS) - 1))] for value in curve)


def _workers(live: Live, room: int) -> Iterator[Text]:
    shown = sorted(live.workers.items())[: min(room, WORKERS_SHOWN)]
    for index, (place, activity) in enumerate(shown):
        label = "workers" if index == 0 else ""
        busy = activity.phase not in ("idle", "starting")
        line = Text.assemble((f"{label:<{LABEL}}", "bold"), f"{place + 1} ")
        line.append(_activity(activity), style="" if busy else "dim")
        if index + 1 == len(shown) < len(live.workers):
            others = [other for number, other in live.workers.items() if number not in dict(shown)]
            line.append(f"   and {len(others)} more, {sum(other.phase != 'idle' for other in others)} busy")
        yield line


def _activity(activity: Activity) -> str:
    if activity.order is None or activity.phase in ("idle", "starting"):
        return activity.phase
    if activity.phase == "environment":
        return f"makes the environment for {activity.order}"
    steps = f", step {activity.steps}" if activity.steps else ""
    about = activity.order.replace("_", "/")       # the key of a trajectory is its order, written for a file
    return f"{DOING.get(activity.doing or '', activity.doing)} {about}{steps}"


def _spent(live: Live) -> Text:
    view = live.view
    cost = "price unknown" if view.cost_usd is None else f"${view.cost_usd:.2f}"
    tokens = f" {view.tokens:,} tokens," if view.tokens else ""
    failed = f", {view.failed_proposals} unusable" if view.failed_proposals else ""
    done = f"{view.scored} of {view.candidates_expected} candidates, " if view.candidates_expected else ""
    return Text.assemble(
        (f"{'spent':<{LABEL}}", "bold"),
        f"{done}{counted(view.episodes, 'episode')}, {counted(view.model_calls, 'call')}{failed},"
        f"{tokens} {cost}",
    )


def _foot(live: Live, width: int) -> Text:
    whole = f"Ctrl-C stops, nothing is lost; go on with: memento resume {live.folder}"
    return Text(whole if len(whole) <= width else "Ctrl-C stops, nothing is lost; resume goes on", style="dim")


# ------------------------------------------------------------------------------------------ small words


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _coarse(seconds: float) -> str:
    """No more digits than can be believed."""
    if seconds < 90:
        return f"{max(1, round(seconds / 10)) * 10} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
