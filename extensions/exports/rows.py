"""A run as tables, one row per candidate, episode, model call and generation, and one for the run. Pure.

The rows hold plain values under the names of `COLUMNS`, and numbers of the evaluator under `metric_NAME`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...core.events import CandidateScored, EliteChanged, EvaluatorChosen, Fact, InitialChosen
from ...core.faults import Fault
from ...core.metrics import aggregate
from ...core.order_ids import episode_id, owner_of, parse
from ...core.values import JSON, Call, Episode, Program, Score
from ...memory.run_view import RunView, list_generations
from ...memory.slots import Slot
from ...memory.store import Entry
from .plain_values import metric_numbers, shown_settings, text
from .sink import ExportedRun, Texts

# The model calls of a run with their times: when each began and ended, from the facts that report it. Pure.


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedCall:
    """One finished call; times in seconds since the epoch. `fault`: the problem with its reply, if any.

    `number` counts the calls of its order from 0, so that order and number name a call.
    """

    order: str
    number: int
    role: str
    call: Call
    began: float
    ended: float
    fault: Fault | None = None

    @property
    def owner(self) -> str:
        """The candidate, evaluator or vote that it was made for."""
        return owner_of(self.order)


@dataclass(slots=True)
class CallFinder:
    """Finds each call once: the answer to an order repeats the calls after which the model was asked again."""

    _reported: dict[str, int] = field(default_factory=dict)

    def of(self, fact: Fact, at: float) -> Iterator[TimedCall]:
        """The calls that this fact, committed at this time, reports first; oldest first."""
        order = fact.order or ""
        known = self._reported.get(order, 0)
        calls = fact.calls if fact.interim else fact.calls[known:]
        if not calls:
            return
        if fact.interim:
            self._reported[order] = known + len(calls)
        else:
            self._reported.pop(order, None)     # its answer: no further call comes
        began = at - sum(call.usage.latency_s for call in calls)    # those without a fact follow one another
        for number, call in enumerate(calls):
            ended = began + call.usage.latency_s
            last = number == len(calls) - 1
            yield TimedCall(
                order=order, number=known + number, role=fact.role, call=call, began=began,
                ended=at if last else ended, fault=fact.reply_fault if last else None,
            )
            began = ended


Row = dict[str, object]
METRIC: Final = "metric_"
COLUMNS: Final[Mapping[str, Mapping[str, str]]] = {
    "runs": {
        "run": "text", "identity": "text", "domain": "text", "method": "text", "model": "text", "seed": "int",
        "status": "text", "stage": "text", "began_at": "time", "last_at": "time", "active_s": "float",
        "generations": "int", "candidates": "int", "candidates_failed": "int", "duplicates": "int", "episodes": "int",
        "search_episodes": "int", "calls": "int", "input_tokens": "int", "output_tokens": "int", "cost_usd": "float",
        "elite": "text", "elite_fitness": "float", "elite_success": "float", "elite_return": "float",
        "stated_fitness": "float", "stated_episodes": "int", "stated_fresh": "int",
        "final_initial_fitness": "float", "final_initial_success": "float", "final_initial_return": "float",
        "final_elite_fitness": "float", "final_elite_success": "float", "final_elite_return": "float",
        "settings": "text", "versions": "text",
    },
    "generations": {
        "run": "text", "generation": "int", "elite": "text", "operator": "text", "changed": "bool", "fitness": "float",
        "evaluator_version": "int", "success": "float", "return": "float", "candidates": "int", "failed": "int",
        "accepted": "int", "rejected": "int", "ended_at": "time", "active_s": "float", "search_episodes": "int",
        "calls": "int", "input_tokens": "int", "output_tokens": "int", "cost_usd": "float",
    },
    "candidates": {
        "run": "text", "candidate": "text", "generation": "int", "operator": "text", "slot": "int", "parents": "texts",
        "state": "text", "fitness": "float", "evaluator_version": "int", "success": "float", "return": "float",
        "bound": "float", "accepted": "bool", "fitness_difference": "float", "fault": "text", "fault_message": "text",
        "duplicate_of": "text", "elite_of": "ints", "episodes": "int", "steps": "int", "rollout_s": "float",
        "began_at": "time", "scored_at": "time", "summary": "text", "program_sha256": "text",
    },
    "episodes": {
        "run": "text", "episode": "text", "candidate": "text", "stage": "text", "generation": "int", "index": "int",
        "seed": "int", "scene": "text", "steps": "int", "ended_by": "text", "success": "bool", "fitness": "float",
        "fault": "text", "fault_message": "text", "evaluator_fault": "text", "rollout_s": "float",
        "call_median_ms": "float", "call_p99_ms": "float", "ended_at": "time",
    },
    "calls": {
        "run": "text", "order": "text", "number": "int", "owner": "text", "role": "text", "model": "text",
        "began_at": "time", "ended_at": "time", "latency_s": "float", "attempts": "int", "input_tokens": "int",
        "output_tokens": "int", "cached_tokens": "int", "cost_usd": "float", "stop": "text", "fault": "text",
    },
}
"""The columns of each table with the kind of their values: text, int, float, bool, time (seconds since the epoch),
texts, ints. Every value may be missing."""


class Tables:
    """Grows fact by fact; `rows` gives a table at any time."""

    def __init__(self, source: ExportedRun, texts: Texts) -> None:
        self._source = source
        self._texts = texts
        self._view = RunView()
        self._calls = CallFinder()
        self._began: dict[str, float] = {}              # the first call or fact about a candidate
        self._scored: dict[str, float] = {}
        self._programs: dict[str, str] = {}             # digests
        self._sources: dict[str, str] = {}              # texts, if they are wanted
        self._metrics: dict[str, Mapping[str, float]] = {}
        self._episodes: dict[str, Row] = {}
        self._call_rows: list[Row] = []
        self._spent: dict[int, Row] = {}                # at the end of each generation
        self._initial = ""                              # p_0

    def apply(self, entry: Entry) -> None:
        """Add the next fact."""
        fact, at = entry.fact, entry.at
        self._view.apply(fact, at)
        calls = [*self._calls.of(fact, at)]
        self._call_rows += [self._call_row(call) for call in calls]
        self._began.setdefault(owner_of(fact.order or ""), calls[0].began if calls else at)
        if fact.order is not None and fact.rollout is not None:
            self._episodes[fact.order] = self._episode_row(fact.order, fact.rollout, at)
        if fact.scored is not None:
            self._score(*fact.scored)
        match fact:
            case InitialChosen(order=str(order)):
                self._initial = order
                self._keep(order, fact.program, at)
            case EvaluatorChosen(final=True) if not self._spent:     # later ones are of other recordings than T_0
                self._score_initial(fact.chosen.examination.scores)
            case CandidateScored(candidate=candidate):
                self._keep(candidate.id, candidate.program, at)
                self._metrics[candidate.id] = _columns(candidate.metrics)
            case EliteChanged():
                self._spent[fact.generation] = {"ended_at": at, **self._spending()}

    def rows(self, table: str) -> list[Row]:
        """The rows of a table of `COLUMNS` so far."""
        match table:
            case "runs":
                return [self._run_row()]
            case "generations":
                return list(self._generation_rows())
            case "candidates":
                return [self._candidate_row(slot) for slot in self._view.slots.candidates.values()]
            case "episodes":
                return list(self._episodes.values())
            case "calls":
                return self._call_rows
        raise KeyError(table)

    # --------------------------------------------------------------------------------------- growing

    def _keep(self, candidate: str, program: Program, at: float) -> None:
        self._scored[candidate] = at
        if program.text:
            self._programs[candidate] = program.digest
            if self._texts.programs:
                self._sources[candidate] = text(program.text)

    def _score(self, order: str, score: Score) -> None:
        """Add the score of a rollout, whose fault it may be that it does not count."""
        row = self._episodes.get(order)
        if row is None:
            return
        row["fitness"] = 0.0 if row["fault"] else score.fitness
        row["evaluator_fault"] = None if score.fault is None else str(score.fault.kind)
        row |= _columns(score.metrics)

    def _score_initial(self, scores: tuple[Score, ...]) -> None:
        """The scores of E* on T_0 are those of p_0: no separate facts hold them."""
        self._metrics[self._initial] = _columns(aggregate(scores))
        for index, score in enumerate(scores):
            self._score(episode_id(self._initial, index), score)

    # ------------------------------------------------------------------------------------------ rows

    def _run_row(self) -> Row:
        run = self._view.status
        elite, final, stated = run.elite, run.final, self._view.quality
        return {
            "run": self._source.name, "identity": self._source.identity,
            **{key: run.settings.get(key) for key in ("domain", "method", "model", "seed")},
            "status": run.status, "stage": run.stage, "began_at": run.began, "last_at": run.last,
            "generations": run.generation, "candidates": run.candidates, "candidates_failed": run.failed,
            "duplicates": run.duplicates, "episodes": run.episodes, **self._spending(),
            "elite": elite and elite.candidate, "elite_fitness": elite and elite.fitness,
            "elite_success": elite and elite.success_rate, "elite_return": elite and elite.mean_return,
            "stated_fitness": stated and stated.fitness, "stated_episodes": stated and stated.episodes,
            "stated_fresh": stated and stated.fresh,
            "final_initial_fitness": final and final.initial_fitness,
            "final_initial_success": final and final.initial_success,
            "final_initial_return": final and final.initial_return,
            "final_elite_fitness": final and final.elite_fitness,
            "final_elite_success": final and final.elite_success,
            "final_elite_return": final and final.elite_return,
            "settings": _json(shown_settings(run.settings)), "versions": _json(run.versions),
        }

    def _spending(self) -> Row:
        run, spent = self._view.status, self._view.status.spending.total
        return {
            "active_s": run.active_s, "search_episodes": run.search_episodes, "calls": spent.calls,
            "input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens, "cost_usd": spent.cost_usd,
        }

    def _generation_rows(self) -> Iterable[Row]:
        for row in list_generations(self._view.slots):
            elite = row.elite
            yield {
                "run": self._source.name, "generation": elite.generation, "elite": elite.candidate,
                "operator": str(elite.origin), "changed": elite.changed, "fitness": elite.fitness,
                "evaluator_version": elite.version,
                "success": elite.success_rate, "return": elite.mean_return, "candidates": row.candidates,
                "failed": row.failed, "accepted": row.accepted, "rejected": row.rejected,
                **self._spent[elite.generation],
            }

    def _candidate_row(self, slot: Slot) -> Row:
        return {
            "run": self._source.name, "candidate": slot.id, "generation": slot.generation,
            "operator": None if slot.operator is None else str(slot.operator), "slot": slot.place,
            "parents": list(slot.parents), "state": slot.state, "fitness": slot.fitness,
            "evaluator_version": slot.version, "success": slot.success_rate,
            "return": slot.mean_return, "bound": slot.bound, "accepted": slot.accepted,
            "fitness_difference": slot.difference, **_fault(slot.fault), "duplicate_of": slot.same_as,
            "elite_of": list(slot.elite_of), "episodes": slot.rolled, "steps": slot.steps, "rollout_s": slot.wall_s,
            "began_at": self._began.get(slot.id), "scored_at": self._scored.get(slot.id),
            "summary": text(slot.summary), "program_sha256": self._programs.get(slot.id),
            **({"program": self._sources.get(slot.id)} if self._texts.programs else {}),
            **self._metrics.get(slot.id, {}),
        }

    def _episode_row(self, order: str, episode: Episode, at: float) -> Row:
        identity, times = parse(order), episode.notes.times
        return {
            "run": self._source.name, "episode": order, "candidate": owner_of(order), "stage": identity.stage,
            "generation": identity.generation, "index": episode.index, "seed": episode.seed, "scene": episode.scene,
            "steps": episode.steps, "ended_by": episode.ended_by, "success": episode.success,
            "fitness": None if episode.fault is None else 0.0, **_fault(episode.fault), "evaluator_fault": None,
            "rollout_s": episode.wall_s, "call_median_ms": times and times.median_ms,
            "call_p99_ms": times and times.p99_ms, "ended_at": at,
        }

    def _call_row(self, timed: TimedCall) -> Row:
        call, usage = timed.call, timed.call.usage
        return {
            "run": self._source.name, "order": timed.order, "number": timed.number, "owner": timed.owner,
            "role": timed.role, "model": call.model, "began_at": timed.began, "ended_at": timed.ended,
            "latency_s": usage.latency_s, "attempts": usage.attempts, "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens, "cached_tokens": usage.cached_tokens, "cost_usd": usage.cost_usd,
            "stop": call.stop, "fault": None if timed.fault is None else str(timed.fault.kind),
            **({"prompt": text(call.prompt.text), "reply": text(call.reply.text)} if self._texts.prompts else {}),
        }


def extra_columns(table: str, texts: Texts) -> dict[str, str]:
    """The columns of texts that are exported on request, as in COLUMNS."""
    if table == "candidates" and texts.programs:
        return {"program": "text"}
    return {"prompt": "text", "reply": "text"} if table == "calls" and texts.prompts else {}


def _fault(fault: Fault | None) -> Row:
    if fault is None:
        return {"fault": None, "fault_message": None}
    return {"fault": str(fault.kind), "fault_message": text(fault.message)}


def _columns(metrics: Mapping[str, JSON]) -> dict[str, float]:
    return {f"{METRIC}{name}": value for name, value in metric_numbers(metrics).items()}


def _json(value: Mapping[str, object]) -> str:
    return text(json.dumps(value, sort_keys=True))
