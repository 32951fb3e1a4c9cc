"""A run as a trace: the run, its generations, candidates, model calls and rollouts as spans. Pure.

Names of attributes on model calls are those of OpenTelemetry's semantic conventions for generative AI; others begin
with `memento.`. Ids follow from the run and from what the span is about, so every export gives the same ones.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from ...core.events import CandidateScored, EliteChanged, EpisodeEnded, Fact, InitialChosen, RunStarted
from ...core.order_ids import CONFIRM, INITIAL, SEARCH, owner_of, parse
from ...core.values import Call, CandidateState, Operator
from ...memory.run_status import RunStatus
from ...memory.store import Entry
from .plain_values import text
from .rows import CallFinder, TimedCall
from .sink import ExportedRun, Texts

Attribute = str | bool | int | float | tuple[str, ...]
RUN: Final = "run"              # the key of the root
STOPS: Final = {"end": "stop"}  # as the conventions' examples name a regular end
PROVIDERS: Final = {"offline": "memento.offline", "ask": "memento.ask", "openai-chat": "openai"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A finished span. `key` is unique in the run; `parent` is a key, None for the root. Times are seconds since the
    epoch. `is_call`: it asks a service. `error`: the kind of its failure, if it failed."""

    name: str
    key: str
    parent: str | None = RUN
    began: float
    ended: float
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    is_call: bool = False
    error: str | None = None


def trace_id(source: ExportedRun) -> int:
    """128 bits for the run."""
    return int(source.identity[:32], 16)


def span_id(source: ExportedRun, key: str) -> int:
    """64 bits for a span of the run."""
    return int(hashlib.sha256(f"{source.identity}\n{key}".encode()).hexdigest()[:16], 16)


class Spans:
    """Grows fact by fact; every fact gives the spans that end with it."""

    def __init__(self, texts: Texts) -> None:
        self.status = RunStatus()
        self._texts = texts
        self._calls = CallFinder()
        self._open: dict[str, float] = {}       # candidates under way, and when each began
        self._closed: set[str] = set()          # of the generation under way
        self._since = 0.0                       # when it began

    def apply(self, entry: Entry) -> Iterator[Span]:
        """Add the next fact."""
        fact, at = entry.fact, entry.at
        self.status.apply(fact, at)
        calls = [*self._calls.of(fact, at)]
        self._begin(fact, calls[0].began if calls else at)
        yield from map(self._call, calls)
        match fact:
            case EpisodeEnded():
                yield _episode(fact, at)
            case InitialChosen(order=str(order)):
                yield self._end(order, at, {**_identity(order, Operator.INITIAL), "memento.candidate.state": "scored"})
            case CandidateScored(candidate=candidate):
                error = None if candidate.fault is None else str(candidate.fault.kind)
                yield self._end(candidate.id, at, _candidate(candidate), error)
            case EliteChanged():
                yield from self._end_generation(fact, at)

    def end(self) -> Span:
        """The root, as long as the run lasted so far."""
        run = self.status
        known: dict[str, Attribute | None] = {
            "memento.run.status": run.status, "memento.run.generations": run.generation,
            "memento.run.candidates": run.candidates, "memento.run.episodes": run.episodes,
            "memento.cost_usd": run.spending.total.cost_usd,
            **{f"memento.run.{key}": _plain(run.settings.get(key)) for key in ("domain", "method", "model", "seed")},
        }
        if run.elite is not None:
            known |= {"memento.elite": run.elite.candidate, "memento.elite.fitness": run.elite.fitness,
                      "memento.elite.success": run.elite.success_rate}
        if run.final is not None:
            known |= {"memento.final.fitness": run.final.elite_fitness,
                      "memento.final.success": run.final.elite_success}
        return Span(
            name=f"run {_plain(run.settings.get('domain')) or '?'}", key=RUN, parent=None, began=run.began or 0.0,
            ended=run.last or 0.0, attributes=_known(known),
        )

    # --------------------------------------------------------------------------------------- private

    def _begin(self, fact: Fact, at: float) -> None:
        if isinstance(fact, RunStarted):
            self._since = at
        owner = owner_of(fact.order or "")
        if parse(owner).stage in (INITIAL, SEARCH) and owner not in self._closed:
            self._open.setdefault(owner, at)

    def _end(self, candidate: str, at: float, attributes: Mapping[str, Attribute], error: str | None = None) -> Span:
        self._closed.add(candidate)
        return Span(
            name="candidate", key=candidate, parent=_parent(candidate), began=self._open.pop(candidate, at), ended=at,
            attributes=attributes, error=error,
        )

    def _end_generation(self, fact: EliteChanged, at: float) -> Iterator[Span]:
        """Nothing of a generation is answered after its elite is known."""
        for candidate in [each for each in self._open if parse(each).generation <= fact.generation]:
            yield self._end(candidate, at, {**_identity(candidate), "memento.candidate.state": "withdrawn"})
        if fact.generation:
            yield Span(
                name=f"generation {fact.generation}", key=_generation(fact.generation), began=self._since, ended=at,
                attributes=_known({
                    "memento.generation": fact.generation, "memento.elite": fact.candidate,
                    "memento.elite.fitness": fact.fitness, "memento.elite.success": fact.success_rate,
                    "memento.elite.changed": fact.changed, "memento.evaluator.version": fact.version,
                }),
            )
        self._since, self._closed = at, set()

    def _call(self, timed: TimedCall) -> Span:
        call, usage = timed.call, timed.call.usage
        scheme, _, model = call.model.partition(":")
        attributes = _known({
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": PROVIDERS.get(scheme, scheme),
            "gen_ai.request.model": model or scheme, "gen_ai.conversation.id": timed.owner,
            "gen_ai.response.finish_reasons": (STOPS.get(call.stop, call.stop),),
            "gen_ai.usage.input_tokens": usage.input_tokens, "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
            "gen_ai.usage.cache_creation.input_tokens": usage.cache_written_tokens,
            "memento.order": timed.order, "memento.role": timed.role, "memento.attempts": usage.attempts,
            "memento.cost_usd": usage.cost_usd,
        })
        return Span(
            name=f"chat {model or scheme}", key=f"{timed.order}/call{timed.number}",
            parent=_parent_of_part(timed.order), began=timed.began, ended=timed.ended, is_call=True,
            attributes={**attributes, **(_messages(call) if self._texts.prompts else {})},
            error=None if timed.fault is None else str(timed.fault.kind),
        )


