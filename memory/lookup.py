"""The record of one policy, evaluator, vote or attempt, read from the store on request.

Only its own facts are read, and those of its parents and of the candidates whose episodes it reuses.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..core.errors import no_such
from ..core.events import (
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    Criticised,
    DuplicateFound,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorChosen,
    EvaluatorMoved,
    EvaluatorPoolScored,
    Fact,
    GateDecided,
    InitialChosen,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    RunStarted,
    SaturationChecked,
    SpeculationEnded,
    ToolAnswered,
    TuningEnded,
    TurnTaken,
    VoteCast,
)
from ..core.faults import Fault
from ..core.metrics import aggregate
from ..core.order_ids import EVALUATOR, FINAL, INITIAL, PROBES, owner_of, parse
from ..core.values import (
    JSON,
    CandidateState,
    Episode,
    EvaluatorCandidate,
    Examination,
    Operator,
    Probe,
    Program,
    Score,
)
from .quality import Seen, more_of, seen_in
from .spending import CallRow, list_calls
from .store import RunStore
from .tail import read_names

INITIAL_POLICY = "p_0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The common part of all records of model requests, and the whole record of an attempt without a program.

    `episodes` are (rollout, score); an evaluator has scores on T_0 only. `parents` are ids; `before` is the record
    of the program it was made from, with that program's text and metrics.
    """

    id: str
    program: Program | None = None
    summary: str = ""
    parents: tuple[str, ...] = ()
    metrics: dict[str, JSON] = field(default_factory=dict)
    episodes: tuple[tuple[Episode | None, Score | None], ...] = ()
    fault: Fault | None = None
    calls: tuple[CallRow, ...] = ()
    turns: tuple[TurnTaken | ToolAnswered, ...] = ()  # of its conversation, in their order
    note: str = ""  # what its writer left for later proposers
    looks: tuple[Criticised, ...] = ()  # of a critic at its episodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Record):
    """A candidate of the search, or p_0. `fitness` and `success_rate` are None if it failed or was pruned."""

    operator: Operator
    generation: int = 0
    fitness: float | None = None
    success_rate: float | None = None
    mean_return: float | None = None
    bound: float | None = None          # upper bound of F, if racing pruned it
    rolled: int = 0                     # episodes rolled out for it
    duplicate_of: str | None = None
    accepted: bool | None = None        # verdict of the climb; None in the other branches
    elite_of: tuple[int, ...] = ()      # the generations whose elite it was
    gate: GateDecided | None = None     # what the gate decided on it
    seen: Seen | None = None            # on fresh episodes, on which it met other programs
    version: int = 1                    # of the evaluator that F, metrics and f_e are by


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorRecord(Record):
    """An evaluator. `votes` are the votes of its generation, `chosen` the facts that chose it, oldest first."""

    generation: int
    slot: int
    votes: tuple[VoteCast, ...] = ()
    chosen: tuple[EvaluatorChosen, ...] = ()
    examination: Examination = Examination()
    probes: tuple[str, ...] = ()  # the names of the run's probes
    measures: str = ""  # as in EvaluatorCandidate


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRecord(Record):
    """A judge's vote."""

    vote: VoteCast


def look_up(store: RunStore, name: str) -> Record:
    """The policy, evaluator, vote or attempt called `name`; "p_0" is the first policy.

    Raises UsageError with the nearest names, StoreError.
    """
    record = find(store, first_policy(store) or name if name == INITIAL_POLICY else name)
    if record is None:
        named = ((each, parse(each)) for each in read_names(store.folder))
        known = {each for each, order in named if order.stage != FINAL and order.branch != PROBES}
        raise no_such("candidate", name, known | ({INITIAL_POLICY} if first_policy(store) else set()) - {name})
    return record


def find(store: RunStore, name: str) -> Record | None:
    """As `look_up`; None for an unknown id. Raises StoreError."""
    if parse(name).stage in (EVALUATOR, ""):
        known = _evaluator(store, name)
        if known is not None:
            return known
    facts = [fact for fact in store.facts(about=name) if owner_of(fact.order or "") == name]
    lost = {fact.order for fact in facts if isinstance(fact, SpeculationEnded) and not fact.kept}
    calls = tuple(row for row in list_calls(facts) if row.order not in lost)
    turns = tuple(fact for fact in facts if isinstance(fact, TurnTaken | ToolAnswered))
    looks = tuple(fact for fact in facts if isinstance(fact, Criticised))
    made = (fact for fact in facts if isinstance(fact, ProposalMade) and fact.order not in lost)
    note = next((fact.note for fact in made), "")
    for fact in facts:
        match fact:
            case CandidateScored() | InitialChosen():
                return replace(_policy(store, name, facts, calls), turns=turns, note=note, looks=looks)
            case VoteCast():
                return VoteRecord(id=name, vote=fact, summary=fact.reason, calls=calls)
    attempt = _attempt(name, facts, calls) or _given_record(store, name, facts)
    return attempt and replace(attempt, turns=turns, note=note)


