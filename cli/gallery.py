"""`memento gallery`: programs that language models evolved, with their figures; and whether they still hold."""

import dataclasses
import json
import math
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.text import number, one_line, plural, signed_number, text_table
from . import flags
from .output import print_json_line, print_text, say

if TYPE_CHECKING:
    from ..app.results import EpisodeResult, EvaluateResult
    from ..domains.gallery import GalleryProgram, MeasuredFigure

EXAMPLE: Final = "memento gallery fetch-push"
OTHERWISE: Final = 1        # the exit code if a figure does not hold
SUMMARY: Final = 100        # characters of what a step changed

Name = Annotated[
    str | None, typer.Argument(metavar="NAME", help="Show this program: its figures, how it was found.",
                               show_default=False),
]
Check = Annotated[bool, typer.Option("--check", help="Repeat the first episodes of each figure, and compare.")]
Episodes = Annotated[int, typer.Option(metavar="N", help="With --check: the episodes of each figure, at most 16.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE.py", help="Write the program to a new file.")]


def gallery(
    name: Name = None, check: Check = False, episodes: Episodes = 8, out: Out = None, workers: flags.Workers = None,
    as_json: flags.AsJson = False,
) -> None:
    """List the programs that language models evolved, show one, or check them."""
    from ..core.errors import UsageError
    from ..core.values import Program
    from ..domains import gallery as entries
    from .program_file import write_program

    chosen = [entries.entry(each) for each in ([name] if name else entries.names())]
    if out is not None:
        if name is None:
            raise UsageError("--out writes one program: name it, as in memento gallery fetch-push --out policy.py")
        write_program(Program(chosen[0].program.read_text(encoding="utf-8")), out)
        print_text(f"{name} is in {out}")
    elif check:
        held = [
            _holds(each, measured, episodes, workers, as_json=as_json) for each in chosen for measured in each.measured
        ]
        if not all(held):
            raise typer.Exit(OTHERWISE)
    elif as_json:
        for each in chosen:
            print_json_line(json.dumps(dataclasses.asdict(each)))
    elif name:
        _show(chosen[0])
    else:
        head = ("name", "task", "published", "held out", "changed physics", "replies")
        print_text(text_table([head, *map(_row, chosen)]))


def _row(entry: "GalleryProgram") -> tuple[str, ...]:
    from ..domains.gallery import NOMINAL

    others = [f"{each.conditions} {_figure(each)}" for each in entry.measured if each.conditions != NOMINAL]
    first = entry.under(NOMINAL)
    return (
        entry.name, entry.domain, "; ".join(each.value for each in entry.published) or "-",
        f"{_figure(first)}, {first.episodes} episodes" if first else "-", "; ".join(others) or "-",
        str(entry.replies),
    )


def _figure(measured: "MeasuredFigure") -> str:
    """The return with its interval, else the success rate with its own."""
    if measured.returned is not None:
        mean, low, high = measured.returned
        return f"{mean:,.4g} [{low:,.4g}, {high:,.4g}]"
    if measured.success is not None:
        rate, low, high = measured.success
        return f"{100 * rate:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"
    return "-"


def _show(entry: "GalleryProgram") -> None:
    from ..domains.gallery import PREFIX

    print_text(f"{entry.title}\n{entry.domain}\n")
    print_text(text_table([
        ("conditions", "episodes", "return [95 %]", "success [95 %]"),
        *((each.conditions, str(each.episodes), _part(each.returned, 1.0), _part(each.success, 100.0, " %"))
          for each in entry.measured),
    ]))
    print_text("")
    if entry.lineage:
        print_text(f"{_lineage(entry)}\n")
    for each in entry.published:
        print_text(f"published: {each.value}, {each.what} ({each.differs})")
    print_text(
        f"found: {entry.found}\nluck: {entry.luck}\nsearch: {entry.replies} replies, {entry.episodes} episodes; a call "
        f"takes {entry.ms_a_call:.2g} ms of CPU time\n"
        "the whole search again, without a key, in a checkout: "
        f"memento run --replay {entry.tape} --trust --replay-loosely\n"
        f"on other episodes: memento evaluate {PREFIX}{entry.name} --domain {entry.domain} --episodes 16"
    )


def _lineage(entry: "GalleryProgram") -> str:
    """What became of p_0 step by step, with F of the search before and after."""
    from ..domains.gallery import gain_of

    rows = [("candidate", "from", "F", "gain", "what changed")]
    for step in entry.lineage:
        gain = gain_of(step, entry.lineage)
        rows.append((
            step.id, ", ".join(step.parents) or "-", number(step.fitness),
            "-" if gain is None else signed_number(gain, digits=3), one_line(step.summary, SUMMARY),
        ))
    return text_table(rows)


def _part(values: tuple[float, float, float] | None, scale: float, unit: str = "") -> str:
    if values is None:
        return "-"
    mean, low, high = (scale * value for value in values)
    return f"{mean:,.4g}{unit} [{low:,.4g}, {high:,.4g}]"


def _holds(
    entry: "GalleryProgram", recorded: "MeasuredFigure", episodes: int, workers: int | None, *, as_json: bool
) -> bool:
    """Repeat the first episodes of a figure; whether each ends as it did."""
    count = min(episodes, len(recorded.first))
    say(f"{entry.name}: {plural(count, 'episode')} of {entry.domain}, {recorded.conditions}")
    found = _evaluation(entry, recorded, count, workers)
    pairs = [*zip(recorded.first, map(_value, found.per_episode), strict=False)]
    changed = sum(not math.isclose(was, now, rel_tol=1e-4, abs_tol=1e-9) for was, now in pairs)
    if as_json:
        line = {"name": entry.name, "conditions": recorded.conditions, "holds": not changed}
        print_json_line(json.dumps({**line, "found": json.loads(found.line())}))
    else:
        verdict = f"{changed} of {count} differ" if changed else f"{plural(count, 'episode')} as recorded"
        mean, before = (fsum(values) / count for values in zip(*[(now, was) for was, now in pairs], strict=True))
        print_text(f"{entry.name}, {recorded.conditions}: {verdict}; mean {mean:,.4g}, recorded {before:,.4g}")
    return not changed


def _value(episode: "EpisodeResult") -> float:
    return float(bool(episode.success)) if episode.episode_return is None else episode.episode_return


def _evaluation(
    entry: "GalleryProgram", recorded: "MeasuredFigure", episodes: int, workers: int | None
) -> "EvaluateResult":
    from .. import app
    from ..domains.gallery import SALT, SEED
    from ..settings.evaluate import build_evaluate_settings
    from .execution import execute

    settings = build_evaluate_settings(
        entry.program, entry.domain, flags={**entry.options, **recorded.options}, episodes=episodes, seed=SEED,
        salt=SALT, evaluator="reference", workers=workers,
    )
    return execute(app.evaluate(settings))
