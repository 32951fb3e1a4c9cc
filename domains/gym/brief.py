"""The texts of a Gymnasium environment for prompts: the task with what is in force, the interfaces, the episodes."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from ...core.values import Brief, TaskKind
from .actions import ActionReader
from .description import Description
from .documentation import MOST_CHARS, Table, beginning_of, elements, listed_names, table_text, text_within
from .names import parse_id, suite_of
from .options import BY_RETURN, NONE, Settings
from .perturbing import NOMINAL, sentence
from .spaces import MASK, TEXT, Leaf, has_text
from .success import COMPLETIONS, REMAINING
from .trace import recorded_fields

MOST_BOUNDS: Final = 64         # numbers of a field whose bounds are listed one by one
MOST_INLINE: Final = 8          # numbers without names that stand on one line
MOST_SEEN: Final = 32           # numbers of a field whose ranges in random episodes are shown
LEAST_JOINTS: Final = 3         # of a body that walks
MOST_ROWS: Final = 120          # of a table of elements
MOST_BRIEF: Final = 18_000      # characters of task and interface; the model's tables give way first, down to
LEAST_MODEL: Final = 1_200      # so many
BEYOND: Final = 0.005           # of the range between bounds: less beyond them is rounding
_WALKS: Final = re.compile(r"\b(walk\w*|gait|legs?|legged|hop\w*|run|forward)\b", re.IGNORECASE)
_RANGES: Final = ("min", "max", "control min", "control max", "action min", "action max")   # the space has them


def brief(settings: Settings) -> Brief:
    """The texts for these settings."""
    return Brief(
        task=_task(settings), policy_interface=_policy(settings), evaluator_interface=_evaluator(settings),
        uncertainties=_uncertainties(settings), reference_fitness=_reference(settings), kind=_kind(settings),
        has_top=settings.ranks_success,
    )


def _task(settings: Settings) -> str:
    known = settings.description
    made = ", ".join(f"{name} = {value!r}" for name, value in known.kwargs.items())
    aim = ("The policy should succeed in as many episodes as possible, and early; without success the return of an "
           "episode, the sum of its rewards, says how near it came." if settings.ranks_success else
           "The return of an episode is the sum of its rewards; the policy should make it as large as possible.")
    head = f"Write a policy for the Gymnasium environment `{known.id}`{f' (made with {made})' if made else ''}. {aim}"
    body = [] if settings.task is not None and not settings.extends else [_documentation(known)]
    room = MOST_BRIEF - sum(map(len, (*body, settings.task or "", known.arguments, _policy(settings))))
    parts = [*body, settings.task or "", known.arguments, beginning_of(known.model, max(LEAST_MODEL, room))]
    return "\n\n".join([head, *(text.strip("\n") for text in parts if text.strip()), _episode(settings)])


def _documentation(known: Description) -> str:
    """The documentation and the notes within their bound, without the tables that the interface has."""
    shown = [list(_tables_of(text, known).values()) for text in (known.documentation, known.notes)]
    notes = text_within(known.notes, shown=shown[1]) if known.notes else ""
    documentation = text_within(known.documentation, most=MOST_CHARS - len(notes), shown=shown[0])
    return "\n\n".join(filter(None, (documentation, notes))) or "The environment has no documentation."


def _tables_of(text: str, known: Description) -> dict[tuple[str, str], Table]:
    """By kind and field, the text's tables of the numbers of observations and actions."""
    found: dict[tuple[str, str], Table] = {}
    for kind, leaves in (("Observation", known.observation), ("Action", known.action)):
        sizes = {leaf.name: leaf.size for leaf in leaves if leaf.kind != TEXT and not leaf.is_mask}
        if kind == "Action" and leaves[0].whole and leaves[0].size == 1:
            continue        # a table of choices counts values, not numbers
        found |= {(kind, name): table for name, table in elements(text, kind, sizes).items()
                  if text != known.notes or len(table.rows) == sizes[name]}      # notes are of default arguments
    return found


