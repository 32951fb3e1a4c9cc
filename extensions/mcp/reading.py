"""The tools that read: runs, candidates, differences, metrics, reports. Their docstrings are what an agent is shown."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from ...app.api.record import Run
from ...app.api.reporting import UNWANTED, Pictures, load, require_page, write_page
from ...app.trust import wrote_run
from ...core.errors import StoreError, UsageError
from ...core.faults import Fault
from ...core.methods import METHODS
from ...core.programs.line_diff import diff_lines
from ...core.values import Episode, Score
from ...domains import titles
from ...evidence.findings import ArmFinding, find
from ...evidence.sentences import sentences
from ...memory.lock import is_locked
from ...memory.lookup import EvaluatorRecord, Policy, Record, VoteRecord, look_up, parents_of
from ...memory.run_status import list_failures, state_of
from ...memory.runs import DATABASE, list_runs
from ...memory.slots import Slot
from ...memory.store import RunStore
from ...memory.tail import read_outline, read_view
from ...settings.presets import PRESETS
from .results import ROWS, UNTRUSTED, Result, of_run, page, passage, untrusted
from .run_names import require_plain, run_named

MOST_WAIT_S: Final = 50.0       # clients give up on a call after a minute
POLL_S: Final = 0.1
EPISODES: Final = 64            # of a candidate, in one answer

RunName = Annotated[str, Field(description="The name of a run, or its beginning.")]
CandidateId = Annotated[
    str, Field(description="An id such as g1/macro/0, eval/g1/3 (an evaluator), eval/g1/judge/4 (a vote), or p_0.")
]
Offset = Annotated[int, Field(ge=0, description="Where to begin; see next_offset of the last answer.")]
Limit = Annotated[int, Field(ge=1, le=ROWS, description="The most rows.")]


class ReadingTools:
    """The tools that read the runs in `runs_dir`. `last_words` are those of runs that ended with an error."""

    def __init__(self, runs_dir: Path, last_words: Mapping[Path, str]) -> None:
        self._runs_dir = runs_dir
        self._last_words = last_words

    def list_choices(self) -> Result:
        """List what a run can be made of: domains (tasks), presets (sizes) and search methods."""
        return {"domains": titles(), "presets": [*PRESETS], "methods": [*METHODS]}

    def list_runs(self, offset: Offset = 0, limit: Limit = 20) -> Result:
        """List the runs, the one that was written last first, with state and F of p_0 and of the elite."""
        folders = sorted(list_runs(self._runs_dir), key=_written_at, reverse=True)
        found = page(folders, offset, limit)
        return {**found, "rows": [_in_short(folder) for folder in found["rows"]]}

    def show_run(
        self,
        run: RunName,
        wait_s: Annotated[
            float, Field(ge=0, le=MOST_WAIT_S, description="Wait until the run ends, at most this many seconds.")
        ] = 0,
    ) -> Result:
        """Show one run: state, settings, progress, fitness, held-out results, spending, failures.

        fitness and success are those of the elite on the search's own episodes; reference_fitness and final_success are
        measured on held-out episodes after the search. state is running, paused, done, stopped, out of budget,
        failed (error says why) or killed. To follow a run, call this with wait_s rather than in a tight loop.
        """
        folder = run_named(self._runs_dir, run)
        deadline = time.monotonic() + wait_s
        while is_locked(folder) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        found = Run(folder)
        status = read_view(folder).status
        failures = [
            {"where": row.where, "kind": str(row.kind), "count": row.count, "order": row.order,
             **untrusted(example=row.example)}
            for row in list_failures(status)[:ROWS]
        ]
        settings = {    # whoever knows the salt can compute the seeds of all episodes
            key: value for key, value in found.settings.items() if value not in (None, [], {}) and key != "salt"
        }
        of_log = {**found.result.as_json(), "stage": status.stage, "settings": settings}
        state = of_log.pop("status")
        del of_log["run"]       # its path
        return {
            **of_run(of_log, own=wrote_run(folder), error=self._last_words.get(folder) or status.why or None),
            "run": folder.name, "folder": str(folder), "status": state, "failures": failures,
        }

    def list_candidates(self, run: RunName, offset: Offset = 0, limit: Limit = 50) -> Result:
        """List the candidates of a run in order of arrival, p_0 first, also failed and pruned ones.

        difference is F minus F of the climb's current policy. summary is what the model says that it changed.
        """
        slots = read_view(run_named(self._runs_dir, run)).slots
        found = page([*slots.candidates.values()], offset, limit)
        return {**found, "rows": [_of_slot(slot) for slot in found["rows"]]}

    def show_candidate(self, run: RunName, candidate: CandidateId) -> Result:
        """Show one candidate, evaluator or vote: parents, results, its episodes, its faults, the cost of its calls."""
        record = self._record(run, candidate)[0]
        calls = [
            {"role": row.role, "tokens": row.call.usage.input_tokens + row.call.usage.output_tokens,
             "usd": row.call.usage.cost_usd, **untrusted(model=row.call.model)}
            for row in record.calls
        ]
        return {
            "id": record.id, "parents": record.parents, **_of_record(record), "calls": calls[:ROWS],
            "episodes": [*_episodes(record)][:EPISODES], "episodes_in_all": len(record.episodes),
            **untrusted(summary=record.summary, note=record.note, fault=_fault(record.fault), **_said(record)),
        }

    def read_candidate(
        self,
        run: RunName,
        candidate: CandidateId,
        part: Annotated[Literal["code", "prompt", "reply"], Field(description="Which text.")] = "code",
        offset: Offset = 0,
    ) -> Result:
        """Read the program of a candidate or evaluator, or the last prompt and reply that it comes from."""
        record = self._record(run, candidate)[0]
        if part == "code":
            text = record.program.text if record.program is not None else None
        else:
            talk = record.calls[-1].call if record.calls else None
            text = None if talk is None else (talk.prompt if part == "prompt" else talk.reply).text
        if text is None:
            raise UsageError(f"{record.id} has no {part}")
        return {"id": record.id, "part": part, **passage(text, offset)}

    def diff_candidate(
        self,
        run: RunName,
        candidate: CandidateId,
        against: Annotated[str | None, Field(description="Another id; by default the first parent.")] = None,
        offset: Offset = 0,
    ) -> Result:
        """Show what a candidate's program changed, as a unified diff against its parent's or another one's."""
        record, parent = self._record(run, candidate, against)
        if record.program is None or parent is None or parent.program is None:
            raise UsageError(f"{record.id} has no program and parent to compare: name another one in `against`")
        diff = diff_lines(parent.program.text, record.program.text)
        return {
            "id": record.id, "against": parent.id, "added": diff.added, "removed": diff.removed, "note": diff.note,
            **passage("\n".join(diff.lines), offset),
        }

    def show_metrics(self, run: RunName, candidate: CandidateId, against: Annotated[
        str | None, Field(description="Another id; by default the first parent.")
    ] = None) -> Result:
        """Show a candidate's metrics over its episodes, next to those of its parent or another one.

        Metrics are named and computed by the run's evaluator, which may be a generated program.
        """
        record, parent = self._record(run, candidate, against)
        before = parent.metrics if parent is not None else {}
        rows = [
            {"name": name, "value": value, "before": before.get(name)}
            for name, value in [*record.metrics.items()][:ROWS]
        ]
        return {"id": record.id, "against": None if parent is None else parent.id, UNTRUSTED: {"metrics": rows}}

    def report(
        self,
        runs: Annotated[list[str], Field(min_length=1, max_length=ROWS, description="Runs, or one comparison.")],
        page: Annotated[
            str | None, Field(description="Also write the page of `memento report`: a new name such as first.html.")
        ] = None,
    ) -> Result:
        """Compare runs as `memento report` does: one row per task, model and method, tests, and findings in words."""
        for name in runs:
            require_plain(name)
        target = None if page is None else self._page(page)
        evidence, _ = load(runs, self._runs_dir)
        if not evidence.records:
            raise UsageError(f"{runs[0]} has no runs yet: there is nothing to report")
        findings = find(evidence)
        if target is not None:
            named = " ".join(runs)
            write_page(target, evidence, Pictures(missing=UNWANTED), command=f"memento report {named} --out {page}")
        texts = {
            "title": evidence.title, "missing": dict(evidence.missing), "findings": [*sentences(findings)],
            "groups": [
                {"task": group.task, "model": group.model, "arms": [_of_arm(arm) for arm in group.arms]}
                for group in findings.groups
            ],
        }
        own = all(wrote_run(Path(record.folder)) for record in evidence.records)
        return {
            **of_run(texts, own=own), "runs": len(evidence.records), "counted": len(evidence.used_records),
            "page": None if target is None else str(target),
        }

    def _page(self, name: str) -> Path:
        """The path of a page in the folder of runs. Raises UsageError for a path, and for one that exists."""
        require_plain(name)
        path = self._runs_dir / name
        require_page(path)
        if path.exists():
            raise UsageError(f"there is already {name!r} in {self._runs_dir}: choose another name")
        return path

    def _record(self, run: str, candidate: str, against: str | None = None) -> tuple[Record, Record | None]:
        """The record of a candidate, and of `against` or its first parent with a program."""
        with RunStore.read(run_named(self._runs_dir, run)) as store:
            record = look_up(store, candidate)
            if against is not None:
                return record, look_up(store, against)
            parents = parents_of(store, record)
        return record, parents[0] if parents else None


