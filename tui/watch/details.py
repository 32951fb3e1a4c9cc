"""All that is known of one policy, evaluator or vote, read from the store when somebody opens it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...core.events import (
    CandidateScored,
    DuplicateFound,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorPoolScored,
    Fact,
    InitialChosen,
    ProposalFailed,
    ProposalMade,
    VoteCast,
)
from ...core.metrics import aggregate
from ...core.order_ids import slot_of
from ...core.values import JSON, Episode, EvaluatorCandidate, Fault, Program, Score
from ...memory.spending import CallRow, list_calls
from ...memory.store import RunStore
from .view import owner_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A program with what it came to. `episodes` are (rollout, score); an evaluator has scores on T_0 only."""

    id: str
    program: Program | None = None
    summary: str = ""
    parents: tuple[str, ...] = ()
    metrics: Mapping[str, JSON] = field(default_factory=dict)
    episodes: tuple[tuple[Episode | None, Score | None], ...] = ()
    fault: Fault | None = None
    calls: tuple[CallRow, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """One thing, with its parents and the elite to hold it against; those without a program are left out."""

    part: Part
    parents: tuple[Part, ...] = ()
    elite: Part | None = None


def read_details(folder: Path, name: str, *, elite: str | None) -> Details:
    """Everything about `name`. Raises MementoError where the store cannot be read."""
    with RunStore.read(folder) as store:
        part = _read(store, name)
        parents = part.parents or _evaluator_before(store, name)
        others = [_read(store, parent) for parent in dict.fromkeys(parents) if parent != name]
        held = _read(store, elite) if elite is not None and elite != name and name[:1] == "g" else None
    return Details(
        part=part, parents=tuple(other for other in others if other.program is not None),
        elite=held if held is not None and held.program is not None else None,
    )


def _read(store: RunStore, name: str) -> Part:
    if name.startswith("eval/") and "/judge/" not in name:
        return _evaluator(store, name)
    facts = tuple(store.facts(about=name))
    calls = tuple(row for row in list_calls(facts) if slot_of(row.order or "") == name)
    made = next((fact for fact in facts if isinstance(fact, ProposalMade) and slot_of(fact.order or "") == name), None)
    missed = next((fact for fact in facts if isinstance(fact, ProposalFailed)), None)
    given = next((fact for fact in facts if isinstance(fact, InitialChosen)), None)
    scored = next((fact.candidate for fact in facts if isinstance(fact, CandidateScored)), None)
    vote = next((fact for fact in facts if isinstance(fact, VoteCast)), None)
    if scored is not None:
        return Part(
            id=name, program=scored.program if scored.program.text else None, summary=scored.summary,
            parents=scored.parents, metrics=scored.metrics, episodes=_taken_over(store, facts, name),
            fault=scored.fault,
            calls=calls,
        )
    program = made.program if made is not None else given.program if given is not None else None
    summary = vote.reason if vote is not None else made.summary if made is not None else ""
    scores = _scores_on_t0(store) if given is not None else ()
    return Part(
        id=name, program=program, summary=summary, calls=calls, fault=None if missed is None else missed.fault,
        metrics=aggregate(scores), episodes=_episodes(facts, name, scores),
    )


def _taken_over(
    store: RunStore, facts: tuple[Fact, ...], name: str
) -> tuple[tuple[Episode | None, Score | None], ...]:
    """A candidate's episodes; a duplicate has those of the first candidate of its program too."""
    own = _episodes(facts, name)
    source = next((fact.of for fact in facts if isinstance(fact, DuplicateFound)), None)
    if source is None:
        return own
    known = {episode.index for episode, _ in own if episode is not None}
    others = [each for each in _read(store, source).episodes if each[0] is not None and each[0].index not in known]
    return tuple(sorted((*own, *others), key=lambda each: -1 if each[0] is None else each[0].index))


def _episodes(
    facts: tuple[Fact, ...], name: str, on_t0: tuple[Score, ...] = ()
) -> tuple[tuple[Episode | None, Score | None], ...]:
    rolled = sorted((fact.episode for fact in facts if isinstance(fact, EpisodeEnded)), key=lambda each: each.index)
    scores = {fact.order: fact.score for fact in facts if isinstance(fact, EpisodeScored) and fact.order is not None}
    given = {f"{name}/e{place}/score": score for place, score in enumerate(on_t0)}
    known = given | {order: score for order, score in scores.items() if owner_of(order) == name}
    return tuple((episode, known.get(f"{name}/e{episode.index}/score")) for episode in rolled)


def _evaluator(store: RunStore, name: str) -> Part:
    calls = tuple(row for row in list_calls(store.facts(about=name)) if row.order == name)
    entry = next((each for each in _entries(store) if each.id == name), None)
    if entry is None:
        facts = tuple(store.facts(about=name))
        made = next((fact for fact in facts if isinstance(fact, ProposalMade)), None)
        missed = next((fact for fact in facts if isinstance(fact, ProposalFailed)), None)
        return Part(
            id=name, program=None if made is None else made.program, summary="" if made is None else made.summary,
            fault=None if missed is None else missed.fault, calls=calls,
        )
    scores = entry.examination.scores
    return Part(
        id=name, program=entry.program, summary=entry.summary, metrics=aggregate(scores), calls=calls,
        episodes=tuple((None, score) for score in scores), fault=entry.examination.fault,
    )


def _entries(store: RunStore) -> list[EvaluatorCandidate]:
    found: list[EvaluatorCandidate] = []
    for fact in store.facts(only=(EvaluatorPoolScored, EvaluatorChosen)):
        if isinstance(fact, EvaluatorPoolScored):
            found += fact.pool
        elif isinstance(fact, EvaluatorChosen):
            found.append(fact.chosen)
    return found


def _evaluator_before(store: RunStore, name: str) -> tuple[str, ...]:
    """The evaluator that one of a later generation was made from."""
    if not name.startswith("eval/") or "/judge/" in name:
        return ()
    entry = next((each for each in _entries(store) if each.id == name), None)
    chosen = [fact for fact in store.facts(only=(EvaluatorChosen,)) if isinstance(fact, EvaluatorChosen)]
    before = [fact.chosen.id for fact in chosen if entry is not None and fact.generation < entry.generation]
    return tuple(before[-1:])


def _scores_on_t0(store: RunStore) -> tuple[Score, ...]:
    """What E* makes of T_0: of p_0 no fact holds scores."""
    chosen = [fact for fact in store.facts(only=(EvaluatorChosen,)) if isinstance(fact, EvaluatorChosen)]
    return next((fact.chosen.examination.scores for fact in chosen if fact.final), ())
