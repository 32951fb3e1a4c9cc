"""The state of a run just before it ordered a proposal, rebuilt from the log, for `memento what-if`.

A keeper is pure and a run is its log: replayed up to the order, the log gives the order, and all that its prompt shows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..agents.notes import Notes
from ..core.errors import StoreError, UsageError, no_such
from ..core.events import (
    CandidateScored,
    Fact,
    HintGiven,
    ProposalFailed,
    ProposalMade,
    Propose,
)
from ..core.methods import CALIBRATE, load_method
from ..core.order_ids import CALIBRATE as CALIBRATION
from ..core.order_ids import RANDOM, SEARCH, TUNE, parse, slot_of
from ..core.ports import Domain
from ..core.values import CandidateState, PromptText
from ..domains import load as load_domain
from ..domains import require_same_simulator
from ..memory.lookup import Policy, find
from ..memory.store import RunStore
from ..runtime.supervisor import Replay
from ..search.rollout_plan import RolloutPlan
from ..search.what_if import Known, OrderBefore, shown_less
from ..settings import Settings
from ..settings.what_if import asking_settings, changed_settings
from .budgets import require_usable
from .given_prompts import read_prompts
from .history import Outline, outline_of, require_same_rules
from .plan import plan_of
from .session import keeper_of
from .trust import trusted_settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedState:
    """The state of a run before it ordered a candidate, and what became of it.

    `order` has no conversation and is as `settings` make it. `limit` is that of its prompt in characters, 0 for none.
    """

    run: Path
    identity: str
    settings: Settings
    domain: Domain
    order: Propose
    known: Known
    recorded: Policy
    prompts: tuple[PromptText, ...]
    hints: tuple[HintGiven, ...]
    notes: Notes
    limit: int

    @property
    def candidate(self) -> str:
        """The id of the candidate."""
        return self.recorded.id

    @property
    def base(self) -> CandidateState:
        """The fittest parent, the first of equals: draws are compared with it."""
        return max(self.order.parents, key=lambda parent: parent.fitness)

    @property
    def plan(self) -> RolloutPlan:
        """The episodes of the parents under E*, for the draws."""
        return RolloutPlan(
            split="search", seeds=tuple(episode.seed for episode in self.base.episodes),
            numbers=tuple(episode.index for episode in self.base.episodes),
            evaluator=self.known.evaluator, has_success=self.base.success_rate is not None,
        )


def candidates_in(folder: Path, pattern: str) -> list[str]:
    """The answered proposals of a run that a pattern names, in the order of their answers.

    Raises UsageError where it names none, and for one candidate that no prompt asked for.
    """
    with RunStore.read(folder) as store:
        made = store.facts(only=(ProposalMade, ProposalFailed), texts=False)
        asked = [_proposal_of(fact.order) for fact in made if fact.order is not None]
    names = list(dict.fromkeys(name for name in asked if parse(name).stage == SEARCH))
    found = [name for name in names if fnmatchcase(name, pattern)]
    if found:
        return found
    named = parse(pattern)
    if named.branch == TUNE or named.branch == RANDOM:
        what = "a tuning of constants" if named.branch == TUNE else "drawn at random"
        raise UsageError(f"{pattern} is {what}: no model was asked, so it has no prompt; name another candidate")
    if named.stage and named.stage != SEARCH:
        raise UsageError(
            f"{pattern} comes before the policy search: name a candidate of a generation, such as {_example(names)}"
        )
    if not names:
        raise UsageError(f"the run {folder.name!r} has no proposal yet, or none that a model made")
    raise no_such("candidate", pattern, names)


def _example(names: Sequence[str]) -> str:
    return names[0] if names else "g1/macro/0"


def state_before(
    folder: Path, candidate: str, given: Mapping[str, Any], *, trusted: bool = False
) -> RecordedState:
    """The state before the order for an answered proposal, its order as the given settings make it.

    Raises UsageError for settings that cannot change, and where the search under them took another course; StoreError.
    """
    with RunStore.read(folder) as store:
        outline = outline_of(store)
        require_same_rules(outline.started, folder, "repeated from the state before a proposal")
        recorded = trusted_settings(
            folder, outline.started, outline.settings, trusted=trusted, models=False, store=store
        )
        settings = changed_settings(recorded, given)
        require_usable(asking_settings(settings))
        if recorded.method == CALIBRATE or parse(candidate).branch == CALIBRATION:
            raise UsageError(f"{folder.name} is a calibration of a robot, which cannot be repeated from its log")
        domain = load_domain(recorded.domain, recorded.provenance)
        require_same_simulator(domain, recorded.options)
        load_method(recorded.method, recorded.provenance)
        past = _past(store, candidate)
        order, known = _order_before(outline, recorded, settings, domain, past, candidate)
        outcome = find(store, candidate)
        identity = store.identity
    answer = next(
        fact for fact in reversed(past) if isinstance(fact, ProposalMade | ProposalFailed) and fact.order is not None
        and _proposal_of(fact.order) == candidate
    )
    if not isinstance(outcome, Policy):
        raise UsageError(f"{candidate} is not evaluated yet: wait for its episodes")
    hints = [fact for fact in past if isinstance(fact, HintGiven)]
    notes = Notes()
    for fact in past:
        notes.on_fact(fact)
    return RecordedState(
        run=folder, identity=identity, settings=settings, domain=domain, order=order, known=known, recorded=outcome,
        prompts=read_prompts(settings.prompts) if "prompts" in given else outline.started.prompts,
        hints=tuple(hints[: answer.hints_known]), notes=notes, limit=0 if "model" in given else answer.prompt_limit,
    )


def _proposal_of(order: str) -> str:
    """The slot of a proposal's order, also of a turn of its conversation."""
    return str(parse(slot_of(order)).owner)


def _past(store: RunStore, candidate: str) -> list[Fact]:
    """The facts up to the one that the candidate is settled with; prompts and replies are left out."""
    past: list[Fact] = []
    for fact in store.facts(texts=False):
        past.append(fact)
        if isinstance(fact, CandidateScored) and fact.candidate.id == candidate:
            break
    return past


def _order_before(
    outline: Outline, recorded: Settings, settings: Settings, domain: Domain, past: Sequence[Fact], candidate: str
) -> tuple[Propose, Known]:
    """Replay the log through the keeper of the run, which shows what the changed settings say.

    A memory that shows less than the recorded one is cut from the order instead, since the climbs of the recorded
    search were not raced.
    """
    shows_less = recorded.memory_detail == "full" and settings.memory_detail != "full"
    detail = "full" if shows_less else settings.memory_detail
    shown = {key: getattr(settings, key) for key in ("memory_scope", "macro_focus", "partners")}
    shown_by = recorded.model_copy(update={**shown, "memory_detail": detail})
    started = outline.started
    keeper = OrderBefore(
        keeper_of(
            plan_of(shown_by, domain, started.initial, started.evaluator, exploits=started.exploits), shown_by, domain
        ),
        candidate,
    )
    try:
        Replay(keeper).replay(past)
    except StoreError:
        if shown_by == recorded:
            raise
    if keeper.order is None or keeper.known.evaluator is None:
        raise UsageError(
            f"the state before {candidate} does not follow from the log under these settings: the recorded search "
            "decided otherwise, because it raced candidates or asked ahead; keep what was recorded"
        )
    order = replace(keeper.order, id=candidate, conversation=None)
    if not order.parents:
        raise UsageError(f"{candidate} has no parent, so there is no state to compare with: name another candidate")
    return shown_less(order) if shows_less else order, keeper.known