def _names(settings: Settings, kind: str) -> dict[str, Table]:
    """By field, the table that names its numbers: of the user's text, the documentation or the notes."""
    known = settings.description
    found: dict[str, Table] = {}
    for text in (known.notes, known.documentation, settings.task or ""):
        found |= {name: table for (what, name), table in _tables_of(text, known).items() if what == kind}
    leaves = [leaf for leaf in (known.observation if kind == "Observation" else known.action) if leaf.kind != TEXT]
    if len(leaves) == 1 and leaves[0].name not in found:
        listed = listed_names(settings.task or known.documentation, kind, leaves[0].size)
        found |= {leaves[0].name: listed} if listed is not None else {}
    return found


def element_names(settings: Settings) -> Mapping[str, tuple[str, ...]]:
    """By field of the observation, what its numbers are; empty where nothing says so."""
    return {name: tuple(row[1] for row in table.rows) for name, table in _names(settings, "Observation").items()}


def _episode(settings: Settings) -> str:
    known = settings.description
    lasts = f" A step lasts {known.step_s:g} s." if known.step_s is not None else ""
    raises = [
        f"- The environment refuses some actions in some states: random ones were answered with {known.raises}. "
        "An action that it refuses ends the episode as a fault."
    ] if known.raises else []
    cut = (f" In random episodes it truncated after {known.truncated_after} steps, never earlier or later."
           if known.truncated_after not in (None, known.horizon) else "")
    lines = [
        f"- An episode has at most {known.horizon} steps, then it ends by \"horizon\". It ends earlier by "
        f"\"terminated\" or \"truncated\" where the environment says so.{cut}{lasts}",
        f"- Success: {_success(settings)}{_visibility_words(settings)}",
        *_rewards(settings),
        *(["- An action after which the reward or the observation is no number is a fault: the episode's fitness is 0."]
          if settings.divergence_is_fault else []),
        *(["- NaN in an observation stands for no reading."] if settings.nan_is_reading else []),
        f"- A policy of random actions has a mean return of {known.random_mean:.4g} (standard deviation "
        f"{known.random_std:.3g}, {known.random_episodes} episodes).",
        *raises,
    ]
    return "\n".join(["### Episodes", "", *lines])


def _rewards(settings: Settings) -> list[str]:
    """How rewards and success go together, where the environment reports success and it was looked at."""
    shape, missing = settings.description.shape, settings.description.only_at_reset
    lines = []
    if shape is not None and settings.success not in (NONE, BY_RETURN):
        counts = ("Success counts first here." if settings.ranks_success else "The return alone counts here.")
        lines.append(f"- Rewards: {shape.words}{f' {shape.conflict} {counts}' if shape.conflict else ''}")
    if missing:
        lines.append("- In the `info` of the environment's `reset` alone, so that no policy sees it: "
                     f"{', '.join(missing)}.")
    return lines


def _reference(settings: Settings) -> str:
    """What f_e is under the reference evaluator."""
    guess = " (a guess: nothing names a good return)" if settings.high_is_guess else ""
    more = f"R = {settings.low + 10.0 * (settings.high - settings.low):.4g}"
    if settings.ranks_success:
        return (f"f_e is 1 - 0.05 (t - 1) / {settings.description.horizon} for an episode that succeeds from step t on."
                f" Without success it is below 0.5 and grows with the return R: it is 0.125 at R = {settings.low:.4g}, "
                f"0.375 at R = {settings.high:.4g}{guess}, and 0.43 at {more}.{_sooner(settings)}")
    share = f"(R - {settings.low:.4g}) / {settings.high - settings.low:.4g}".replace("- -", "+ ")
    return (f"f_e grows with the return R of the episode: it is 0.25 at R = {settings.low:.4g} and 0.75 at "
            f"R = {settings.high:.4g}{guess}. Above that it is 1 - 0.25 / y^(1/4) with y = {share}, such as 0.86 at "
            f"{more}, without an upper limit of R.")


def _sooner(settings: Settings) -> str:
    """That a success is worth no less for its lower return, where rewards are paid until then."""
    shape = settings.description.shape
    return " Sooner is better, also where the return is lower." if shape is not None and shape.contradicts else ""


