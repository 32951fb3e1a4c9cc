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

from ..core.text import excerpt, number, one_line, plural
from ..memory.card import card_words
from ..memory.evaluator_pools import EvaluatorPool, hardened_words
from . import episode_tables, tables
from .baseline_rows import BaselineRow
from .descent import Descent, descend
from .episode_tables import variances
from .figures import Figure, evaluation_figures, list_figures, operators_shown
from .findings import GroupFinding, find
from .learned_tables import baseline_table, evaluation_table
from .loading import Evidence
from .opening import Opening, open_page
from .page_tables import correlations, paper_tables
from .parts import figure_downloads, table_downloads
from .published_setting import differences
from .published_tables import yardstick_tables
from .records import RunRecord
from .sentences import sentences
from .svg import swatch
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


_CONTROLS: Final = {code: "?" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture or a film of a rollout, as a data URI, with its caption."""

    uri: str
    caption: str
    moving: bool = False    # a film


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
    figures: tuple[Figure, ...]
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
    """The page, in which "?" stands for control characters."""
    page = _environment().get_template("page.html").render(
        **_content(evidence, frame), figure_downloads=figure_downloads, table_downloads=table_downloads
    )
    return page.translate(_CONTROLS)


def list_parts(evidence: Evidence) -> tuple[list[Figure], list[Table]]:
    """All figures and all tables of the page, in its order."""
    content = _content(evidence, PageOrigin(made="", version=""))
    opening, sections = content["opening"], content["sections"]
    figures = [opening.figure] if opening is not None and opening.figure is not None else []
    figures += [figure for section in sections for figure in section.figures]
    figures += content["training"]
    of_groups = [table for section in sections for table in (*section.tables, *section.details)]
    names = (
        "variances", "learned", "evaluations", "correlations", "validity", "audits", "voting", "runs", "roles", "nodes",
    )
    found = [*of_groups, *content["paper"], *content["yardsticks"], *(content[name] for name in names)]
    return figures, [table for table in found if table is not None and table.rows]


def _content(evidence: Evidence, frame: PageOrigin) -> dict[str, Any]:
    """What the template shows."""
    findings = find(evidence)
    opening = open_page(evidence, findings, [each for group in findings.groups for each in list_figures(group)])
    return {
        "title": one_line(evidence.title, 200),
        "frame": replace(frame, command=without_paths(frame.command)),
        "evidence": evidence,
        "opening": opening,
        "film": _film(frame, opening),
        "banners": tuple(banners(evidence, frame)),
        "words": tuple(sentences(findings)),
        "sections": tuple(_section(group, opening.figure if opening else None) for group in findings.groups),
        "paper": _paper(evidence),
        "learned": baseline_table(evidence.baselines),
        "evaluations": evaluation_table(evidence.baselines),
        "training": tuple(evaluation_figures(evidence.baselines)),
        "trained": tuple((row.name, swatch(place)) for place, row in enumerate(evidence.baselines) if row.evaluations),
        "yardsticks": yardstick_tables(evidence),
        "shown": tuple(_run_view(record, evidence, frame) for record in shown_runs(evidence)),
        "variances": variances(findings),
        "correlations": correlations(findings, evidence.records),
        "voting": tables.voting(findings.voting),
        "audits": tables.audits(evidence.records),
        "validity": validity_table(find_validity(evidence.records)),
        "roles": tables.roles(evidence.records),
        "nodes": tables.nodes(evidence.records),
        "runs": tables.runs(evidence),
        "origins": _operator_legend(evidence.records),
        "versions": _versions([*evidence.records, *evidence.baselines]),
        "layers": sorted({layer for record in evidence.records for layer in record.sandbox}),
        "settings": (*_settings(evidence.records), *_training_rows(evidence.baselines)),
    }


def _film(frame: PageOrigin, opening: Opening | None) -> tuple[Picture, Picture] | None:
    """The elite of the run that the page opens with: a film, or else its last picture; and a still one for paper."""
    pictures = () if opening is None else (frame.pictures or {}).get(opening.run, ())
    stills = [each for each in pictures if not each.moving]
    if not stills:
        return None
    return next((each for each in pictures if each.moving), stills[-1]), stills[-1]


def _paper(evidence: Evidence) -> tuple[Table, ...]:
    """The tables that name the paper. One run in another setting has none: nothing could stand next to it."""
    alone = len(evidence.records) == 1 and differences(evidence.records[0], evidence.records)
    return () if alone else paper_tables(evidence)


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
            f"{which} on this page used the offline model, which is not a language model: the numbers show how the"
            " methods search, and are no evidence for or against the paper's claims about language models."
        )
    hinted = sum(record.hints > 0 for record in evidence.records)
    if hinted:
        yield (
            f"{_of_runs(hinted, len(evidence.records))} a person gave hints, which prompts quoted: the result is not"
            " the work of the method alone."
        )
    loose = [record for record in evidence.records if record.replay_differs is not None]
    if loose:
        yield (
            f"{_of_runs(len(loose), len(evidence.records))} recorded replies were repeated although prompts have"
            f" changed since (first {loose[0].replay_differs} in {loose[0].name}): this is no longer what was"
            " recorded, and no model answered these prompts."
        )
    unfinished = [record.name for record in evidence.records if record.status != "done"]
    if unfinished or evidence.missing:
        count = len(unfinished) + len(evidence.missing)
        kept = "the statistics leave them out" if evidence.used_records != evidence.records or evidence.missing else (
            "the page shows the results so far"
        )
        whole = len(evidence.records) + len(evidence.missing)
        yield f"This run is not done; {kept}." if whole == 1 else f"{count} of {whole} runs are not done; {kept}."
    missing = [
        record.name for record in evidence.records if not {*frame.expected_layers} <= {*record.sandbox}
    ]
    if missing:
        yield (
            f"{_of_runs(len(missing), len(evidence.records))} generated programs were not fully isolated; see"
            " “Isolation” below."
        )
    failed = sum(row.count for record in evidence.records for row in record.failures if row.where == "score")
    if failed:
        yield f"The frozen evaluator failed on {plural(failed, 'episode')}, which therefore scored 0."


def _of_runs(count: int, whole: int) -> str:
    return "In this run" if whole == 1 else f"In {count} of {whole} runs"


# ------------------------------------------------------------------------------ groups


def _section(group: GroupFinding, main: Figure | None) -> Section:
    """A group's part of the page; `main` is the figure that the opening shows already."""
    details = (tables.intervals(group),) if any(arm.measures for arm in group.arms) else ()
    tests, searched = tables.tests(group), (episode_tables.episodes(group), episode_tables.gates(group))
    further = (tables.savings(group), *(each for each in searched if each is not None), tables.costs(group))
    return Section(
        group=group,
        legend=tuple((arm.arm, swatch(place)) for place, arm in enumerate(group.arms)),
        figures=tuple(figure for figure in list_figures(group) if figure != main),
        tables=(tables.glance(group), *([tests] if tests is not None else [])),
        details=(*details, tables.operators(group), tables.memory(group), *further),
    )


def _operator_legend(records: Sequence[RunRecord]) -> tuple[tuple[str, Markup], ...]:
    """The colours of the operators that the runs used."""
    box = Markup('<svg class="swatch" width="14" height="10" viewBox="0 0 14 10" aria-hidden="true">'
                 '<rect class="bar c{}" width="14" height="10"/></svg>')
    used = (count.operator for record in records for count in record.operators)
    return tuple((title, box.format(place)) for title, place in operators_shown(used))


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
    found = record.result_fitness or 0.0, record.result_success or 0.0
    return record.status == "done", record.arm.startswith("memento"), *found


def _run_view(record: RunRecord, evidence: Evidence, frame: PageOrigin) -> RunSection:
    pools = record.pools
    if not any(pool.entries for pool in pools):  # given from outside: show how its seed's leader made it
        leader = next((one for one in evidence.records if (one.task, one.seed, one.evaluator) ==
                       (record.task, record.seed, record.evaluator) and any(pool.entries for pool in one.pools)), None)
        pools = leader.pools if leader is not None else pools
    return RunSection(
        record=record,
        card=() if record.card is None else tuple(
            (name, words) for name, words in card_words(record.card, record.name) if words
        ),
        descent=descend(record.lineage),
        pools=tuple(_pool_view(pool) for pool in pools if pool.entries),
        pictures=tuple(each for each in (frame.pictures or {}).get(record.name, ()) if not each.moving),
        evaluator=excerpt(record.evaluator.text, 60_000) if record.evaluator is not None else "",
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
        f" ({pool.abstentions} abstained), {chosen}{', frozen as E*' if pool.final else ''}"
        f"{'' if pool.hardened is None else f'; attacks: {hardened_words(pool.hardened)}'}",
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


def _training_rows(rows: Sequence[BaselineRow]) -> Iterable[tuple[str, tuple[tuple[str, str], ...]]]:
    """The settings of each learned baseline."""
    for row in rows:
        yield row.name, tuple((key, one_line(str(without_paths(value)), 600)) for key, value in row.settings.items())