def first_policy(store: RunStore) -> str | None:
    """The id of p_0; None if it is not settled yet."""
    return next((fact.order for fact in store.facts(only=(InitialChosen,))), None)


def last_elite(store: RunStore) -> str | None:
    """The id of the current elite; None if there is none yet."""
    elites = [fact for fact in store.facts(only=(EliteChanged,)) if isinstance(fact, EliteChanged)]
    return elites[-1].candidate if elites else None


def list_policies(store: RunStore) -> list[str]:
    """The ids of all settled candidates, p_0 first."""
    facts = store.facts(only=(InitialChosen, CandidateScored), texts=False)
    return [fact.candidate.id if isinstance(fact, CandidateScored) else fact.order or "" for fact in facts]


def parents_of(store: RunStore, record: Record) -> list[Record]:
    """The records of its parents that have a program."""
    found = [find(store, name) for name in dict.fromkeys(record.parents) if name != record.id]
    return [parent for parent in found if parent is not None and parent.program is not None]


# ---------------------------------------------------------------------------------------------- policies


def _attempt(name: str, facts: list[Fact], calls: tuple[CallRow, ...]) -> Record | None:
    """A proposal that did not become a candidate, or not yet."""
    for fact in reversed(facts):
        match fact:
            case ProposalMade() | TuningEnded():
                return Record(
                    id=name, program=fact.program, summary=fact.summary, calls=calls, episodes=_rollouts_of(facts, name)
                )
            case ProposalFailed():
                return Record(id=name, summary=fact.summary, fault=fact.fault, calls=calls)
    return None


def _given_record(store: RunStore, name: str, facts: list[Fact]) -> Record | None:
    """A first policy that a person gave and that no episode kept: no model proposed it, and it is not p_0."""
    rolled = _rollouts_of(facts, name)
    if not rolled or parse(name).stage != INITIAL:
        return None
    program = next((fact.initial for fact in store.facts(only=(RunStarted,)) if isinstance(fact, RunStarted)), None)
    faults = [episode.fault for episode, _ in rolled if episode is not None and episode.fault is not None]
    return Record(
        id=name, program=program, summary="given by --initial", episodes=rolled, fault=faults[0] if faults else None
    )


def _fresh_record(store: RunStore, name: str, version: int) -> Seen | None:
    """What was seen of a candidate on fresh episodes, by this version of the evaluator."""
    found: Seen | None = None
    in_use = 1
    for fact in store.facts(only=(EliteConfirmed, EliteChosen, SaturationChecked, EvaluatorMoved)):
        if isinstance(fact, EvaluatorMoved):
            in_use = fact.version
        new = seen_in(fact).get(name)
        if new is not None and in_use == version:
            found = more_of(found, new)
    return found


def _policy(store: RunStore, name: str, facts: list[Fact], calls: tuple[CallRow, ...]) -> Policy:
    scored = next((fact.candidate for fact in facts if isinstance(fact, CandidateScored)), None)
    elites = [fact for fact in store.facts(only=(EliteChanged,))
              if isinstance(fact, EliteChanged) and fact.candidate == name]
    duplicate = next((fact.of for fact in facts if isinstance(fact, DuplicateFound)), None)
    rolled = sum(isinstance(fact, EpisodeEnded) for fact in facts)
    if scored is None:
        return _initial(store, name, facts, calls, elites)
    sound = scored.fault is None and scored.bound is None
    alike = [elite for elite in elites if elite.version == scored.version]    # as its episodes are
    last = alike[-1] if alike else None
    return Policy(
        id=name, program=scored.program if scored.program.text else None, summary=scored.summary,
        parents=scored.parents, metrics=dict(scored.metrics), episodes=_episodes_of(store, scored, facts, duplicate),
        fault=scored.fault, calls=calls, operator=scored.operator, generation=scored.generation,
        fitness=last.fitness if last else scored.fitness if sound else None,
        success_rate=last.success_rate if last else scored.success_rate if sound else None,
        mean_return=last.mean_return if last else scored.mean_return if sound else None,
        bound=scored.bound, rolled=rolled, duplicate_of=duplicate, accepted=_verdict(facts),
        elite_of=tuple(elite.generation for elite in elites),
        gate=next((fact for fact in facts if isinstance(fact, GateDecided)), None), version=scored.version,
        seen=_fresh_record(store, name, scored.version),
    )


