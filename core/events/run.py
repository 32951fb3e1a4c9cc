"""A run as a whole: its beginning and end, its stages, what a person does to it, and its rollouts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from ..order_ids import SCORE
from ..values import JSON, Episode, MethodBranch, Program, PromptText, Score
from .base import Fact, Order, without_node

RULES = 9
"""The version of what keepers decide from the same facts; a change of decisions raises it.

The log of another version can be shown, reported and rendered. It cannot be resumed or replayed exactly, since the
keepers of this version would decide otherwise. To continue older logs is a promise from the first published release on.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Fact):
    """The first fact of a run."""

    replayed: ClassVar[bool] = True

    settings: Mapping[str, JSON]
    versions: Mapping[str, str]
    sandbox: tuple[str, ...] = ()            # the active isolation layers
    initial: Program | None = None           # the text of a given p_0, so that a resumed run needs no file
    evaluator: Program | None = None         # the text of a given E*
    prompts: tuple[PromptText, ...] = ()     # the user's own; a resumed run and a replay use these texts
    exploits: tuple[Program, ...] = ()       # the user's own, with which attacks begin; kept as prompts are
    rules: int = 1                           # RULES of the version that wrote the log
    programs: Mapping[str, str] = field(default_factory=dict)   # SHA-256 of the programs that answer, by their paths
    branches: tuple[MethodBranch, ...] = ()   # of a generation, so that views need not know the method
    place: Mapping[str, str] = field(default_factory=dict)  # "folder" and "PYTHONPATH", if the domain is not ours


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfBegun(Fact):
    """The first fact of a what-if: further draws of the proposal for `candidate` from the state before its order.

    `run` is the identity of the run that recorded the state. `settings` are those of the draws, `changed` those that
    the recorded prompt did not have.
    """

    run: str
    candidate: str
    settings: Mapping[str, JSON]
    changed: Mapping[str, JSON]
    versions: Mapping[str, str]
    sandbox: tuple[str, ...] = ()
    prompts: tuple[PromptText, ...] = ()     # as in RunStarted


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(Fact):
    """A controller resumed the run.

    `budgets` holds the changed budgets by their full names, such as "budget_usd" or "budget.judge.calls".
    `sandbox` holds the isolation layers active from then on; None in the logs of older versions. `model` is the model
    in place of the run's from then on; "" where it stays. `origin` signs it: a later resume asks no model that another
    wrote into the log.
    """

    budgets: Mapping[str, JSON] = field(default_factory=dict)
    sandbox: tuple[str, ...] | None = None
    model: str = ""
    origin: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceNoted(Fact):
    """What the run noticed about the service of a model, once, in a sentence.

    `event` is "lost" (it answers nothing, and calls wait), "back", "left out" (requests go without something that it
    refuses), "odd" (its answers are used although they are not in the form of the protocol) or "cut" (it reads less
    than what is sent).
    """

    model: str
    event: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentRemembered(Fact):
    """An episode that was played again differed: the environment keeps something of earlier episodes.

    `differs` says in words what of it did. From here on every rollout has a process of its own, if `alone`; `before`
    rollouts of this session had not, and their figures may hold what earlier episodes left. If not `alone`, processes
    of their own differ, too, so that nothing repeats an episode.
    """

    differs: str
    before: int
    alone: bool

    @property
    def text(self) -> str:
        """What was found and what follows, in a sentence or two."""
        if not self.alone:
            return (f"the same seed gives different episodes, in processes of their own as well ({self.differs}): what "
                    "is compared on common episodes is compared on similar ones")
        marked = f"; {self.before} rollouts before may hold what earlier ones left" if self.before else ""
        return (f"the environment keeps something of earlier episodes: one that was played again differed "
                f"({self.differs}). From here on every rollout has a process of its own{marked}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledAhead(Fact):
    """What idle workers did since the last such fact: they rolled out episodes that had not been ordered yet.

    `episodes` ended, `used` of them and of earlier ones were ordered since, `aborted` gave way to other work or could
    not be ordered any more. `worker_s` is the time of workers that all of them took, `used_s` that of the used ones.
    """

    episodes: int
    used: int
    aborted: int
    worker_s: float
    used_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused(Fact):
    """The user requested a pause; open orders finish, new ones wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContinued(Fact):
    """A pause ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped(Fact):
    """The controller left the run before its end: "stopped" by the user or an outage, out of "budget", or "failed"."""

    reason: str
    why: str = ""  # in a sentence, where nobody asked for it


@dataclass(frozen=True, slots=True, kw_only=True)
class HintGiven(Fact):
    """The person who runs the search gave a hint, on one line; prompts for policies quote it from then on."""

    replayed: ClassVar[bool] = True

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayDiffered(Fact):
    """In a replay, the prompt of the order `asked` was not the recorded one, and it went on with the recorded reply.

    Later prompts may differ too: the replay goes on by order.
    """

    asked: str
    attempt: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageEntered(Fact):
    """The run entered the stage "initial", "baseline" (T_0), "evaluator", "hardening", "search", "final" or "done"."""

    replayed: ClassVar[bool] = True

    stage: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalMeasured(Fact):
    """p_0 and the elite on held-out seeds, under the reference evaluator.

    The fitnesses are None if the domain has no reference evaluator, the rates of success if it has no success
    predicate, the mean returns if it has no rewards.
    """

    replayed: ClassVar[bool] = True

    episodes: int
    initial_fitness: float | None
    initial_success: float | None
    elite_fitness: float | None
    elite_success: float | None
    initial_return: float | None = None
    elite_return: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustMeasured(FinalMeasured):
    """The same again, on the same seeds under changed conditions, one of `order_ids.CONDITIONS`."""

    conditions: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Roll(Order):
    """Roll one episode out. Answered by EpisodeEnded."""

    program: Program
    split: str  # "search", "final" or "final-heavy" and the like: which environment of the run
    index: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnded(Fact):
    """A rollout ended; its trajectory was written before this fact."""

    episode: Episode

    @property
    def rollout(self) -> Episode | None:
        """The episode."""
        return self.episode

    def portable(self) -> Self:
        """Without the node of the rollout."""
        return replace(self, episode=without_node(self.episode))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEpisode(Order):
    """Score one recorded episode. Answered by EpisodeScored."""

    evaluator: Program
    episode: Episode


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeScored(Fact):
    """An evaluator scored a recorded episode."""

    score: Score

    @property
    def scored(self) -> tuple[str, Score] | None:
        """The rollout, whose id that of the order follows, and its score; None for one by a possible successor."""
        rollout, _, part = (self.order or "").rpartition("/")
        return (rollout, self.score) if part == SCORE else None
