"""Reads runs: show, export."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from ..core.errors import UsageError, unknown
from ..core.events import Fact
from ..memory.lock import is_locked
from ..memory.queries import (
    CandidateRow,
    GenerationRow,
    Summary,
    count_failures,
    list_candidates,
    list_generations,
    summarise,
    trace_lineage,
)
from ..memory.runs import find_run
from ..memory.store import RunStore
from ..settings import Settings, settings_in
from ..tui.lines import isolation, one_line
from .telling import cost, number, share

FAILURES_SHOWN = 3


def show_run(run: str, candidate: str | None, *, runs_dir: Path, settings: bool) -> None:
    """`memento show`: the story of a run on one screen, one candidate of it, or its settings."""
    folder = find_run(runs_dir, run)
    with RunStore.read(folder) as store:
        facts = tuple(store.facts())
    if settings:
        typer.echo(_settings(facts, folder).as_toml(), nl=False)
        return
    lines = _story(facts, folder) if candidate is None else _candidate(_row(facts, candidate))
    for line in lines:
        typer.echo(line)


def export_program(run: str, candidate: str | None, *, runs_dir: Path, out: Path) -> None:
    """`memento export`: the program of a candidate, or of the elite, as a file. Never writes over one."""
    folder = find_run(runs_dir, run)
    with RunStore.read(folder) as store:
        facts = tuple(store.facts())
    if candidate is not None:
        row = _row(facts, candidate)
    else:
        lineage = trace_lineage(facts)
        if not lineage:
            raise UsageError(f"the run {folder.name!r} has no elite yet: name a candidate, or let the run go on")
        row = lineage[-1]
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(row.program.text)
    except FileExistsError:
        raise UsageError(f"{out} exists already: choose another --out, or remove it") from None
    except OSError as error:
        raise UsageError(f"cannot write {out}: {error.strerror}") from None
    typer.echo(f"memento: {row.id} of {folder.name} is in {out}", err=True)


# ------------------------------------------------------------------------------------------- the story


def _story(facts: Sequence[Fact], folder: Path) -> Iterator[str]:
    summary = summarise(facts)
    words = summary.settings
    live = is_locked(folder)
    state = summary.status if live or summary.status != "running" else "killed"
    what = f"{words.get('domain')} by {words.get('method')}, preset {words.get('preset')}, seed {words.get('seed')}"
    how = f"stage {summary.stage}; model {words.get('model')}; evaluator {words.get('evaluator')}"
    yield f"{folder}: {what}"
    yield f"  {state}{', live' if live else ''}; {how}"
    yield f"  {isolation(summary.sandbox)}"
    yield ""
    before: float | None = None
    for generation in list_generations(facts):
        yield _generation(generation, before)
        before = generation.fitness
    yield from _measured(summary)
    yield ""
    yield (
        f"{summary.candidates} candidates, {summary.failed} of them failed; {summary.episodes_run} episodes;"
        f" {summary.spending.total.calls} model calls, {summary.spending.total.tokens} tokens,"
        f" {cost(summary.spending.total.cost_usd)}"
    )
    for failure in count_failures(facts)[:FAILURES_SHOWN]:
        example = f"such as {failure.order}: {one_line(failure.example)}"
        yield f"  {failure.count} × {failure.where} {failure.kind}, {example}"
    if not live and summary.status != "done":
        yield f"go on with: memento resume {folder}"
    elif summary.elite is not None:
        yield f"the elite as a file: memento export {folder} --out elite.py"


def _generation(row: GenerationRow, before: float | None) -> str:
    head = f"  g{row.generation}  F {row.fitness:.3f}"
    if before is None:
        return f"{head}           success {share(row.success_rate)}  p_0"
    climbs = f"{row.accepted} of {row.accepted + row.rejected} climbs taken"
    slots = f"{row.candidates} candidates, {row.failed} failed, {climbs}"
    who = f"{row.elite} ({row.origin})" if row.changed else "the elite stays"
    return f"{head} ({row.fitness - before:+.3f})  success {share(row.success_rate)}  {who}; {slots}"


def _measured(summary: Summary) -> Iterator[str]:
    final = summary.final
    if final is not None:
        yield (
            f"  unseen episodes: F {number(final.initial_fitness)} -> {number(final.elite_fitness)},"
            f" success {share(final.initial_success)} -> {share(final.elite_success)}"
        )


# --------------------------------------------------------------------------------------- one candidate


def _candidate(row: CandidateRow) -> Iterator[str]:
    parents = f" of {' and '.join(row.parents)}" if row.parents else ""
    yield f"{row.id}: {row.operator}{parents}"
    if row.summary:
        yield f"  {one_line(row.summary)}"
    if row.fault is not None:
        yield f"  failed: {row.fault.kind}, {one_line(row.fault.message)}"
    else:
        yield f"  F {number(row.fitness)}, success {share(row.success_rate)}, {row.episodes} episodes"
    if row.elite_of:
        yield f"  elite of generation {', '.join(map(str, row.elite_of))}"
    for name, value in row.metrics.items():
        yield f"  {one_line(name)}: {one_line(str(value))}"
    yield ""
    yield "".join(letter for letter in row.program.text if letter.isprintable() or letter in "\n\t")


def _row(facts: Sequence[Fact], name: str) -> CandidateRow:
    rows = {row.id: row for row in list_candidates(facts)}
    if name not in rows:
        raise unknown("candidate", name, rows)
    return rows[name]


def _settings(facts: Sequence[Fact], folder: Path) -> Settings:
    settings = settings_in(facts)
    if settings is None:
        raise UsageError(f"the run {folder.name!r} was killed before its first fact: it has no settings")
    return settings
