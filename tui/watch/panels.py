"""The panels of the first screen, drawn within a width and a height. Pure: (sight, size, time) -> lines."""

from collections.abc import Iterator, Sequence

from textual.content import Content

from ...core.methods import branches_of
from ..lines import counted, one_line
from .braille import Curve, draw_curves
from .snapshot import (
    BAD,
    DIM,
    GOOD,
    LEGEND,
    LOUD,
    WARN,
    Sight,
    as_noted,
    asked_of,
    clock,
    cost,
    mark,
    number,
    share,
    signed,
    stack,
)
from .view import Slot

LABEL = 11
DOING = {"roll": "rolls out", "score": "scores", "examine": "examines"}


# ---------------------------------------------------------------------------------------------- slots


def draw_slots(sight: Sight, *, width: int, height: int, now: float) -> Content:
    """What the present stage has in hand, then the generations before, newest first."""
    stage = sight.view.stage
    if stage in ("", "initial", "baseline"):
        lines = [*_trials(sight, "init/", sight.view.number("n_roll"))]
    elif stage == "evaluator":
        lines = [*_evaluators(sight)]
    else:
        lines = [*_generations(sight, height)]
        if stage == "final":
            lines = [*_trials(sight, "final/", sight.view.number("final_episodes")), *lines]
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


def _trials(sight: Sight, prefix: str, of: int) -> Iterator[Content]:
    known = {**sight.view.others, **{slot.id: slot for slot in asked_of(sight)}, **sight.view.candidates}
    for key, slot in known.items():
        if key.startswith(prefix):
            said = f"rolling out {slot.rolled}/{of}" if slot.state in ("rolling", "scored") else slot.state
            yield Content.assemble((f"{key:<{LABEL + 4}}", LOUD), mark(slot.state), f" {said}")


def _evaluators(sight: Sight) -> Iterator[Content]:
    slots = [*sight.view.others.values(), *asked_of(sight)]
    made = [slot for slot in slots if slot.id.startswith("eval/")]
    if not made:
        yield Content.styled("the first evaluators are being asked for", DIM)
        return
    generation = max(slot.generation for slot in made)
    for label, branch, key in (("evaluators", "", "evaluator_pool"), ("judges", "judge", "evaluator_judges")):
        here = [slot for slot in made if slot.generation == generation and slot.branch == branch]
        yield _lane(label, here, sight.view.number(key), 0)
    earlier = sum(slot.generation < generation for slot in made)
    yield Content.styled(f"generation {generation}; {counted(earlier, 'answer')} in earlier ones", DIM)


def _generations(sight: Sight, height: int) -> Iterator[Content]:
    view = sight.view
    last = view.number("generations")
    present = min(view.generation, last) if last else view.generation
    found = _by_generation(sight, present - height)
    branches = branches_of(view.settings)
    named = {branch.word: branch for branch in branches}
    here = found.pop(present, {})
    if "" in named:     # one branch for whatever words the ids have
        here = {"": [slot for slots in here.values() for slot in slots]}
    shown = [*dict.fromkeys([*named, *here])]
    for word in shown:
        branch = named.get(word)
        label, slots = (word or "slots", 0) if branch is None else (branch.label, branch.slots)
        yield _lane(label, here.get(word, []), slots, view.number("n_roll"))
    if height >= len(shown) + 3:
        yield Content.styled(LEGEND, DIM)
    for generation in sorted(found, reverse=True):
        yield _generation(sight, generation, found[generation])


def _by_generation(sight: Sight, first: int) -> dict[int, dict[str, list[Slot]]]:
    """The slots of the generations from `first` on, by branch; a long run has far more than can be shown."""
    recent: list[Slot] = []
    for slot in reversed([*sight.view.candidates.values()]):
        if 0 < slot.generation < first:
            break
        recent.append(slot)
    found: dict[int, dict[str, list[Slot]]] = {}
    for slot in (*as_noted(sight, reversed(recent)), *(slot for slot in asked_of(sight) if slot.id[:1] == "g")):
        if slot.generation:
            found.setdefault(slot.generation, {}).setdefault(slot.branch, []).append(slot)
    return found