def _initial(
    store: RunStore, name: str, facts: list[Fact], calls: tuple[CallRow, ...], elites: list[EliteChanged]
) -> Policy:
    """The record of p_0. No fact holds its metrics: they are those of E* on T_0."""
    scores = _scores_on_t0(store)
    made = next((fact for fact in facts if isinstance(fact, ProposalMade)), None)
    given = next(fact for fact in facts if isinstance(fact, InitialChosen))
    alike = [elite for elite in elites if elite.version == 1]    # as these scores are
    return Policy(
        id=name, program=given.program, summary="" if made is None else made.summary, metrics=dict(aggregate(scores)),
        episodes=_rollouts_of(facts, name, scores), calls=calls, operator=Operator.INITIAL,
        rolled=sum(isinstance(fact, EpisodeEnded) for fact in facts),
        fitness=alike[-1].fitness if alike else None, success_rate=elites[-1].success_rate if elites else None,
        mean_return=elites[-1].mean_return if elites else None,
        elite_of=tuple(elite.generation for elite in elites), seen=_fresh_record(store, name, 1),
    )


def _verdict(facts: Iterable[Fact]) -> bool | None:
    for fact in facts:
        if isinstance(fact, CandidateAccepted | CandidateRejected):
            return isinstance(fact, CandidateAccepted)
    return None


def _episodes_of(
    store: RunStore, scored: CandidateState, facts: list[Fact], source: str | None
) -> tuple[tuple[Episode | None, Score | None], ...]:
    """A candidate's episodes with their scores: all of them if it was scored, else those rolled out for it and for
    the first candidate with the same program."""
    if len(scored.scores) == len(scored.episodes) > 0:
        return tuple(zip(scored.episodes, scored.scores, strict=True))
    own = _rollouts_of(facts, scored.id)
    other = None if source is None else find(store, source)
    known = {episode.index for episode, _ in own if episode is not None}
    others = [] if other is None else [
        (episode, score) for episode, score in other.episodes if episode is not None and episode.index not in known
    ]
    return tuple(sorted((*own, *others), key=lambda each: -1 if each[0] is None else each[0].index))


def _rollouts_of(
    facts: list[Fact], name: str, on_t0: tuple[Score, ...] = ()
) -> tuple[tuple[Episode | None, Score | None], ...]:
    """The episodes rolled out for it, by index; `on_t0` holds the scores of p_0."""
    episodes = sorted((fact.episode for fact in facts if isinstance(fact, EpisodeEnded)), key=lambda each: each.index)
    scores = {fact.order: fact.score for fact in facts if isinstance(fact, EpisodeScored)}
    owner = parse(name)
    scores |= {str(owner.of_episode(place).score()): score for place, score in enumerate(on_t0)}
    return tuple((episode, scores.get(str(owner.of_episode(episode.index).score()))) for episode in episodes)


def _scores_on_t0(store: RunStore) -> tuple[Score, ...]:
    return next((fact.chosen.examination.scores for fact in _choices(store) if fact.final), ())     # of version 1


# -------------------------------------------------------------------------------------------- evaluators


def _choices(store: RunStore) -> list[EvaluatorChosen]:
    return [fact for fact in store.facts(only=(EvaluatorChosen,)) if isinstance(fact, EvaluatorChosen)]


def _evaluator(store: RunStore, name: str) -> EvaluatorRecord | None:
    """An evaluator of a pool, or one that was chosen without a pool; None if there is neither."""
    choices = _choices(store)
    pools = [fact.pool for fact in store.facts(only=(EvaluatorPoolScored,)) if isinstance(fact, EvaluatorPoolScored)]
    entries: list[EvaluatorCandidate] = [*(fact.chosen for fact in choices), *(each for pool in pools for each in pool)]
    entry = next((each for each in reversed(entries) if each.id == name), None)
    if entry is None:
        return None
    before = _before(store, [fact for fact in choices if fact.generation < entry.generation])
    votes = [fact for fact in store.facts(only=(VoteCast,), texts=False) if isinstance(fact, VoteCast)]
    scores = entry.examination.scores
    return EvaluatorRecord(
        id=name, program=entry.program, summary=entry.summary, parents=before,
        metrics=dict(aggregate(scores)), episodes=tuple((None, score) for score in scores),
        fault=entry.examination.fault, calls=tuple(list_calls(store.facts(about=name))),
        generation=entry.generation, slot=entry.slot,
        votes=tuple(vote for vote in votes if vote.generation == entry.generation),
        chosen=tuple(fact for fact in choices if fact.chosen.id == name),
        examination=entry.examination, measures=entry.measures,
        probes=tuple(probe.name for fact in store.facts(only=(ProbesRecorded,)) for probe in _probes_of(fact)),
    )


def _before(store: RunStore, choices: list[EvaluatorChosen]) -> tuple[str, ...]:
    """What an evaluator revises: the choice before it, or the evaluator in use if that one was refused."""
    refused = {
        fact.chosen.id for fact in store.facts(only=(EvaluatorMoved,))
        if isinstance(fact, EvaluatorMoved) and not fact.moved
    }
    named = [fact.chosen.id for fact in choices if fact.final or fact.chosen.id not in refused]
    return tuple(named[-1:])


def _probes_of(fact: Fact) -> tuple[Probe, ...]:
    return fact.probes if isinstance(fact, ProbesRecorded) else ()
