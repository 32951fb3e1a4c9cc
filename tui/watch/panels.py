"""The panels of the first screen, drawn within a width and a height. Pure: (snapshot, size, time) -> lines."""

from collections.abc import Iterator

from textual.content import Content

from ...core.order_ids import EVALUATOR, parse
from ...core.text import cost, counted, number, one_line, success_and_return, token_count
from ...memory.pace import pace_of
from ...memory.run_status import list_failures
from ...memory.slots import Slot
from ..snapshot import RunSnapshot, asked_slots, evaluator_lanes, search_lanes, trials_now, under_way
from ..words import (
    LEGEND,
    clock,
    episodes_words,
    final_words,
    lane_words,
    nodes_words,
    pace_words,
    rolling_words,
    worker_words,
)
from .braille import Curve, draw_curves
from .colours import ACCENT, BAD, CANDIDATE, DIM, ELITE, GOOD, LOUD, SUCCESS, coloured, difference, mark, stack

LABEL = 11


# ---------------------------------------------------------------------------------------------- slots


def draw_slots(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The slots of the current stage, then those of earlier generations, newest first."""
    if snapshot.run.stage == "evaluator":
        lines = [*_evaluators(snapshot)]
    else:
        lines = [*_trials(snapshot)]
        if snapshot.run.stage not in ("", "initial", "baseline"):
            lines += _generations(snapshot, height)
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
    yield from (coloured(lane_words(lane, 0, width=LABEL)) for lane in lanes)
    earlier = sum(slot.generation < here[0].generation for slot in snapshot.slots.others.values()
                  if parse(slot.id).stage == EVALUATOR)
    yield Content.styled(
        f"generation {here[0].generation}; {counted(earlier, 'answer')} in earlier ones", DIM
    )


def _generations(snapshot: RunSnapshot, height: int) -> Iterator[Content]:
    present = snapshot.run.generation_under_way
    found = _by_generation(snapshot, present - height)
    lanes = search_lanes(snapshot, found.pop(present, []))
    for lane in lanes:
        yield coloured(lane_words(lane, snapshot.run.number("n_roll"), width=LABEL))
    if height >= len(lanes) + 3:
        yield Content.styled("  ".join(LEGEND), DIM)
    for generation in sorted(found, reverse=True):
        yield _generation(snapshot, generation, found[generation])


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
        parts += [mark(slot.state) for slot in sorted(branch, key=lambda slot: slot.place)]
        parts.append("  ")
    if elite is not None:
        origin = f"from {elite.candidate}" if elite.changed else "the elite stays"
        parts += [f"F {number(elite.fitness)}  ", (origin, GOOD if elite.changed else DIM)]
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
    succeeds = any(value is not None for value in success)
    picture = draw_curves(
        [
            Curve(values=[point.fitness for point in points], style=CANDIDATE, line=False),
            *([Curve(values=success, style=SUCCESS, step=True)] if succeeds else []),
            Curve(values=elite, style=ELITE, step=True),
        ],
        width=width, height=height - 1, low=0.0, high=1.0,
    )
    key = Content.assemble(
        ("  elite F", ELITE), *([("   its success", SUCCESS)] if succeeds else []), ("   candidates", CANDIDATE),
        (f"   over {counted(snapshot.run.candidates, 'candidate')}", DIM),
    )
    return stack([picture, key.truncate(width, ellipsis=True)])


# ---------------------------------------------------------------------------------- elites and memory


def draw_elites(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The elite of each generation, newest first, with its gain."""
    elites, final = snapshot.slots.elites, snapshot.run.final
    lines: list[Content] = []
    if final is not None:
        lines.append(Content.assemble(
            ("held-out episodes ", LOUD), f"F {number(final.initial_fitness)} -> {number(final.elite_fitness)}",
            final_words(final),
        ))
    for place in range(len(elites) - 1, -1, -1):
        if len(lines) >= height:
            break
        elite = elites[place]
        before = elites[place - 1].fitness if place else None
        gained = difference(None if before is None else elite.fitness - before)
        head = Content.assemble(
            (f"g{elite.generation:<3}", LOUD), f" {elite.candidate:<12} F {number(elite.fitness)} ", gained,
            f"{success_and_return(elite.success_rate, elite.mean_return, before='  ')}",
            (pace_words(pace_of(snapshot.slots, elite.candidate), before="  "), DIM),
        )
        slot = snapshot.slots.candidates.get(elite.candidate)
        if elite.changed and slot is not None and slot.summary:
            head += Content.styled(f"  {one_line(slot.summary, 200)}", DIM)
        lines.append(head)
    if not lines:
        return Content.styled("no elite yet", DIM)
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


def draw_memory(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """The newest entries of the rejection memory, with their fitness differences."""
    memory = snapshot.slots.memory
    if not memory:
        return Content.styled("no edit was rejected yet", DIM)
    lines = []
    for entry in memory[: -height - 1 : -1]:
        rejection = entry.rejection
        what = one_line(rejection.summary, 200) or rejection.reason
        gain = difference(rejection.fitness_difference)
        slot = snapshot.slots.candidates.get(rejection.candidate)
        if rejection.fitness_difference is None and slot is not None:
            gain = Content.styled(slot.state, DIM)      # pruned, or failed
        lines.append(Content.assemble(
            gain.pad_right(max(0, 6 - gain.cell_length)), " ", (f"{rejection.candidate} ", DIM), what
        ))
    return stack(line.truncate(width, ellipsis=True) for line in lines)


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
    where = [Content.styled(f"{counted(len(nodes), 'node')}: {nodes_words(nodes)}", DIM)] if nodes else []
    return [*where, Content.styled(f"{rate:,.0f} steps/s per rollout, {episodes_words(snapshot.run)}", DIM)]


def draw_spending(snapshot: RunSnapshot, *, width: int, height: int, now: float) -> Content:
    """Calls, tokens and money, in total and by role; then failures of programs."""
    spending = snapshot.run.spending
    total = spending.total
    tokens = token_count(total.tokens, total.cached_tokens)
    lines = [Content(f"{counted(total.calls, 'call')}, {tokens}, {cost(total.cost_usd)}")]
    if len(spending.by_role) > 1:
        lines += [
            Content.styled(f"{role}: {counted(each.calls, 'call')}, {each.tokens:,} tokens, {cost(each.cost_usd)}", DIM)
            for role, each in spending.by_role.items()
        ]
    lines += [
        Content.styled(f"{row.count} × {row.where} {row.kind.value}", BAD) for row in list_failures(snapshot.run)
    ]
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])