def _lane(label: str, slots: Sequence[Slot], of: int, episodes: int) -> Content:
    """One mark a slot, then the best and what is under way in words."""
    by_place = {slot.place: slot for slot in slots}
    parts: list[Content | str | tuple[str, str]] = [(f"{label:<{LABEL}}", LOUD)]
    for place in range(max([of, *(place + 1 for place in by_place)])):
        parts += [mark(by_place[place].state if place in by_place else ""), " "]
    known = [slot.fitness for slot in slots if slot.fitness is not None]
    if known:
        parts.append(f" best {max(known):.3f}")
    rolling = [slot for slot in slots if slot.state == "rolling"]
    said = ", ".join(
        f"{slot.place + 1} rolling out {slot.rolled}{f'/{episodes}' if episodes else ''}" for slot in rolling
    )
    if said:
        parts.append((f"  {said}", WARN))
    parts += [(f"  {why}", BAD) for why in _failures(slots)]
    return Content.assemble(*parts)


def _failures(slots: Sequence[Slot]) -> Iterator[str]:
    kinds = [slot.fault.kind.value for slot in slots if slot.fault is not None]
    if kinds:
        yield ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _generation(sight: Sight, generation: int, branches: dict[str, list[Slot]]) -> Content:
    elite = next((each for each in sight.view.elites if each.generation == generation), None)
    parts: list[Content | str | tuple[str, str]] = [(f"g{generation:<4}", LOUD)]
    for slots in branches.values():
        parts += [mark(slot.state) for slot in sorted(slots, key=lambda slot: slot.place)]
        parts.append("  ")
    if elite is not None:
        came = f"from {elite.candidate}" if elite.changed else "the elite stays"
        parts += [f"F {elite.fitness:.3f}  ", (came, GOOD if elite.changed else DIM)]
    return Content.assemble(*parts)


# --------------------------------------------------------------------------------------------- curves


def draw_fitness(sight: Sight, *, width: int, height: int, now: float) -> Content:
    """Every candidate's F as a dot, the elite's as a stair, its success beside it."""
    view = sight.view
    if not view.points or height < 3:
        return Content.styled("no candidate is scored yet", DIM)
    points = view.points
    last = view.elites[-1] if view.elites else None
    elite = [point.elite_fitness for point in points]
    success = [point.elite_success for point in points]
    if last is not None:
        elite[-1], success[-1] = last.fitness, last.success_rate
    picture = draw_curves(
        [
            Curve(values=[point.fitness for point in points], style="$foreground 60%", line=False),
            Curve(values=success, style="$text-accent", step=True),
            Curve(values=elite, style="$text-success", step=True),
        ],
        width=width, height=height - 1, low=0.0, high=1.0,
    )
    key = Content.assemble(
        ("  elite F", "$text-success"), ("   its success", "$text-accent"), ("   candidates", "$foreground 60%"),
        (f"   over {counted(view.settled, 'candidate')}", DIM),
    )
    return stack([picture, key.truncate(width, ellipsis=True)])


# ---------------------------------------------------------------------------------- elites and memory


def draw_elites(sight: Sight, *, width: int, height: int, now: float) -> Content:
    """The elite of each generation, newest first, with what was gained."""
    view = sight.view
    lines: list[Content] = []
    if view.final is not None:
        final = view.final
        lines.append(Content.assemble(
            ("unseen episodes ", LOUD), f"F {number(final.initial_fitness)} -> {number(final.elite_fitness)}, "
            f"success {share(final.initial_success)} -> {share(final.elite_success)}",
        ))
    for place in range(len(view.elites) - 1, -1, -1):
        if len(lines) >= height:
            break
        elite = view.elites[place]
        before = view.elites[place - 1].fitness if place else None
        gained = signed(None if before is None else elite.fitness - before)
        head = Content.assemble(
            (f"g{elite.generation:<3}", LOUD), f" {elite.candidate:<12} F {elite.fitness:.3f} ", gained,
            f" {share(elite.success_rate):>5}",
        )
        slot = view.candidates.get(elite.candidate)
        if elite.changed and slot is not None and slot.summary:
            head += Content.styled(f"  {one_line(slot.summary, 200)}", DIM)
        lines.append(head)
    if not lines:
        return Content.styled("no elite yet", DIM)
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])


