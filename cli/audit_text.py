"""The result of an audit as text or JSON, its worst programs as files, and the commands that film them."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ..app.audit import AuditDone
from ..core.audits import HACK, SEARCH, Audit, AuditRow
from ..core.errors import UsageError
from ..core.files import replace_file
from ..core.provenance import GIVEN
from ..core.text import DASH, number, one_line, plural
from ..core.values import JSON
from ..domains import load as load_domain
from ..tui.words import tests_words

if TYPE_CHECKING:
    from ..evidence.validity import Validity  # which needs the extra `compare`


def describe(audit: Audit, commands: Sequence[str]) -> str:
    """The counts by kind, the worst programs, and the commands that film them."""
    lines = [
        f"audit of the evaluator {audit.evaluator_name} in {audit.domain}:"
        f" {plural(audit.total.programs, 'program')}, {plural(audit.episodes, 'episode')} each, seed {audit.seed}",
        "",
        f"{'kind':<16} {'programs':>8} {'failed':>7} {'S = 0':>6} {f'F >= {HACK:g}':>9} {'share':>7} {'highest F':>10}",
        *(_row(row) for row in audit.rows),
        _row(audit.total),
    ]
    if audit.evaluator_faults:
        lines += ["", f"The evaluator failed on {plural(audit.evaluator_faults, 'episode')}, which count as F = 0."]
    if audit.worst:
        lines += ["", "the highest F with S = 0:"]
        lines += [
            f"  {number(each.fitness)}  {one_line(each.name, 60)} ({each.kind}); episode {each.best_episode} has"
            f" {number(each.best_f)}" for each in audit.worst
        ]
    if commands:
        lines += ["", "to see them:", *(f"  {command}" for command in commands)]
    elif any(each.program is not None for each in audit.worst):
        lines += ["", "--out DIR keeps these programs and prints the commands that film them."]
    return "\n".join(lines)


def describe_validity(found: "Sequence[Validity]") -> str:
    """What recorded runs show of their evaluators, a few lines for each run."""
    return "\n\n".join("\n".join(_validity(each)) for each in found)


def _validity(found: "Validity") -> Iterator[str]:
    yield f"{found.run}: {found.evaluator} over {plural(found.candidates, 'candidate')}, p_0 among them"
    interval = "" if found.low is None else f", 95 % {number(found.low, digits=2)} to {number(found.high, digits=2)}"
    known = "not defined, since F or S does not vary" if found.rho is None else number(found.rho, digits=2) + interval
    yield f"  Spearman's rho of F and S: {known}"
    if found.gap is None:
        yield "  mislead gap: not defined, since every candidate succeeded at least once"
    else:
        yield (
            f"  mislead gap: F {number(found.gap)} with S = 0, by {one_line(found.misleading, 60)};"
            f" {plural(found.unsuccessful, 'candidate')} never succeeded"
        )
    if found.tests is not None:
        yield f"  tests: {tests_words(found.tests)}"


def _row(row: AuditRow) -> str:
    share = DASH if row.share is None else f"{100 * row.share:.1f} %"
    return (
        f"{row.kind:<16} {row.programs:>8} {row.failed:>7} {row.unsuccessful:>6} {row.hacks:>9}"
        f" {share:>7} {number(row.best_fitness):>10}"
    )


def as_object(audit: Audit, commands: Sequence[str]) -> dict[str, JSON]:
    """The object for `--json`."""
    values: dict[str, JSON] = json.loads(json.dumps(asdict(audit), allow_nan=False))
    return {**values, "share": audit.total.share, "threshold": HACK, "films": [*commands]}


def write_programs(done: AuditDone, folder: Path) -> None:
    """Write the texts of the worst programs, replacing earlier ones. Raises UsageError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in done.texts.items():
            replace_file(folder / f"{name}.py", text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None


def films(done: AuditDone, folder: Path, run: Path | None) -> list[str]:
    """For each of the worst programs the command that films its best episode; `run` has the search's candidates."""
    audit = done.audit
    commands = []
    for each in audit.worst:
        if each.kind == SEARCH and run is not None:
            film = folder / f"{each.name.replace('/', '-')}.mp4"
            commands.append(shlex.join(["memento", "render", str(run), each.name, "--out", str(film)]))
        if each.name in done.texts:
            path = folder / f"{each.name}.py"
            words = [
                "memento", "render", str(path), "--domain", audit.domain,
                *_settings(audit.domain, done.options[each.name]), "--seed", str(audit.seed), "--episode",
                str(each.best_episode), "--out", str(path.with_suffix(".mp4")),
            ]
            commands.append(shlex.join(words))
    return commands


def _settings(name: str, options: Mapping[str, JSON]) -> list[str]:
    """The flags that give these options: those that are not the domain's own."""
    domain = load_domain(name, GIVEN)
    own = domain.options({}, preset="paper")
    return [
        word for key, value in options.items() if own.get(key) != value
        for word in ("--set", f"{domain.name}.{key}={json.dumps(value)}")
    ]