def _kind(settings: Settings) -> TaskKind:
    """What kind of task it is, for the advice to writers: of its suite, else by its spaces and its documentation."""
    known = settings.description
    suite = suite_of(parse_id(known.id))
    if suite is not None and suite.kind is not None:
        return suite.kind
    numbers = [leaf for leaf in known.observation if leaf.kind != TEXT]
    if all(leaf.whole for leaf in (*numbers, *known.action)):
        return "grid"
    joints = sum(leaf.size for leaf in known.action if not leaf.whole)
    return "gait" if joints >= LEAST_JOINTS and _WALKS.search(known.documentation) else "control"


def _success(settings: Settings) -> str:
    if settings.success == NONE:
        return "the environment reports none; the return alone counts."
    if settings.success == BY_RETURN:
        counted = f"an episode counts as a success if its own return is at least {settings.threshold:g}."
        if settings.threshold != settings.description.threshold:
            return counted
        return (f"{counted} Gymnasium gives this number for the mean return of a policy over many episodes: a policy "
                "that solves the task may fall short of it in some of them, and still count as good.")
    when = "at any step" if settings.success_at == "any" else "at the last step"
    if settings.success == COMPLETIONS:
        return (f"`{COMPLETIONS}` holds tasks and no task is left in `{REMAINING}` {when} of the episode: every task "
                "must be done, and some of them are no success.")
    code = settings.description.success_codes.get(settings.success, "")
    said = f" In its code {code}." if code else ""
    return f"the environment reports `{settings.success}` {when} of the episode.{said}"


def _visibility_words(settings: Settings) -> str:
    """Whether the search can see what the environment reports of success."""
    if settings.success in (NONE, BY_RETURN):
        return ""
    held = settings.shows_success or settings.ranks_success
    return (" Recordings show it, so that the fitness can count it." if held else
            " No recording shows it: the fitness cannot count it.")


def _policy(settings: Settings) -> str:
    known = settings.description
    text = has_text(known.observation)
    names = _names(settings, "Observation")
    lines = [
        "class Policy with reset(self) and compute_action(self, obs). reset is called once, before the first step. "
        f"obs is a dict with {'these values' if text else 'these numpy arrays of float64'}:",
        "", *(_field_words(leaf, settings, names.get(leaf.name), json=text) for leaf in known.observation),
        "", f"compute_action returns {_action(known.action, _names(settings, 'Action'), known.choices, json=text)}",
        *_masking(known),
    ]
    return "\n".join(lines)


def _masking(known: Description) -> list[str]:
    """How the mask of actions is read, where the environment has one."""
    if not known.mask:
        return []
    name = next((leaf.name for leaf in reversed(known.observation) if leaf.is_mask), MASK)
    least = ActionReader(known.action).low
    many = ", those of one number after those of another" if least.size > 1 else ""
    first = f"the first is for {least[0]:g}" + (" in action[0]" if many else "")
    return ["", f"`{name}` has a flag for each choice{many}; {first}. A 1 allows the choice in the present state. "
            "Choose among these: another choice may do nothing, or it ends the episode as an invalid action."]


def _field_words(leaf: Leaf, settings: Settings, names: Table | None, *, json: bool) -> str:
    if leaf.kind == TEXT:
        return f"- `{leaf.name}`: a text."
    known = settings.description
    shape = f"shape {_shape(leaf)}" if not json or leaf.shape != (1,) else "a list of one number"
    kind = "nested lists of " if json and len(leaf.shape) > 1 else ""
    words = f"- `{leaf.name}`: {kind}{'integers' if leaf.whole else 'numbers'}, {shape}, {_bounds(leaf)}."
    if leaf.at_reset:
        words += f" It is `{leaf.path[1]}` in the info of the environment's `reset`, the same at every step."
    seen = known.seen.get(leaf.name)
    parts = known.parts.get(leaf.name, ())
    if leaf.size == 1 and names is None:
        return words if seen is None else f"{words} In random episodes it was {_span(seen[0][0], seen[1][0])}."
    plain = names is None and not parts and len(leaf.low) + len(leaf.high) == 2
    if plain and leaf.size <= MOST_INLINE and seen is not None:
        ends = ", ".join(f"[{place}] {_span(*each)}" for place, each in enumerate(zip(*seen, strict=True)))
        return f"{words} In random episodes: {ends}."
    if len(leaf.shape) > 1 and seen is not None and not parts:
        return f"{words} In random episodes its numbers were from {_span(min(seen[0]), max(seen[1]))}."
    table = _elements(leaf, names, seen if leaf.size <= MOST_SEEN else None, parts)
    return f"{words} Its elements:\n\n{table}\n{_beyond(leaf, seen)}" if table else words