def draw_memory(sight: Sight, *, width: int, height: int, now: float) -> Content:
    """The newest entries of the rejection memory, with their fitness differences."""
    memory = sight.view.memory
    if not memory:
        return Content.styled("no edit was rejected yet", DIM)
    lines = []
    for entry in memory[: -height - 1 : -1]:
        rejection = entry.rejection
        what = one_line(rejection.summary, 200) or rejection.reason
        gain = signed(rejection.fitness_difference)
        slot = sight.view.candidates.get(rejection.candidate)
        if rejection.fitness_difference is None and slot is not None:
            gain = Content.styled(slot.state, DIM)      # cut, or failed
        lines.append(Content.assemble(
            gain.pad_right(max(0, 6 - gain.cell_length)), " ", (f"{rejection.candidate} ", DIM), what
        ))
    return stack(line.truncate(width, ellipsis=True) for line in lines)


# -------------------------------------------------------------------------------- workers and spending


def draw_workers(sight: Sight, *, width: int, height: int, now: float) -> Content:
    """What each worker does, and how fast the simulation is."""
    lines = [*_busy(sight, now)]
    speed = _speed(sight)
    if len(lines) > height - bool(speed):
        kept = max(1, height - 1 - bool(speed))
        lines = [*lines[:kept], Content.styled(f"and {len(lines) - kept} more", DIM)]
    return stack(line.truncate(width, ellipsis=True) for line in [*lines, *speed][:height])


def _busy(sight: Sight, now: float) -> Iterator[Content]:
    note = sight.note
    if note is None or not sight.live:
        yield Content.styled("nobody works on this run" if not sight.live else "the workers are not told", DIM)
        return
    for worker in note.workers:
        head = (f"{worker.place + 1} ", LOUD)
        if worker.order is None or worker.phase in ("idle", "starting"):
            yield Content.assemble(head, (worker.phase, DIM))
        elif worker.phase == "environment":
            yield Content.assemble(head, f"makes the environment for {worker.order.replace('_', '/')}")
        else:
            steps = f", step {worker.steps}" if worker.steps else ""
            doing = DOING.get(worker.doing or "", worker.doing or worker.phase)
            yield Content.assemble(head, f"{doing} {worker.order.replace('_', '/')}{steps}")
    asked = [*asked_of(sight)]
    for slot in asked:
        waits = clock(now - slot.at)
        yield Content.assemble(("? ", "$text-accent"), f"asked for {slot.id}, {waits}")


def _speed(sight: Sight) -> list[Content]:
    recent = [each for each in sight.view.recent if each.wall_s > 0]
    if not recent:
        return []
    rate = sum(each.steps for each in recent) / sum(each.wall_s for each in recent)
    return [Content.styled(f"{rate:,.0f} steps/s a rollout, {counted(sight.view.episodes, 'episode')}", DIM)]


def draw_spending(sight: Sight, *, width: int, height: int, now: float) -> Content:
    """Calls, tokens and money, together and by role; then how programs failed."""
    view = sight.view
    total = view.spending.total
    lines = [Content(f"{counted(total.calls, 'call')}, {total.tokens:,} tokens, {cost(total.cost_usd)}")]
    if len(view.spending.by_role) > 1:
        lines += [
            Content.styled(f"{role}: {counted(each.calls, 'call')}, {each.tokens:,} tokens, {cost(each.cost_usd)}", DIM)
            for role, each in view.spending.by_role.items()
        ]
    lines += [
        Content.styled(f"{many} × {kind}", BAD)
        for kind, many in sorted(view.faults.items(), key=lambda item: -item[1])
    ]
    return stack(line.truncate(width, ellipsis=True) for line in lines[:height])
