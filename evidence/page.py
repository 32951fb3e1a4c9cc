"""The report as one self-contained HTML page: no scripts, nothing from elsewhere. Pure: evidence -> text.

Whatever comes from candidates, models or files goes through a template that escapes everything.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from ..core.operators import OPERATORS
from ..core.text import bounded, number, one_line
from ..core.values import Operator
from ..memory.card import card_words
from ..memory.evaluator_pools import EvaluatorPool
from . import page_tables, tables
from .descent import PLACES, Descent, descend
from .findings import ArmFinding, GroupFinding, find, sentences
from .learned import BaselineRow
from .loading import Evidence
from .page_tables import baseline_table, correlations, paper_tables, yardstick_tables
from .records import RunRecord
from .svg import Dots, Line, Mark, bars, curves, dot_rows, scatter, swatch
from .tables import Table
from .validity import find_validity, validity_table

# Texts without the absolute paths of the machine that wrote them: pages and archives are sent to others. Pure.


_ABSOLUTE: Final = re.compile(r"(?:/|[A-Za-z]:[\\/])")
_INNER_PATH: Final = re.compile(r"(?<![\w./:])(?:/[^\s/'\",;:()]+){2,}/?")     # in a longer text


def without_paths(value: Any) -> Any:
    """A JSON value in which every absolute path is its last part."""
    if isinstance(value, str):
        if _ABSOLUTE.match(value):
            return PureWindowsPath(value).name      # which knows both separators
        return _INNER_PATH.sub(lambda found: Path(found[0]).name, value)
    if isinstance(value, list):
        return [without_paths(each) for each in value]
    if isinstance(value, dict):
        return {without_paths(key): without_paths(each) for key, each in value.items()}
    return value


FEW = 3  # runs shown one by one; of more, the best per task
REASONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture of a rollout, as a data URI, with its caption."""

    uri: str
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOrigin:
    """How a page was made. `expected_layers` are the layers that isolate generated programs."""

    made: str  # when, for people
    version: str
    command: str = ""
    expected_layers: tuple[str, ...] = ()
    pictures: Mapping[str, Sequence[Picture]] | None = None  # by run; None if this machine cannot draw them
    no_pictures: str = ""  # the reason for no pictures


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A group's part of the page."""

    group: GroupFinding
    legend: tuple[tuple[str, Markup], ...]
    charts: tuple[tuple[str, Markup], ...]
    tables: tuple[Table, ...]
    details: tuple[Table, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolView:
    """One generation of evaluator evolution as texts."""

    head: str
    rows: tuple[tuple[str, str, str, str], ...]  # evaluator, mean f on T_0, votes, summary or fault
    reasons: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSection:
    """One run that is shown in its own section."""

    record: RunRecord
    card: tuple[tuple[str, str], ...]
    descent: Descent
    pools: tuple[PoolView, ...]
    pictures: tuple[Picture, ...]
    evaluator: str


def render(evidence: Evidence, frame: PageOrigin) -> str:
    """The page."""
    findings = find(evidence)
    template = _environment().get_template("page.html")
    return template.render(
        title=one_line(evidence.title, 200),
        frame=replace(frame, command=without_paths(frame.command)),
        evidence=evidence,
        banners=tuple(banners(evidence, frame)),
        words=tuple(sentences(findings)),
        sections=tuple(_section(group) for group in findings.groups),
        paper=paper_tables(evidence),
        learned=baseline_table(evidence.baselines),
        yardsticks=yardstick_tables(evidence),
        shown=tuple(_run_view(record, evidence, frame) for record in shown_runs(evidence)),
        correlations=correlations(findings, evidence.records),
        voting=tables.voting(findings.voting),
        audits=tables.audits(evidence.records),
        validity=validity_table(find_validity(evidence.records)),
        roles=tables.roles(evidence.records),
        nodes=tables.nodes(evidence.records),
        runs=tables.runs(evidence),
        origins=_operator_legend(evidence.records),
        versions=_versions([*evidence.records, *evidence.baselines]),
        layers=sorted({layer for record in evidence.records for layer in record.sandbox}),
        settings=(*_settings(evidence.records), *_trained(evidence.baselines)),
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(__package__, "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )


def banners(evidence: Evidence, frame: PageOrigin) -> Iterable[str]:
    """Warnings that a reader must know before reading any number."""
    offline = [record for record in evidence.records if "offline" in record.model]
    if offline:
        which = "Every run" if len(offline) == len(evidence.records) else f"{len(offline)} of the runs"
        yield (
            f"{which} on this page used the offline model, which is not a language model: it picks and edits parts of a"
            " shelf that ships with the domain. The numbers show how the methods search; they are no evidence for or"
            " against the paper's claims about language models."
        )
    hinted = sum(record.hints > 0 for record in evidence.records)
    if hinted:
        yield (
            f"In {hinted} of {len(evidence.records)} runs a person gave hints, which prompts quoted: these runs are not"
            " the work of the method alone."
        )
    loose = [record for record in evidence.records if record.replay_differs is not None]
    if loose:
        yield (
            f"{len(loose)} of {len(evidence.records)} runs repeat recorded replies although prompts have changed since"
            f" (first {loose[0].replay_differs} in {loose[0].name}): they are no longer the recorded runs, and no model"
            " answered these prompts."
        )
    unfinished = [record.name for record in evidence.records if record.status != "done"]
    if unfinished or evidence.missing:
        count = len(unfinished) + len(evidence.missing)
        kept = "the statistics leave them out" if evidence.counted != evidence.records or evidence.missing else (
            "the page shows the results so far"
        )
        yield f"{count} of {len(evidence.records) + len(evidence.missing)} runs are not done; {kept}."
    missing = [
        record.name for record in evidence.records if not {*frame.expected_layers} <= {*record.sandbox}
    ]
    if missing:
        yield f"In {len(missing)} runs generated programs were not fully isolated; see “Isolation” below."
    failed = sum(row.count for record in evidence.records for row in record.failures if row.where == "score")
    if failed:
        yield f"The frozen evaluator failed on {failed} episodes, which therefore scored 0."


# ------------------------------------------------------------------------------ groups


def _section(group: GroupFinding) -> Section:
    legend = tuple((arm.arm, swatch(place)) for place, arm in enumerate(group.arms))
    charts = [
        ("Best fitness so far, under the run's own evaluator", _curves(group, "fitness_curve", "fitness F")),
    ]
    if any(arm.success_curve for arm in group.arms):
        charts.append((
            "Success of the best so far, on the search's own episodes", _curves(group, "success_curve", "success S"),
        ))
    for name in dict.fromkeys(measure.name for arm in group.arms for measure in arm.measures):
        if any(one.success is not None for arm in group.arms for one in arm.measures if one.name == name):
            charts.append((f"Success on held-out seeds: {name}", _dots(group.arms, name, fitness=False)))
        if any(one.fitness is not None for arm in group.arms for one in arm.measures if one.name == name):
            charts.append((f"Reference fitness on held-out seeds: {name}", _dots(group.arms, name, fitness=True)))
    places = {arm.arm: place for place, arm in enumerate(group.arms)}
    marks = [Mark(x=fitness, y=success, place=places[arm]) for arm, fitness, success in group.pairs]
    if marks:
        charts.append((
            "F against S of each generation's elite",
            scatter(marks, label=f"F against S in {group.task}", x_label="fitness F", y_label="success S"),
        ))
    charts.append(("Where new elites came from", _origins(group)))
    details = (tables.intervals(group),) if any(arm.measures for arm in group.arms) else ()
    tests, searched = tables.tests(group), (page_tables.episodes(group), page_tables.gates(group))
    further = (tables.savings(group), *(each for each in searched if each is not None), tables.costs(group))
    return Section(
        group=group,
        legend=legend,
        charts=tuple(charts),
        tables=(tables.glance(group), *([tests] if tests is not None else [])),
        details=(*details, tables.operators(group), tables.memory(group), *further),
    )


def _curves(group: GroupFinding, which: str, words: str) -> Markup:
    lines = [
        Line(
            name=arm.arm,
            place=place,
            points=[(point.generation, point.mean, point.low, point.high) for point in getattr(arm, which)],
        )
        for place, arm in enumerate(group.arms)
    ]
    return curves(lines, label=f"{words} by generation in {group.task}")


def _dots(arms: Sequence[ArmFinding], name: str, *, fitness: bool) -> Markup:
    rows = []
    for place, arm in enumerate(arms):
        measure = next((one for one in arm.measures if one.name == name), None)
        found = None if measure is None else measure.fitness if fitness else measure.success
        if measure is None or found is None:
            continue
        values = measure.fitness_by_seed if fitness else measure.by_seed
        rows.append(
            Dots(name=arm.arm, place=place, values=[*values.values()], mean=found.mean, low=found.low, high=found.high)
        )
    words = "fitness under the reference evaluator" if fitness else "share of episodes that succeed"
    return dot_rows(rows, label=f"{words}, {name}", x_label=words)


def _origins(group: GroupFinding) -> Markup:
    rows = []
    for arm in group.arms:
        counts = dict.fromkeys(Operator, 0)
        for record in arm.records:
            for point in record.curve[1:]:
                if point.changed:
                    counts[point.origin] += 1
        rows.append((arm.arm, [(PLACES[operator], float(count)) for operator, count in counts.items()]))
    return bars(rows, label=f"branch of origin of new elites in {group.task}")


def _operator_legend(records: Sequence[RunRecord]) -> tuple[tuple[str, Markup], ...]:
    """The colours of the operators; tuning and calibration only where a run used them."""
    used = {count.operator for record in records for count in record.operators}
    shown = [each for each in Operator if each in used or each not in (Operator.TUNE, Operator.CALIBRATE)]
    box = Markup('<svg class="swatch" width="14" height="10" viewBox="0 0 14 10" aria-hidden="true">'
                 '<rect class="bar c{}" width="14" height="10"/></svg>')
    return tuple((OPERATORS[operator].title, box.format(PLACES[operator])) for operator in shown)


# ------------------------------------------------------------------------------ single runs


def shown_runs(evidence: Evidence) -> tuple[RunRecord, ...]:
    """The runs that are shown one by one: all if they are few, else MEMENTO's run with the highest F per task."""
    chosen = [record for record in evidence.records if record.curve]
    if len(chosen) > FEW:
        tasks = dict.fromkeys((record.task, record.model) for record in chosen)
        chosen = [
            max((record for record in chosen if (record.task, record.model) == key), key=_merit) for key in tasks
        ]
    return tuple(chosen)


def _merit(record: RunRecord) -> tuple[bool, bool, float, float]:
    found = record.best_fitness or 0.0, record.best_success or 0.0
    return record.status == "done", record.arm.startswith("memento"), *found


def _run_view(record: RunRecord, evidence: Evidence, frame: PageOrigin) -> RunSection:
    pools = record.pools
    if not any(pool.entries for pool in pools):  # given from outside: show how its seed's leader made it
        leader = next((one for one in evidence.records if (one.task, one.model, one.seed) ==
                       (record.task, record.model, record.seed) and any(pool.entries for pool in one.pools)), None)
        pools = leader.pools if leader is not None else pools
    return RunSection(
        record=record,
        card=() if record.card is None else tuple(
            (name, words) for name, words in card_words(record.card, record.name) if words
        ),
        descent=descend(record.lineage),
        pools=tuple(_pool_view(pool) for pool in pools if pool.entries),
        pictures=tuple((frame.pictures or {}).get(record.name, ())),
        evaluator=bounded(record.evaluator.text, 60_000) if record.evaluator is not None else "",
    )


def _pool_view(pool: EvaluatorPool) -> PoolView:
    chosen = f"{pool.chosen.id} chosen" if pool.chosen is not None else "not voted on yet"
    if pool.chosen is not None and pool.chosen.carried_over:
        chosen += ", kept from before"
    valid = sum(entry.candidate.examination.valid for entry in pool.entries)
    rows = []
    for entry in pool.entries:
        fault = entry.candidate.examination.fault
        summary = f"invalid: {fault.kind}, {fault.message}" if fault is not None else entry.candidate.summary
        mark = " ✓" if pool.chosen is not None and pool.chosen.id == entry.candidate.id else ""
        rows.append((f"{entry.candidate.id}{mark}", number(entry.fitness), str(entry.votes),
                     one_line(summary, 160)))
    reasons = [
        (f"judge {vote.seat}" + (f" ({one_line(vote.call.model, 40)})" if vote.call is not None else ""),
         one_line(vote.reason, 300))
        for vote in pool.votes
        if vote.reason and pool.chosen is not None and vote.choice == pool.chosen.slot
    ]
    return PoolView(
        head=f"Generation {pool.generation}: {valid} of {len(pool.entries)} valid, {len(pool.votes)} votes"
        f" ({pool.abstentions} abstained), {chosen}{', frozen as E*' if pool.final else ''}",
        rows=tuple(rows),
        reasons=tuple(reasons[:REASONS]),
    )


# ------------------------------------------------------------------------------ the small print


def _versions(records: Iterable[RunRecord | BaselineRow]) -> tuple[tuple[str, str], ...]:
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.versions.items():
            found.setdefault(name, set()).add(version)
    return tuple((name, ", ".join(sorted(versions))) for name, versions in found.items())


def _settings(records: Sequence[RunRecord]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """The settings of the first run of each task and arm; seeds and files differ between runs."""
    found = {}
    for record in records:
        name = f"{record.task}, {record.arm}, {record.model}"
        if name not in found:
            found[name] = tuple(
                (key, one_line(str(without_paths(value)), 300))
                for key, value in record.settings.items()
                if value not in (None, {}, [])
            )
    return tuple(found.items())


def _trained(rows: Sequence[BaselineRow]) -> Iterable[tuple[str, tuple[tuple[str, str], ...]]]:
    """The settings of each learned baseline."""
    for row in rows:
        yield row.name, tuple((key, one_line(str(without_paths(value)), 600)) for key, value in row.settings.items())