# ---------------------------------------------------------------------------------------------------- parts


def _written_at(folder: Path) -> float:
    return max((path.stat().st_mtime for path in folder.glob(f"{DATABASE}*")), default=0.0)


def _in_short(folder: Path) -> Result:
    """One run in a list; a run that cannot be read is listed with its error."""
    try:
        view = read_outline(folder)
        status = view.status
    except (StoreError, OSError) as error:
        return {"run": folder.name, "state": "unreadable", **untrusted(error=str(error))}
    first, stated, elite = view.initial_quality, view.quality, status.elite
    of_log = {
        **{key: status.settings.get(key) for key in ("domain", "method", "model", "seed")},
        "generations": status.generation, "initial_fitness": first.fitness if first is not None else None,
        "fitness": stated.fitness if stated is not None else None,
        "evaluator_version": status.version, "elite": None if elite is None else elite.candidate,
    }
    state = state_of(status.status, live=is_locked(folder))
    return {
        "run": folder.name, "state": state, **of_run(of_log, own=wrote_run(folder), error=status.why or None)
    }


def _of_slot(slot: Slot) -> Result:
    return {
        "id": slot.id, "generation": slot.generation, "operator": None if slot.operator is None else str(slot.operator),
        "state": slot.state, "parents": slot.parents, "fitness": slot.fitness, "evaluator_version": slot.version,
        "success_rate": slot.success_rate,
        "mean_return": slot.mean_return, "difference": slot.difference, "episodes": slot.rolled,
        "elite_of": slot.elite_of, **untrusted(summary=slot.summary, fault=_fault(slot.fault)),
    }


