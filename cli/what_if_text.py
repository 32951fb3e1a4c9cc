"""The result of a what-if as tables: every draw of a few, else the arms of every state, and the arms compared."""

from pathlib import Path
from typing import Final

from ..app.what_if_figures import WhatIfResult
from ..app.what_if_rows import ArmDifference, ArmRow, DrawRow, StateRow
from ..core.intervals import ALPHA
from ..core.operators import OPERATORS
from ..core.text import cost, interval_words, number, one_line, plural, signed_number, text_table
from ..core.values import Operator
from ..settings.what_if import SHOWN

MOST_STATES: Final = 3      # whose draws are shown one by one
SUMMARY: Final = 60         # characters of an edit's summary
_TITLES: Final = {
    "improvement": "improvement of a slot", "gain": "gain of what ran", "better": "share with a gain",
    "failed": "share that failed", "known": "share of known code", "tokens": "tokens of a draw",
}


def describe_what_if(result: WhatIfResult) -> str:
    """The draws of every state, or its arms where there are many states, and what the arms show together."""
    few = len(result.states) <= MOST_STATES
    lines = [result.title] if result.title else []
    for state in result.states:
        lines += _state(state, draws=few)
    if result.differences:
        lines += ["", *_arm_tables(result)]
    lines += ["", "gain: F minus F of the fittest parent, on its episodes; improvement: the gain, or 0 for a loss or a"
              " failure", "[95 % intervals]: over episodes for one proposal, over draws for an arm"]
    if result.repeated:
        lines.append("rolled out again from the recorded replies; nothing was kept")
    return "\n".join(lines)


def _state(state: StateRow, *, draws: bool) -> list[str]:
    operator = OPERATORS[Operator(state.operator)].proposal
    head = (
        f"{Path(state.run).name} {state.candidate}, a {operator} of {state.parent} (F {number(state.parent_fitness)}"
        f" on {plural(state.episodes, 'episode')})"
    )
    if draws:
        rows = [("", "F", "gain", "same code as", "calls", "tokens", "summary"), _draw(state.recorded, "recorded")]
        for arm in state.arms:
            rows += [(f"{arm.arm}:", "", "", "", "", "", ""), *(_draw(row, _place(row)) for row in arm.rows)]
        lines = [head, *text_table(rows).split("\n")]
    else:
        lines = [f"{head}: recorded gain {_gain(state.recorded)}"]
    return [*lines, *(line for arm in state.arms for line in _arm(arm, state))]


def _place(row: DrawRow) -> str:
    return f"  {row.name.rpartition('/')[2]}"


def _draw(row: DrawRow, name: str) -> tuple[str, ...]:
    what = row.summary if row.failure is None else row.failure
    same = f"{row.same_as}{' (rejected)' if row.rejected else ''}" if row.same_as else ""
    return (
        name, "failed" if row.failure else number(row.fitness), _gain(row), same, str(row.calls), f"{row.tokens:,}",
        one_line(what, SUMMARY),
    )


def _gain(row: DrawRow) -> str:
    return "" if row.gain is None else f"{signed_number(row.gain, digits=3)}{interval_words(row.gain_interval)}"


def _arm(arm: ArmRow, state: StateRow) -> list[str]:
    ended = "" if arm.status == "done" else f" ({arm.status})"
    said = [
        f"{plural(arm.draws, 'draw')}{ended}", f"{arm.better} better", f"{arm.failures} failed",
        f"{arm.known} of known code" + (f" ({arm.rejected} rejected before)" if arm.rejected else ""),
    ]
    spent = f"{plural(arm.calls, 'call')}, {arm.tokens:,} tokens, {cost(arm.cost_usd)}"
    lines = [f"{arm.arm} by {arm.model}: {', '.join(said)}; {spent}"]
    if arm.gain is not None:
        lines.append(
            f"  gain {signed_number(arm.gain, digits=3)}{interval_words(arm.gain_interval)}, improvement"
            f" {number(arm.improvement)}{interval_words(arm.improvement_interval)}, best"
            f" {signed_number(arm.best_gain or 0.0, digits=3)}"
        )
    if arm.recorded_difference is not None:
        lines.append(
            f"  against the recorded {state.candidate}, by episodes: {signed_number(arm.recorded_difference, digits=3)}"
            f"{interval_words(arm.recorded_interval)}"
        )
    note = _note(arm)
    return [*lines, f"  {note}"] if note else lines


def _note(arm: ArmRow) -> str:
    """What a person should know of the prompts of an arm; "" for nothing."""
    shown = SHOWN & {*arm.changed}
    if shown and arm.model == "offline":
        return "the offline model reads no prompt"
    if shown and arm.same_prompt:
        return "the prompt is the recorded one: these settings change nothing of it in this state"
    if not shown and arm.same_prompt is False:
        return "the prompt is not the recorded one: the version that recorded it wrote it in other words"
    return ""


def _arm_tables(result: WhatIfResult) -> list[str]:
    """One table per arm: its difference to the first arm in every measure."""
    lines: list[str] = []
    for name in dict.fromkeys(each.arm for each in result.differences):
        found = [each for each in result.differences if each.arm == name]
        where = "one state, by draws" if found[0].states == 1 else f"{found[0].states} states, paired"
        lines.append(f"{name} minus {found[0].against}, over {where}:")
        lines += text_table([("", "difference", "p"), *map(_row, found)]).split("\n")
    return [*lines, "unclear: the interval holds 0, or the sign-flip test, of one measure, does not exclude it at 5 %"]


def _row(each: ArmDifference) -> tuple[str, str, str]:
    digits = 0 if each.measure == "tokens" else 3
    clear = each.interval is not None and not each.interval[0] <= 0.0 <= each.interval[1]
    clear = clear and (each.p_value is None or each.p_value <= ALPHA)
    return (
        f"  {_TITLES[each.measure]}",
        f"{signed_number(each.difference, digits=digits)}{interval_words(each.interval, digits=digits)}"
        f"{'' if clear else ' unclear'}",
        "" if each.p_value is None else f"{each.p_value:.2g}",
    )
