"""The rows behind a report, as CSV files: every number on the page can be computed from them."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from ..core.errors import UsageError
from .findings import Findings, find
from .loading import Evidence

Row = Mapping[str, object]


def write_csv(evidence: Evidence, folder: Path) -> tuple[Path, ...]:
    """Write all files into `folder`, replacing existing ones. Raises UsageError if that fails."""
    findings = find(evidence)
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows_of in FILES.items():
            path = folder / f"{name}.csv"
            rows = list(rows_of(evidence, findings))
            columns = list(dict.fromkeys(key for row in rows for key in row))
            with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                writer = csv.DictWriter(file, columns)
                writer.writeheader()
                writer.writerows({key: without_formula(value) for key, value in row.items()} for row in rows)
            written.append(path)
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None
    return tuple(written)


def without_formula(value: object) -> object:
    """Escape text that a spreadsheet would evaluate as a formula: it may come from a model."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value


def _runs(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        final, spent = record.final, record.spending.total
        yield {
            "run": record.name, "folder": record.folder, "task": record.task, "domain": record.domain,
            "arm": record.arm, "method": record.method, "model": record.model, "seed": record.seed,
            "status": record.status, "generations": max((point.generation for point in record.curve), default=None),
            "initial_fitness": record.initial_fitness, "best_fitness": record.best_fitness,
            "best_success": record.best_success, "result_fitness": record.result_fitness,
            "result_success": record.result_success, "candidates": record.candidates, "failed": record.failed,
            "episodes_run": record.episodes_run, "episodes_saved": record.episodes_saved,
            "elite_call_ms_median": record.pace.median_ms if record.pace else None,
            "elite_call_ms_p99": record.pace.p99_ms if record.pace else None,
            "elite_episode_s": record.pace.episode_s if record.pace else None,
            "search_episodes": record.search_episodes, "confirmations": record.confirmations, "refuted": record.refuted,
            "saved_by_duplicates": record.saved_by_duplicates, "duplicates": record.duplicates,
            "asked_ahead": record.asked_ahead, "kept_ahead": record.kept_ahead,
            "calls": spent.calls, "input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens,
            "cached_tokens": spent.cached_tokens, "cost_usd": spent.cost_usd, "wall_s": record.wall_s,
            "own_final_fitness": final.elite_fitness if final else None,
            "own_final_success": final.elite_success if final else None,
            "own_final_return": final.elite_return if final else None,
            "initial_program": record.initial.digest if record.initial else None,
            "evaluator_program": record.evaluator.digest if record.evaluator else None,
            "elite_program": record.elite.digest if record.elite else None,
            "memory_climbs": record.memory.climbs, "memory_rejections": record.memory.rejections,
            "memory_same_program": record.memory.same_program, "memory_near_summary": record.memory.near_summary,
        }
    for name, why in evidence.missing.items():
        yield {"run": name, "status": why}


def _curves(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        for point in record.curve:
            yield {
                "run": record.name, "task": record.task, "arm": record.arm, "model": record.model, "seed": record.seed,
                "generation": point.generation, "elite": point.elite, "origin": str(point.origin),
                "changed": point.changed, "fitness": point.fitness, "success": point.success,
                "best_fitness": point.best_fitness, "best_success": point.best_success,
                "evaluator_version": point.version, "starts_joined": point.starts,
            }


def _operators(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        for count in record.operators:
            yield {
                "run": record.name, "task": record.task, "arm": record.arm, "seed": record.seed,
                "operator": str(count.operator), "slots": count.slots, "failed": count.failed, "cut": count.cut,
                "accepted": count.accepted, "rejected": count.rejected, "elites": count.elites,
                "best_fitness": count.best_fitness,
            }


def _held_out(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        for name, measured in evidence.measures_of(record.name).items():
            for episode in measured.episodes:
                yield {
                    "run": record.name, "task": record.task, "arm": record.arm, "model": record.model,
                    "run_seed": record.seed, "measure": name, "program": measured.program, **episode,
                }


def _tests(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for group in findings.groups:
        for one in group.tests:
            test = one.test
            yield {
                "task": group.task, "model": group.model, "quantity": one.quantity, "one": one.one, "other": one.other,
                "seeds": test.n, "difference": test.difference, "low": test.low, "high": test.high, "wins": test.wins,
                "losses": test.losses, "wilcoxon_p": test.wilcoxon, "permutation_p": test.permutation,
                "adjusted_p": one.adjusted,
            }


def _votes(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        for pool in record.pools:
            for vote in pool.votes:
                yield {
                    "run": record.name, "generation": vote.generation, "seat": vote.seat,
                    "model": vote.call.model if vote.call else None, "choice": vote.choice, "reason": vote.reason,
                    "chosen": pool.chosen.slot if pool.chosen else None,
                }


def _spending(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        for role, spent in record.spending.by_role.items():
            yield {
                "run": record.name, "role": role, "calls": spent.calls, "attempts": spent.attempts,
                "input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens,
                "cached_tokens": spent.cached_tokens, "cache_written_tokens": spent.cache_written_tokens,
                "cost_usd": spent.cost_usd,
                "latency_s": spent.latency_s,
            }


def _audits(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        if record.audit is not None:
            for row in (*record.audit.rows, record.audit.total):
                yield {
                    "run": record.name, "kind": row.kind, "programs": row.programs, "failed": row.failed,
                    "unsuccessful": row.unsuccessful, "hacks": row.hacks, "share": row.share,
                    "best_fitness": row.best_fitness, "episodes": record.audit.episodes, "seed": record.audit.seed,
                }


def _failures(evidence: Evidence, findings: Findings) -> Iterator[Row]:
    for record in evidence.records:
        for row in record.failures:
            yield {
                "run": record.name, "where": row.where, "kind": str(row.kind), "count": row.count,
                "first_order": row.order, "first_message": row.example,
            }


FILES: Mapping[str, Callable[[Evidence, Findings], Iterable[Row]]] = {
    "runs": _runs, "curves": _curves, "operators": _operators, "unseen_episodes": _held_out, "tests": _tests,
    "votes": _votes, "spending": _spending, "failures": _failures, "audits": _audits,
}