def _of_record(record: Record) -> Result:
    match record:
        case Policy():
            names = ("generation", "fitness", "success_rate", "mean_return", "accepted", "elite_of", "duplicate_of")
            return {
                "kind": "policy", "operator": str(record.operator), "rolled": record.rolled,
                **{name: getattr(record, name) for name in names},
            }
        case EvaluatorRecord():
            votes = sum(vote.choice == record.slot for vote in record.votes)
            chosen = [fact.generation for fact in record.chosen]
            return {"kind": "evaluator", "generation": record.generation, "votes": votes, "chosen_in": chosen}
        case VoteRecord():
            return {"kind": "vote", "judge": record.vote.seat, "choice": record.vote.choice}
    return {"kind": "attempt"}


def _said(record: Record) -> dict[str, str]:
    return {"reason": record.vote.reason} if isinstance(record, VoteRecord) else {}


def _episodes(record: Record) -> Iterator[Result]:
    for episode, score in record.episodes:
        yield {**_of_episode(episode), "fitness": None if score is None else score.fitness, **_faults(episode, score)}


def _of_episode(episode: Episode | None) -> Result:
    names = ("index", "scene", "success", "steps", "ended_by")
    return {} if episode is None else {name: getattr(episode, name) for name in names}


def _faults(episode: Episode | None, score: Score | None) -> Result:
    fault = episode.fault if episode is not None else None
    return untrusted(fault=_fault(fault), fault_of_evaluator=_fault(score.fault if score is not None else None))


def _fault(fault: Fault | None) -> str:
    return "" if fault is None else f"{fault.kind}: {fault.message}"


def _of_arm(arm: ArmFinding) -> dict[str, Any]:
    def spread(value: Any) -> Any:
        return None if value is None else asdict(value)

    return {
        "arm": arm.arm, "method": arm.method, "runs": len(arm.records), "fitness": spread(arm.fitness),
        "success": spread(arm.success), "calls": spread(arm.calls), "cost_usd": arm.cost_usd,
        "held_out": [
            {"measure": each.name, "success": spread(each.success), "fitness": spread(each.fitness),
             "return": spread(each.returns), "episodes": each.episodes, "low": each.low, "high": each.high}
            for each in arm.measures
        ],
    }