def _beyond(leaf: Leaf, seen: tuple[Sequence[float], Sequence[float]] | None) -> str:
    """The sentence on numbers that left the bounds that the environment states; "" for none."""
    if seen is None or leaf.size > MOST_SEEN:
        return ""
    bounds = (each * leaf.size if len(each) == 1 else each for each in (leaf.low, leaf.high))
    places = [
        str(place) for place, (low, high, least, most) in enumerate(zip(*bounds, *seen, strict=True))
        if least < low - BEYOND * (high - low) or most > high + BEYOND * (high - low)
    ]
    return f"In random episodes [{', '.join(places)}] went beyond the stated bounds.\n" if places else ""


def _span(low: float, high: float) -> str:
    return f"{low:.3g} to {high:.3g}"


def _elements(
    leaf: Leaf, names: Table | None, seen: tuple[Sequence[float], Sequence[float]] | None,
    parts: Sequence[tuple[str, int]] = (),
) -> str:
    """The numbers of a field as a table: index, what the documentation says of it, bounds, ranges; "" for nothing.

    Equal rows in a line are one row. `parts` are names of consecutive numbers, for those that have no row.
    """
    kept = [] if names is None else [
        place for place in range(1, len(names.header)) if names.header[place].lower() not in _RANGES
    ]
    header = ["index", *(_short(names.header[place]) for place in kept if names is not None)]
    named = [tuple(row[place] for place in kept) for row in names.rows] if names is not None else []
    others = [_part(place, parts) for place in range(len(named), leaf.size)] if parts or named else []
    if others and not kept:
        header.append("part")
    columns = max(len(kept), len(header) - 1)
    listed = leaf.size if leaf.size <= MOST_BOUNDS else 0
    rows: list[list[str]] = [[str(place), *cells] for place, cells in enumerate(named)]
    rows += [[str(len(named) + place), name, *[""] * (columns - 1)] for place, name in enumerate(others)]
    rows = rows or [[str(place)] for place in range(listed)]
    if listed and len(leaf.low) + len(leaf.high) > 2:
        header.append("bounds")
        rows = [[*row, bounds] for row, bounds in zip(rows, _pairs(leaf), strict=True)]
    if listed and seen is not None:
        header.append("in random episodes")
        rows = [[*row, _span(*ends)] for row, ends in zip(rows, zip(*seen, strict=True), strict=True)]
    if len(header) == 1:
        return ""
    return table_text(Table(tuple(header), tuple(tuple(row) for row in rows)), most_rows=MOST_ROWS)


def _short(heading: str) -> str:
    return heading.replace(" (in corresponding XML file)", " in the model")


def _part(place: int, parts: Sequence[tuple[str, int]]) -> str:
    """The name of the part that holds the number of this place."""
    for name, size in parts:
        if place < size:
            return name
        place -= size
    return "not named"


def _shape(leaf: Leaf) -> str:
    return f"({leaf.shape[0]},)" if len(leaf.shape) == 1 else str(leaf.shape)


def _bounds(leaf: Leaf) -> str:
    if len(leaf.low) == 1 and len(leaf.high) == 1:
        return f"each {_range_words(leaf.low[0], leaf.high[0])}"
    if leaf.size > MOST_BOUNDS or len(leaf.shape) > 1:
        return f"between {min(leaf.low):.4g} and {max(leaf.high):.4g}"
    return "with the bounds below"


