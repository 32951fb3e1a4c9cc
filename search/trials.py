"""A trial: one program between proposal and evaluated candidate, the same in every search method."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import fsum
from typing import TypeVar

from ..core.events import (
    DuplicateFound,
    EpisodeEnded,
    EpisodeScored,
    Fact,
    Order,
    ProposalFailed,
    ProposalMade,
    ProposalStopped,
    Roll,
    ScoreEpisode,
    Withdraw,
)
from ..core.faults import Fault, FaultKind
from ..core.keeper import Decision, put
from ..core.metrics import aggregate
from ..core.order_ids import SCORE, episode_id, score_id, split, withdraw_id
from ..core.programs.program_text import digest
from ..core.returns import mean_return
from ..core.values import Ancestor, CandidateState, Episode, Operator, Program, Score
from .lineage import course_of, lineage_of, with_edit
from .rollout_plan import RolloutPlan

S = TypeVar("S")

KNOWN = 1000    # the latest programs whose episodes are remembered: bounds memory, changes no result


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The intermediate results of a program under evaluation.

    `source` is the open trial of the same program whose episodes this one shares.
    """

    id: str
    program: Program
    operator: Operator
    generation: int
    slot: int
    parents: tuple[str, ...] = ()
    summary: str = ""
    episodes: tuple[Episode | None, ...] = ()
    scores: tuple[Score | None, ...] = ()
    digest: str = ""
    source: str | None = None
    lineage: tuple[Ancestor, ...] = ()  # of the parents
    before: tuple[float, ...] = ()  # F of the parents
    courses: tuple[str, ...] = ()  # what was measured of their episodes, as digests
    shape: str = ""

    @property
    def scored(self) -> int:
        """The number of finished and scored episodes."""
        return sum(score is not None for score in self.scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The result of one decision on trials: the trials after it, the orders, and the evaluated candidates."""

    trials: "Trials"
    orders: tuple[Order, ...] = ()
    facts: tuple[Fact, ...] = ()
    settled: tuple[CandidateState, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The open trials of a keeper, by id, and the latest finished ones, by the digest of their program.

    Only a scored episode is reused by another trial, because the recording of an unscored one may be deleted.
    `ordered` counts the episodes ordered so far, for a budget of episodes. While no trial is open it does not depend
    on the order of arrival, unless trials were pruned.
    """

    plan: RolloutPlan
    open: Mapping[str, Trial]
    known: Mapping[str, Trial] = field(default_factory=dict)
    ordered: int = 0

    def knowing(self, candidate: CandidateState) -> "Trials":
        """The trials with the episodes of an evaluated candidate, such as C_0, for later identical programs."""
        if not self.plan.duplicates or not len(candidate.episodes) == len(candidate.scores) == len(self.plan.seeds):
            return self
        trial = Trial(
            id=candidate.id,
            program=candidate.program,
            operator=candidate.operator,
            generation=candidate.generation,
            slot=candidate.slot,
            episodes=candidate.episodes,
            scores=candidate.scores,
            digest=_shape_of(candidate),
        )
        return self._remember(trial)

    def with_practice(self, fact: ProposalMade | ProposalFailed) -> "Trials":
        """The trials after the practice episodes of a proposal."""
        return replace(self, ordered=self.ordered + fact.practised) if fact.practised else self

    def begin(self, trial: Trial, *, shape: str = "") -> Step:
        """Start a trial and order all its episodes at once, except those of an already known program.

        `shape` is the digest of its program if the caller has it.
        """
        empty = (None,) * len(self.plan.seeds)
        trial = replace(trial, episodes=empty, scores=empty)
        if not self.plan.duplicates:
            return self._ordering(trial)
        trial = replace(trial, digest=shape or digest(trial.program))
        same = self._under_way(trial.digest) or self.known.get(trial.digest)
        if same is None:
            return self._ordering(trial)
        trial = _taken_over(trial, same)
        found = DuplicateFound(order=trial.id, candidate=trial.id, of=same.id, episodes=trial.scored)
        if same.id in self.open:
            return Step(trials=self._keep(replace(trial, source=same.id)), facts=(found,))
        step = self._ordering(trial)
        return replace(step.trials._settle(trial.id), orders=step.orders, facts=(found,))

    def extend(self, trial: Trial) -> Step:
        """Open a trial for the seeds of the plan that it lacks; it may hold the episodes of the first ones."""
        missing = (None,) * (len(self.plan.seeds) - len(trial.episodes))
        return self._ordering(replace(
            trial, episodes=(*trial.episodes, *missing), scores=(*trial.scores, *missing)
        ))

    def with_episodes(self, seeds: tuple[int, ...], numbers: tuple[int, ...]) -> "Trials":
        """The trials with further episodes, of these numbers, for all later candidates; none may be open.

        Known programs lack them.
        """
        missing = (None,) * len(seeds)
        known = {
            name: replace(one, episodes=(*one.episodes, *missing), scores=(*one.scores, *missing))
            for name, one in self.known.items()
        }
        before = self.plan.numbers or tuple(range(len(self.plan.seeds)))
        plan = replace(self.plan, seeds=(*self.plan.seeds, *seeds), numbers=(*before, *numbers))
        return replace(self, plan=plan, known=known)

    def take(self, fact: Fact) -> Step:
        """Apply an EpisodeEnded or EpisodeScored: the step has more orders, or evaluated candidates.

        A fact of another trial, or a second answer to the same order, changes nothing.
        """
        match fact:
            case EpisodeEnded() | EpisodeScored():
                trial_id, number, part = split(fact.order or "")
            case _:
                return Step(trials=self)
        trial = self.open.get(trial_id)
        index = None if number is None else self.plan.place_of(number)
        if trial is None or index is None or index >= len(trial.episodes):
            return Step(trials=self)
        match fact:
            case EpisodeEnded() if not part:
                return self._take_episode(trial, index, fact.episode)
            case EpisodeScored() if part == SCORE:
                return self._take_score(trial, index, fact.score)
        return Step(trials=self)

    def prune(self, trial_id: str) -> Step:
        """Prune a trial: its open orders are withdrawn, and its candidate has an upper bound instead of F.

        Trials that shared its episodes continue: the first of them orders the missing episodes.
        """
        trial = self.open[trial_id]
        targets = [
            _open_order(trial, index, self.plan)
            for index, score in enumerate(trial.scores)
            if score is None and trial.source is None
        ]
        withdrawn = tuple(Withdraw(id=withdraw_id(target), target=target) for target in targets)
        candidate = replace(candidate_of(trial, self.plan), fitness=0.0, bound=bound(trial))
        trials = self._without(trial)
        heirs = [trials.open[name] for name in trials._sharing(trial.id)]
        rolls: tuple[Order, ...] = ()
        for heir in heirs:
            source = None if heir is heirs[0] else heirs[0].id
            trials = trials._keep(replace(heir, source=source))
        if heirs:
            rolls = trials._rolls(heirs[0])
        return Step(trials=trials, orders=(*withdrawn, *rolls), settled=(candidate,))

    def _take_episode(self, trial: Trial, index: int, episode: Episode) -> Step:
        if trial.episodes[index] is not None:
            return Step(trials=self)
        if self.plan.evaluator is not None and episode.scorable:
            order = ScoreEpisode(
                id=score_id(episode_id(trial.id, self.plan.number_of(index))), evaluator=self.plan.evaluator,
                episode=episode,
            )
            trials = self._keep(replace(trial, episodes=put(trial.episodes, index, episode)))
            return Step(trials=trials, orders=(order,))
        # A fault ends the episode with f_e = 0; without a step there are no metrics either.
        return self._enter(trial, index, episode, Score(fitness=0.0))

    def _take_score(self, trial: Trial, index: int, score: Score) -> Step:
        episode = trial.episodes[index]
        if episode is None or trial.scores[index] is not None:
            return Step(trials=self)
        return self._enter(trial, index, episode, episode.counted(score))

    def _enter(self, trial: Trial, index: int, episode: Episode, score: Score) -> Step:
        """Enter an episode and its score into a trial and those that share its episodes."""
        names = (trial.id, *self._sharing(trial.id))
        trials = self
        for name in names:
            each = trials.open[name]
            each = replace(
                each, episodes=put(each.episodes, index, episode), scores=put(each.scores, index, score)
            )
            trials = trials._keep(each)
        settled: tuple[CandidateState, ...] = ()
        for name in names:
            step = trials._settle(name)
            trials, settled = step.trials, (*settled, *step.settled)
        return Step(trials=trials, settled=settled)

    def _settle(self, name: str) -> Step:
        trial = self.open[name]
        if any(score is None for score in trial.scores):
            return Step(trials=self)
        return Step(trials=self._without(trial), settled=(candidate_of(trial, self.plan),))

    def _ordering(self, trial: Trial) -> Step:
        """Open the trial, with orders for the episodes that it lacks."""
        rolls = self._rolls(trial)
        return Step(trials=replace(self._keep(trial), ordered=self.ordered + len(rolls)), orders=rolls)

    def _rolls(self, trial: Trial) -> tuple[Roll, ...]:
        """The episodes that a trial still lacks."""
        return tuple(
            Roll(
                id=episode_id(trial.id, self.plan.number_of(index)),
                program=trial.program,
                split=self.plan.split,
                index=self.plan.number_of(index),
                seed=seed,
            )
            for index, seed in enumerate(self.plan.seeds)
            if trial.scores[index] is None
        )

    def _under_way(self, mark: str) -> Trial | None:
        """The open trial of the same program that rolls out its own episodes, if any."""
        return next((one for one in self.open.values() if one.digest == mark and one.source is None), None)

    def _sharing(self, name: str) -> tuple[str, ...]:
        """The open trials that share the episodes of another, in the order of their names."""
        return tuple(sorted(one.id for one in self.open.values() if one.source == name))

    def _keep(self, trial: Trial) -> "Trials":
        return replace(self, open={**self.open, trial.id: trial})

    def _without(self, trial: Trial) -> "Trials":
        """The trials after one ended; its results are remembered."""
        rest = {key: value for key, value in self.open.items() if key != trial.id}
        return replace(self, open=rest)._remember(trial)

    def _remember(self, trial: Trial) -> "Trials":
        old = self.known.get(trial.digest)
        if not self.plan.duplicates or trial.scored <= (0 if old is None else old.scored):
            return self
        bare = replace(trial, source=None, program=Program(""), lineage=())  # the digest is enough
        kept = {**self.known, trial.digest: bare}
        if len(kept) > KNOWN and self.plan.episodes is None:  # a budget bounds the number of programs itself
            del kept[next(iter(kept))]
        return replace(self, known=kept)


def trial_of(
    fact: ProposalMade | ProposalFailed, order: str, *,
    operator: Operator, generation: int, slot: int, parents: Sequence[CandidateState] = (),
) -> Trial:
    """The trial of the proposal for `order`; a failed proposal has no program, unless the gate stopped it."""
    program, shape = Program(""), ""
    if isinstance(fact, ProposalMade | ProposalStopped):
        program, shape = fact.program, fact.shape
    return trial_from(
        order, program, operator=operator, generation=generation, slot=slot, parents=parents, summary=fact.summary,
        shape=shape,
    )


def trial_from(
    name: str, program: Program, *,
    operator: Operator, generation: int, slot: int, parents: Sequence[CandidateState], summary: str, shape: str = "",
) -> Trial:
    """The trial of a program that was made from its parents."""
    return Trial(
        id=name,
        program=program,
        operator=operator,
        generation=generation,
        slot=slot,
        parents=tuple(parent.id for parent in parents),
        summary=summary,
        lineage=lineage_of(parents),
        before=tuple(parent.fitness for parent in parents),
        courses=tuple(course_of(parent.episodes, parent.scores) for parent in parents),
        shape=shape,
    )


def is_same(one: CandidateState, other: CandidateState) -> bool:
    """Whether two candidates are the same program: a model that sends a parent back has found nothing."""
    return one.program == other.program or _shape_of(one) == _shape_of(other)


def _shape_of(candidate: CandidateState) -> str:
    return candidate.shape or _digest_of(candidate.program)


@lru_cache(maxsize=64)
def _digest_of(program: Program) -> str:
    """Of a program without a shape on the log, such as p_0, which every slot of a chain is compared with."""
    return digest(program)


def bound(trial: Trial) -> float:
    """The upper bound of F: every episode without a score counts as f_e = 1, or as 0 if a fault ended it.

    The sum is exact, so that rounding never puts it below the F that it bounds.
    """
    return fsum(map(_most, trial.episodes, trial.scores)) / len(trial.scores)


def _most(episode: Episode | None, score: Score | None) -> float:
    """The highest f_e that an episode can still have."""
    if score is not None:
        return score.fitness
    return 0.0 if episode is not None and episode.fault is not None else 1.0


def candidate_of(trial: Trial, plan: RolloutPlan) -> CandidateState:
    """The candidate state C(p) of a trial with all its episodes.

    F is the mean of f_e and S the share of successes (paper, section 3). A program that could not start
    a single episode has failed as a whole.
    """
    episodes = tuple(episode for episode in trial.episodes if episode is not None)
    scores = tuple(score for score in trial.scores if score is not None)
    count = len(episodes)
    fitness = fsum(score.fitness for score in scores) / count if count else 0.0
    return CandidateState(
        id=trial.id,
        program=trial.program,
        operator=trial.operator,
        generation=trial.generation,
        slot=trial.slot,
        parents=trial.parents,
        summary=trial.summary,
        fitness=fitness,
        success_rate=success_rate(episodes) if plan.has_success else None,
        mean_return=mean_return(episodes),
        metrics=aggregate(scores),
        episodes=episodes,
        scores=scores,
        fault=never_started(episodes),
        lineage=with_edit(
            trial.lineage, name=trial.id, operator=trial.operator, summary=trial.summary, before=trial.before,
            fitness=fitness, idle=bool(scores) and course_of(episodes, scores) in trial.courses, version=plan.version,
        ),
        shape=trial.shape,
        version=plan.version,
    )


def success_rate(episodes: Sequence[Episode]) -> float:
    """S: the share of successes; 0 without an episode."""
    return sum(episode.success for episode in episodes) / len(episodes) if episodes else 0.0


def failed_candidate(trial: Trial, fault: Fault) -> CandidateState:
    """A candidate without a usable program, or stopped at the gate: its slot is spent, it is never selected."""
    return CandidateState(
        id=trial.id,
        program=trial.program,
        operator=trial.operator,
        generation=trial.generation,
        slot=trial.slot,
        parents=trial.parents,
        summary=trial.summary,
        fault=fault,
    )


def never_started(episodes: tuple[Episode, ...]) -> Fault | None:
    """The fault of a program that could not start a single episode, else None."""
    faults = [episode.fault for episode in episodes]
    if faults and all(fault is not None and fault.kind is FaultKind.NOT_STARTED for fault in faults):
        return faults[0]
    return None


def brief_of(candidate: CandidateState) -> CandidateState:
    """The candidate for a fact: without episodes and scores, which are separate facts, and what follows from others.

    Metrics that no episode has are left out, as in the logs of older versions, from which a replay must not differ.
    """
    metrics = {name: entry for name, entry in candidate.metrics.items() if entry != {"count": 0}}
    return replace(candidate, episodes=(), scores=(), metrics=metrics, lineage=(), shape="", fresh=None)


def chain(first: Decision[S], then: Decision[S]) -> Decision[S]:
    """Two decisions combined; the second was made in the state after the first."""
    return Decision(state=then.state, orders=(*first.orders, *then.orders), facts=(*first.facts, *then.facts))


def _taken_over(trial: Trial, same: Trial) -> Trial:
    """The trial with the scored episodes of another trial of the same program."""
    known = tuple(score is not None for score in same.scores)
    return replace(
        trial,
        episodes=tuple(one if there else None for one, there in zip(same.episodes, known, strict=True)),
        scores=same.scores,
    )


def _open_order(trial: Trial, index: int, plan: RolloutPlan) -> str:
    """The id of the open order for an episode without a score: its rollout or its scoring."""
    rollout = episode_id(trial.id, plan.number_of(index))
    return rollout if trial.episodes[index] is None else score_id(rollout)
