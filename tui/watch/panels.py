"""The panels of the first screen, drawn within a width and a height. Pure: (snapshot, size, time) -> lines."""

from collections.abc import Iterator
from textwrap import wrap

from textual.content import Content

from ...core.order_ids import EVALUATOR, parse
from ...core.text import cost, number, one_line, plural, success_and_return, token_count, version_words
from ...memory.quality import quality_words
from ...memory.run_status import elapsed_s, list_failures
from ...memory.run_view import gain_of, quality_of_elite
from ...memory.slots import Slot
from ..snapshot import RunSnapshot, asked_slots, evaluator_lanes, search_lanes, trials_now, under_way
from ..words import (
    LEGEND,
    NOT_ISOLATED,
    clock,
    coarse,
    episodes_words,
    final_words,
    isolation,
    lane_words,
    nodes_words,
    rolling_words,
    state_words,
    worker_words,
)
from .braille import Curve, draw_curves
from .colours import ACCENT, BAD, CANDIDATE, DIM, ELITE, GOOD, LOUD, ROLES, SUCCESS, content_of, difference, mark, stack

LABEL = 11
SHORT = 6       # lines of a picture that has no room for the numbers below it


# ------------------------------------------------------------------------------------------- at a glance


def draw_now(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """What a person who comes back asks first: does it run, how good is it, what changed, the cost, what is wrong."""
    lines = [
        _state(snapshot, now), _best(snapshot), _last_change(snapshot, now), _cost(snapshot, now), _wrong(snapshot),
    ]
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


def _row(name: str, *words: Content | str | tuple[str, str]) -> Content:
    return Content.assemble((f"{name:<{LABEL}}", DIM), *words)


def _state(snapshot: RunSnapshot, now: float) -> Content:
    status = snapshot.run
    state, role = state_words(status, live=snapshot.live, reading=snapshot.reading)
    words: list[Content | str | tuple[str, str]] = [(state, ROLES[role])]
    if snapshot.live:
        silent = "" if status.last is None else f"; the last fact {coarse(max(0.0, now - status.last))} ago"
        asked = min(asked_slots(snapshot), key=lambda slot: slot.at, default=None)
        doing = silent if asked is None else f"; asked for {asked.id}, {clock(now - asked.at)}"
        words.append((doing, DIM))      # the second line of the screen has the generation and the time left
    elif state not in ("done", "starting"):
        words.append(f": memento resume {snapshot.name} continues it")
    return _row("now", *words)


def _best(snapshot: RunSnapshot) -> Content:
    status, elite = snapshot.run, snapshot.run.elite
    if elite is None:
        return _row("best", ("no elite yet", DIM))
    first, final, met = status.first_elite, status.final, status.confirmations
    joined = snapshot.slots.joined
    gained = None if first is None or first.candidate == elite.candidate else gain_of(elite, first, joined)
    unseen = (
        f"; held-out {number(final.elite_fitness)}{success_and_return(final.elite_success, final.elite_return)}"
        if final is not None else f"; on fresh episodes {met - status.refuted} of {plural(met, 'challenge')} won"
        if met else ""
    )
    return _row(
        "best", (elite.candidate, LOUD), f"  F {number(elite.fitness)}{version_words(elite.version)}",
        success_and_return(elite.success_rate, elite.mean_return), unseen,
        *(("; ", difference(gained), " to p_0") if gained is not None else ()),
    )


def _last_change(snapshot: RunSnapshot, now: float) -> Content:
    """The edit that made the elite, and when."""
    changed = next((elite for elite in reversed(snapshot.slots.elites) if elite.changed and elite.generation), None)
    if changed is None:
        return _row("changed", ("nothing is better than p_0 yet", DIM))
    slot = snapshot.slots.candidates.get(changed.candidate)
    when = f" {coarse(max(0.0, now - slot.at))} ago" if snapshot.live and slot is not None else ""
    return _row("changed", f"g{changed.generation}{when}: ", _edit(snapshot, changed.candidate) or changed.candidate)


def _cost(snapshot: RunSnapshot, now: float) -> Content:
    status = snapshot.run
    limit, spent = status.settings.get("budget_usd"), status.spending.total.cost_usd
    of = f" of ${limit:.2f}" if isinstance(limit, int | float) and spent is not None else ""
    time = clock(elapsed_s(status, live=snapshot.live, now=now))
    return _row("cost", f"{cost(spent)}{of}, {plural(status.spending.total.calls, 'call')}, {time}, ",
                episodes_words(status))


def _wrong(snapshot: RunSnapshot) -> Content:
    """The failures by kind, the most frequent first, and what nobody should overlook."""
    status = snapshot.run
    words = [one_line(snapshot.trouble, 200)] if snapshot.trouble is not None else []
    words += [NOT_ISOLATED] if status.settings and NOT_ISOLATED in isolation(status.sandbox) else []
    words += [f"{status.unusable} unusable replies"] if status.unusable else []
    words += [f"{row.count} × {row.where} {row.kind.value}" for row in list_failures(status)]
    return _row("wrong", (", ".join(words), BAD) if words else ("nothing", DIM))


# ---------------------------------------------------------------------------------------------- slots


def draw_slots(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The slots of the current stage, then those of earlier generations, newest first."""
    if snapshot.run.stage in ("evaluator", "hardening"):
        lines = [*_evaluators(snapshot)]
    else:
        lines = [*_trials(snapshot)]
        if snapshot.run.stage not in ("", "initial", "baseline"):
            lines += _generations(snapshot, width, height)
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


def _trials(snapshot: RunSnapshot) -> Iterator[Content]:
    slots, of = trials_now(snapshot)
    for slot in slots:
        words = f"rolling out {slot.rolled}/{of}" if slot.state == "scored" else rolling_words(slot, of)
        yield Content.assemble((f"{slot.id:<{LABEL + 4}}", LOUD), mark(slot.state), f" {words}")


def _evaluators(snapshot: RunSnapshot) -> Iterator[Content]:
    lanes = evaluator_lanes(snapshot)
    here = [slot for lane in lanes for slot in lane.slots]
    if not here:
        yield Content.styled("waiting for the first evaluators", DIM)
        return
    yield from (content_of(lane_words(lane, 0, width=LABEL)) for lane in lanes)
    earlier = sum(slot.generation < here[0].generation for slot in snapshot.slots.others.values()
                  if parse(slot.id).stage == EVALUATOR)
    yield Content.styled(
        f"generation {here[0].generation}; {plural(earlier, 'answer')} in earlier ones", DIM
    )


def _generations(snapshot: RunSnapshot, width: int, height: int) -> Iterator[Content]:
    present = snapshot.run.generation_under_way
    found = _by_generation(snapshot, present - height)
    lanes = search_lanes(snapshot, found.pop(present, []))
    for lane in lanes:
        yield content_of(lane_words(lane, snapshot.run.number("n_roll"), width=LABEL))
    legend = _legend(width)
    if height >= len(lanes) + len(legend) + 2:
        yield from legend
    for generation in sorted(found, reverse=True):
        yield _generation(snapshot, generation, found[generation])


def _legend(width: int) -> list[Content]:
    """The marks and what they mean, on as many lines as the width needs."""
    lines = [""]
    for each in LEGEND:
        longer = f"{lines[-1]}  {each}" if lines[-1] else each
        lines[-1:] = [longer] if len(longer) <= width else [lines[-1], each]
    return [Content.styled(line, DIM) for line in lines]


def _by_generation(snapshot: RunSnapshot, first: int) -> dict[int, list[Slot]]:
    """The slots of the generations from `first` on; a long run has more than fit."""
    recent: list[Slot] = []
    for slot in reversed(snapshot.slots.candidates.values()):
        if 0 < slot.generation < first:
            break
        recent.append(slot)
    found: dict[int, list[Slot]] = {}
    for slot in (*under_way(snapshot, reversed(recent)), *asked_slots(snapshot)):
        if slot.generation and parse(slot.id).stage != EVALUATOR:
            found.setdefault(slot.generation, []).append(slot)
    return found


def _generation(snapshot: RunSnapshot, generation: int, slots: list[Slot]) -> Content:
    elite = next((each for each in reversed(snapshot.slots.elites) if each.generation == generation), None)
    branches: dict[str, list[Slot]] = {}
    for slot in slots:
        branches.setdefault(slot.branch, []).append(slot)
    parts: list[Content | str | tuple[str, str]] = [(f"g{generation:<4}", LOUD)]
    for branch in branches.values():
        parts += [mark(slot.state) for slot in sorted(branch, key=lambda slot: (slot.island, slot.place))]
        parts.append("  ")
    if elite is not None:
        origin = f"from {elite.candidate}" if elite.changed else "the elite stays"
        by = version_words(elite.version)
        parts += [f"F {number(elite.fitness)}{by}  ", (origin, GOOD if elite.changed else DIM)]
    return Content.assemble(*parts)


# --------------------------------------------------------------------------------------------- curves


def draw_fitness(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """Every candidate's F as a dot, the elite's as steps, and its success."""
    points = snapshot.slots.points
    if not points or height < 3:
        return Content.styled("no candidate is scored yet", DIM)
    last = snapshot.run.elite
    elite = [point.elite_fitness for point in points]
    success = [point.elite_success for point in points]
    if last is not None:
        elite[-1], success[-1] = last.fitness, last.success_rate
    succeeds = any(success)         # a line of zeros would lie on the axis
    picture = draw_curves(
        [
            Curve(values=[point.fitness for point in points], style=CANDIDATE, line=False),
            *([Curve(values=success, style=SUCCESS, step=True)] if succeeds else []),
            Curve(values=elite, style=ELITE, step=True),
        ],
        width=width, height=height - 1, low=0.0, high=1.0, x_label="candidate" if height > SHORT else "",
    )
    measured = any(value is not None for value in success)
    joined = snapshot.slots.joined
    more = f"   F from g{max(joined)} on counts {plural(sum(joined.values()), 'more start')}" if joined else ""
    key = Content.assemble(
        (f"  elite F{version_words(snapshot.slots.version)}", ELITE),
        *([("   its success", SUCCESS)] if succeeds else []), ("   candidates", CANDIDATE),
        ("   no success yet" if measured and not succeeds else "", DIM), (more, DIM),
    )
    return stack([picture, key.truncate(width, ellipsis=True)])


# ---------------------------------------------------------------------------------- elites and memory


def draw_elites(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The elite of each generation, newest first: its gain, and below it the edit that made it."""
    elites, run = snapshot.slots.elites, snapshot.run
    measured = [("held-out episodes ", run.final)] if run.final is not None else []
    lines = [
        Content.assemble(
            (name, LOUD), f"F {number(each.initial_fitness)} -> {number(each.elite_fitness)}", final_words(each)
        )
        for name, each in (*measured, *((f"{each.conditions} changes ", each) for each in run.robust))
    ]
    roomy = height >= len(lines) + sum(1 + (elite.changed or not place) for place, elite in enumerate(elites))
    for place in range(len(elites) - 1, -1, -1):
        if len(lines) >= height:
            break
        elite, before = elites[place], elites[place - 1] if place else None
        if before is not None and not elite.changed:
            lines.append(Content.assemble((f"g{elite.generation:<3}", LOUD), (f" {elite.candidate} stays", DIM)))
            continue
        gained = difference(gain_of(elite, before, snapshot.slots.joined))
        stated = quality_words(quality_of_elite(snapshot.run, snapshot.slots, elite))   # first: a panel cuts the rest
        searched = f"{'; search ' if stated else ''}F {number(elite.fitness)}{version_words(elite.version)} "
        head = Content.assemble(
            (f"g{elite.generation:<3}", LOUD), f" {elite.candidate:<11} {stated}{searched}", gained,
            f"{success_and_return(elite.success_rate, elite.mean_return, before='  ')}",
        )
        edit = _edit(snapshot, elite.candidate)
        if roomy and edit:
            lines += [head, Content.styled(f"     {edit}", DIM)]
        else:
            lines.append(Content.assemble(head, (f"  {edit}", DIM)) if edit else head)
    if not lines:
        return Content.styled("no elite yet", DIM)
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


def _edit(snapshot: RunSnapshot, candidate: str) -> str:
    """What made a candidate, in a line."""
    slot = snapshot.slots.candidates.get(candidate)
    return "" if slot is None else one_line(slot.summary, 200)


def draw_memory(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The newest entries of the rejection memory, with their fitness differences."""
    memory = snapshot.slots.memory
    if not memory:
        return Content.styled("no edit was rejected yet", DIM)
    heads, texts = [], []
    for entry in memory[: -height - 1 : -1]:
        rejection = entry.rejection
        gain = difference(rejection.fitness_difference)
        slot = snapshot.slots.candidates.get(rejection.candidate)
        if rejection.fitness_difference is None and slot is not None:
            gain = Content.styled(slot.state, DIM)      # pruned, or failed
        heads.append(Content.assemble(gain.pad_right(max(0, 6 - gain.cell_length)), f" {rejection.candidate} "))
        texts.append(one_line(rejection.summary, 200) or rejection.reason)
    lines, spare = [], height - len(heads)      # lines that long texts may take, the newest first
    for head, text in zip(heads, texts, strict=True):
        parts = wrap(text, max(10, width - head.cell_length)) or [""]
        if len(parts) > 1 + spare:
            parts = [*parts[:spare], " ".join(parts[spare:])]       # the last one is cut
        spare -= len(parts) - 1
        lines += [Content.assemble(" " * head.cell_length if place else head, part) for place, part in enumerate(parts)]
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


# -------------------------------------------------------------------------------- workers and spending


def draw_workers(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The task of each worker, and the speed of the simulation."""
    lines = [*_busy(snapshot, now)]
    speed = _speed(snapshot)
    if len(lines) > height - len(speed):
        kept = max(1, height - 1 - len(speed))
        lines = [*lines[:kept], Content.styled(f"and {len(lines) - kept} more", DIM)]
    return stack(line.truncate(width, ellipsis=True) for line in [*lines, *speed][:height])


def _busy(snapshot: RunSnapshot, now: float) -> Iterator[Content]:
    note = snapshot.note
    if note is None or not snapshot.live:
        yield Content.styled("no process works on this run" if not snapshot.live else "no worker status yet", DIM)
        return
    for worker in note.workers:
        idle = worker.order is None or worker.phase in ("idle", "starting")
        yield Content.assemble((f"{worker.worker + 1} ", LOUD), (worker_words(worker), DIM if idle else ""))
    for slot in asked_slots(snapshot):
        yield Content.assemble(("? ", ACCENT), f"asked for {slot.id}, {clock(now - slot.at)}")


def _speed(snapshot: RunSnapshot) -> list[Content]:
    recent = [each for each in snapshot.slots.recent if each.wall_s > 0]
    if not recent:
        return []
    rate = sum(each.steps for each in recent) / sum(each.wall_s for each in recent)
    nodes = snapshot.run.nodes
    where = [Content.styled(f"{plural(len(nodes), 'node')}: {nodes_words(nodes)}", DIM)] if nodes else []
    return [*where, Content.styled(f"{rate:,.0f} steps/s per rollout, {episodes_words(snapshot.run)}", DIM)]


def draw_spending(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """Calls, tokens and money, in total and by role."""
    spending = snapshot.run.spending
    total = spending.total
    tokens = token_count(total.tokens, total.cached_tokens)
    lines = [Content(f"{plural(total.calls, 'call')}, {tokens}, {cost(total.cost_usd)}")]
    if len(spending.by_role) > 1:
        lines += [
            Content.styled(f"{role}: {plural(each.calls, 'call')}, {each.tokens:,} tokens, {cost(each.cost_usd)}", DIM)
            for role, each in spending.by_role.items()
        ]
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])
