"""A trial: one program on its way from proposal to evaluated candidate, the same in every search method."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import fsum
from typing import TypeVar

from ...core.events import EpisodeEnded, EpisodeScored, Fact, Order, Roll, ScoreEpisode, Withdraw
from ...core.metrics import aggregate
from ...core.values import Candidate, Episode, Fault, FaultKind, Operator, Program, Score

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutPlan:
    """How every candidate of a stage is evaluated: N_roll episodes with common seeds, then scored.

    Episode e of every candidate uses `seeds[e]` (common random numbers), so that candidates differ by
    their code alone. Without an `evaluator` episodes are only rolled out. With `racing`, a method that
    needs only the winner may cut a candidate that cannot win any more.
    """

    setting: str
    seeds: tuple[int, ...]
    evaluator: Program | None
    racing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is known so far of a program that is being evaluated."""

    id: str
    program: Program
    operator: Operator
    generation: int
    slot: int
    parents: tuple[str, ...] = ()
    summary: str = ""
    episodes: tuple[Episode | None, ...] = ()
    scores: tuple[Score | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The open trials of a keeper, by id."""

    plan: RolloutPlan
    open: Mapping[str, Trial]

    def begin(self, trial: Trial) -> tuple["Trials", tuple[Order, ...]]:
        """Take up a trial: all its episodes are ordered at once."""
        empty = (None,) * len(self.plan.seeds)
        trial = replace(trial, episodes=empty, scores=empty)
        rolls = tuple(
            Roll(
                id=f"{trial.id}/e{index}",
                program=trial.program,
                setting=self.plan.setting,
                index=index,
                seed=seed,
            )
            for index, seed in enumerate(self.plan.seeds)
        )
        return replace(self, open={**self.open, trial.id: trial}), rolls

    def take(self, fact: Fact) -> tuple["Trials", tuple[Order, ...], Candidate | None]:
        """What an EpisodeEnded or EpisodeScored means: more orders, or the evaluated candidate.

        A fact of no open trial, or a second answer to the same order, changes nothing.
        """
        match fact:
            case EpisodeEnded():
                trial_id, index = _episode_of(fact.order)
            case EpisodeScored():
                trial_id, index = _episode_of((fact.order or "").removesuffix("/score"))
            case _:
                return self, (), None
        trial = self.open.get(trial_id)
        if trial is None or not 0 <= index < len(trial.episodes):
            return self, (), None
        if isinstance(fact, EpisodeEnded):
            return self._take_episode(trial, index, fact.episode)
        return self._take_score(trial, index, fact.score)

    def cut(self, trial_id: str) -> tuple["Trials", tuple[Order, ...], Candidate]:
        """Give a trial up: what is still open of it is withdrawn, and its candidate has a bound for an F."""
        trial = self.open[trial_id]
        targets = [
            f"{trial.id}/e{index}" if trial.episodes[index] is None else f"{trial.id}/e{index}/score"
            for index, score in enumerate(trial.scores)
            if score is None
        ]
        rest = {key: value for key, value in self.open.items() if key != trial.id}
        orders = tuple(Withdraw(id=f"{target}/withdraw", target=target) for target in targets)
        candidate = replace(evaluated(trial), fitness=0.0, bound=bound(trial))
        return replace(self, open=rest), orders, candidate

    def _take_episode(
        self, trial: Trial, index: int, episode: Episode
    ) -> tuple["Trials", tuple[Order, ...], Candidate | None]:
        if trial.episodes[index] is not None:
            return self, (), None
        trial = replace(trial, episodes=_put(trial.episodes, index, episode))
        if self.plan.evaluator is not None and episode.fault is None:
            order = ScoreEpisode(id=f"{trial.id}/e{index}/score", evaluator=self.plan.evaluator, episode=episode)
            return self._keep(trial), (order,), None
        # A crash, a time-out or a malformed action ends the episode with f_e = 0: nothing to score.
        return self._settle(replace(trial, scores=_put(trial.scores, index, Score(fitness=0.0))))

    def _take_score(
        self, trial: Trial, index: int, score: Score
    ) -> tuple["Trials", tuple[Order, ...], Candidate | None]:
        if trial.episodes[index] is None or trial.scores[index] is not None:
            return self, (), None
        return self._settle(replace(trial, scores=_put(trial.scores, index, score)))

    def _settle(self, trial: Trial) -> tuple["Trials", tuple[Order, ...], Candidate | None]:
        if any(score is None for score in trial.scores):
            return self._keep(trial), (), None
        rest = {key: value for key, value in self.open.items() if key != trial.id}
        return replace(self, open=rest), (), evaluated(trial)

    def _keep(self, trial: Trial) -> "Trials":
        return replace(self, open={**self.open, trial.id: trial})


def bound(trial: Trial) -> float:
    """The most that F can still become: every episode without a score counts as f_e = 1.

    Summed exactly, so that it is never an ulp below the F that it bounds.
    """
    return fsum(1.0 if score is None else score.fitness for score in trial.scores) / len(trial.scores)


def evaluated(trial: Trial) -> Candidate:
    """The candidate state C(p) of a trial whose episodes are all in.

    F is the mean of f_e and S the share of successes (paper, section 3). A program that could not start
    a single episode has failed as a whole.
    """
    episodes = tuple(episode for episode in trial.episodes if episode is not None)
    scores = tuple(score for score in trial.scores if score is not None)
    count = len(episodes)
    return Candidate(
        id=trial.id,
        program=trial.program,
        operator=trial.operator,
        generation=trial.generation,
        slot=trial.slot,
        parents=trial.parents,
        summary=trial.summary,
        fitness=fsum(score.fitness for score in scores) / count if count else 0.0,
        success_rate=sum(episode.success for episode in episodes) / count if count else 0.0,
        metrics=aggregate(scores),
        episodes=episodes,
        scores=scores,
        fault=never_started(episodes),
    )


def failed(trial: Trial, fault: Fault) -> Candidate:
    """A candidate whose reply was no program: its slot is spent, it is never accepted or selected."""
    return Candidate(
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


def brief_of(candidate: Candidate) -> Candidate:
    """The candidate as a fact carries it: its episodes and scores are facts of their own already."""
    return replace(candidate, episodes=(), scores=())


def _episode_of(order: str | None) -> tuple[str, int]:
    """("g1/macro/2", 3) for "g1/macro/2/e3"; ("", -1) for anything else."""
    trial_id, _, episode = (order or "").rpartition("/")
    if episode.startswith("e") and episode[1:].isdecimal():
        return trial_id, int(episode[1:])
    return "", -1


def _put(items: tuple[T | None, ...], index: int, item: T) -> tuple[T | None, ...]:
    return (*items[:index], item, *items[index + 1 :])