def _episode(fact: EpisodeEnded, at: float) -> Span:
    episode, order = fact.episode, fact.order or ""
    return Span(
        name="episode", key=order, parent=_parent_of_part(order), began=at - episode.wall_s, ended=at,
        attributes=_known({
            "memento.order": order, "memento.episode.index": episode.index, "memento.episode.seed": episode.seed,
            "memento.episode.scene": episode.scene, "memento.episode.steps": episode.steps,
            "memento.episode.ended_by": episode.ended_by, "memento.episode.success": episode.success,
        }),
        error=None if episode.fault is None else str(episode.fault.kind),
    )


def _candidate(candidate: CandidateState) -> dict[str, Attribute]:
    sound = candidate.fault is None and candidate.bound is None
    state = "scored" if sound else "pruned" if candidate.fault is None else "failed"
    return _known({
        **_identity(candidate.id, candidate.operator), "memento.candidate.state": state,
        "memento.candidate.parents": candidate.parents, "memento.candidate.summary": text(candidate.summary),
        "memento.candidate.fitness": candidate.fitness if sound else None,
        "memento.candidate.success": candidate.success_rate if sound else None,
        "memento.candidate.return": candidate.mean_return if sound else None,
    })


def _identity(candidate: str, operator: Operator | None = None) -> dict[str, Attribute]:
    return _known({
        "memento.candidate": candidate, "memento.generation": parse(candidate).generation,
        "memento.candidate.operator": None if operator is None else str(operator),
    })


def _messages(call: Call) -> dict[str, Attribute]:
    """Prompt and reply as the conventions record them, which is JSON in a text."""
    asked = [{"role": "user", "parts": [_part(call.prompt.text)]}]
    said = [{"role": "assistant", "parts": [_part(call.reply.text)], "finish_reason": STOPS.get(call.stop, call.stop)}]
    return {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(said)}


def _part(content: str) -> dict[str, str]:
    return {"type": "text", "content": text(content)}


def _parent_of_part(order: str) -> str:
    """The span that a call or a rollout belongs to: its candidate's if it has one."""
    owner = owner_of(order)
    return owner if parse(owner).stage in (INITIAL, SEARCH) else _parent(owner)


def _parent(owner: str) -> str:
    identity = parse(owner)
    return _generation(identity.generation) if identity.stage in (SEARCH, CONFIRM) else RUN


def _generation(number: int) -> str:
    return f"generation/{number}"


def _plain(value: object) -> Attribute | None:
    return value if isinstance(value, str | bool | int | float) else None


def _known(attributes: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {name: value for name, value in attributes.items() if value is not None}