def _pairs(leaf: Leaf) -> list[str]:
    low = leaf.low * leaf.size if len(leaf.low) == 1 else leaf.low
    high = leaf.high * leaf.size if len(leaf.high) == 1 else leaf.high
    return [_range_words(*pair) for pair in zip(low, high, strict=True)]


def _range_words(low: float, high: float) -> str:
    low, high = low + 0.0, high + 0.0       # -0.0 is 0
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    if math.isinf(high):
        return f"at least {low:.4g}"
    return f"at most {high:.4g}" if math.isinf(low) else f"from {low:.4g} to {high:.4g}"


def _action(leaves: Sequence[Leaf], names: Mapping[str, Table], choices: Sequence[str], *, json: bool) -> str:
    size = sum(leaf.size for leaf in leaves)
    kind = "a list" if json else "a list or numpy array"
    plain = "" if size > 1 else ", or a plain number"
    lines = [f"{kind} of {size} {'number' if size == 1 else 'numbers'}{plain}:"]
    start = 0
    for leaf in leaves:
        places = f"[{start}]" if leaf.size == 1 else f"[{start}] to [{start + leaf.size - 1}]"
        rule = ("integers; anything else ends the episode as an invalid action" if leaf.whole
                else "numbers beyond the bounds are clipped to them")
        lines.append(f"- {places}: `{leaf.name}`, {_bounds(leaf)}; {rule}.")
        if table := _elements(leaf, names.get(leaf.name), None):
            lines += ["", table, ""]
        elif choices:
            lines.append("  " + "; ".join(f"{int(leaf.low[0]) + at} {name}" for at, name in enumerate(choices)) + ".")
        start += leaf.size
    return "\n".join(lines).rstrip()


def _evaluator(settings: Settings) -> str:
    known = settings.description
    size = sum(leaf.size for leaf in known.action)
    kept = recorded_fields(known)
    lines = [
        "class Evaluator with evaluate(self, trajectory). trajectory is a dict of numpy arrays of one episode of T "
        "steps:",
        "", *(f"- `{leaf.name}`: {_shape_of_rows(leaf)}, as observed; row 0 is the start." for leaf in kept),
        f"- `action` (T, {size}): as the environment got it.",
        "- `reward` (T,), `terminated` (T,) and `truncated` (T,): of every step.",
    ]
    lost = [leaf.name for leaf in known.observation if leaf not in kept]
    if lost:
        lines.append(f"- Not recorded, because they are too large: {', '.join(lost)}.")
    if not kept:
        lines.append("- `step` (T + 1,): the numbers of the steps.")
    for field in settings.recorded_info:
        shape = "(T,)" if field.size == 1 else f"(T, {field.size})"
        path = ".".join(map(str, field.path))
        lines.append(f"- `{field.name}` {shape}: what the environment reports as {path}; NaN where it reported "
                     "nothing.")
    lines += [
        f"- `action_low` ({size},) and `action_high` ({size},): the bounds of an action.",
        f"- `return_low` (1,) and `return_high` (1,): the mean return of random actions, {settings.low:.4g}, and a "
        f"good return, {settings.high:.4g}{', which is a guess' if settings.high_is_guess else ''}.",
        *(["- `success` (T + 1,): whether the episode would be a success if it ended at this row; `horizon` (1,): the "
           "most steps of an episode."] if settings.ranks_success else []),
        "", "It returns a pair: a fitness in [0, 1] and a dict of metrics. T may be 0.",
    ]
    return "\n".join(lines)


def _shape_of_rows(leaf: Leaf) -> str:
    if leaf.kind == TEXT:
        return "texts (T + 1,)"
    return f"(T + 1, {', '.join(map(str, leaf.shape))})"


def _uncertainties(settings: Settings) -> str:
    if not settings.description.repeatable:
        return "The start of an episode varies, and episodes are not repeatable: chance that no seed controls has part."
    drawn = "What the environment draws at random, such as the start of an episode, differs between episodes."
    return drawn if settings.perturb == NOMINAL else f"{drawn} {sentence(settings.perturb)}"
