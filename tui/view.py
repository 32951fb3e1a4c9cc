"""What a person sees of a run: a value that grows fact by fact. Pure; the time is an argument."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..core.events import (
    CandidateScored,
    EliteChanged,
    EpisodeEnded,
    EvaluatorChosen,
    Fact,
    FinalMeasured,
    ProposalFailed,
    ProposalMade,
    RunStarted,
    StageEntered,
    VoteCast,
)
from ..core.methods import branches_of
from ..core.values import JSON, Call, Candidate

ENOUGH_TO_JUDGE = 3       # candidates before a rate is believed


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A run as seen so far. Times are seconds of one clock, whichever the caller uses."""

    settings: Mapping[str, JSON] = field(default_factory=dict)
    stage: str = ""
    candidates: Mapping[str, Candidate] = field(default_factory=dict)   # by id; the elite, and what came after it
    scored: int = 0                     # policies of the search so far
    elite: EliteChanged | None = None
    elite_before: EliteChanged | None = None
    final: FinalMeasured | None = None
    episodes: int = 0
    episode_wall_s: float = 0.0         # of all episodes together
    model_calls: int = 0
    tokens: int = 0
    cost_usd: float | None = 0.0        # None as soon as the price of one call is unknown
    failed_proposals: int = 0
    evaluators: int = 0                 # evaluator generations that ended
    counted_from_s: float = 0.0         # since when, and from how many, the rate of candidates is measured
    counted_from: int = 0

    def number(self, key: str) -> int:
        """A whole number of the settings; 0 where it is not known."""
        value = self.settings.get(key)
        return value if isinstance(value, int) else 0

    @property
    def generation(self) -> int:
        """The generation of the search that is being made; 0 before the search."""
        return 0 if self.elite is None else self.elite.generation + 1

    @property
    def candidates_expected(self) -> int:
        """The slots of the whole search."""
        return self.number("generations") * sum(branch.slots for branch in branches_of(self.settings))


def after(view: View, fact: Fact, *, now_s: float) -> View:
    """The view once `fact` is known."""
    match fact:
        case RunStarted():
            return replace(view, settings=fact.settings)
        case StageEntered():
            return replace(view, stage=fact.stage, counted_from_s=now_s, counted_from=view.scored)
        case EpisodeEnded():
            wall_s = view.episode_wall_s + fact.episode.wall_s
            return replace(view, episodes=view.episodes + 1, episode_wall_s=wall_s)
        case CandidateScored():
            candidates = {**view.candidates, fact.candidate.id: fact.candidate}
            return replace(view, candidates=candidates, scored=view.scored + 1)
        case EliteChanged():
            # What is over is forgotten, so that a long run does not grow here.
            later = {
                name: each for name, each in view.candidates.items()
                if each.generation > fact.generation or name == fact.candidate
            }
            return replace(view, elite=fact, elite_before=view.elite, candidates=later)
        case ProposalMade():
            return _asked(view, fact.call)
        case VoteCast():
            return _asked(view, *fact.earlier, fact.call)
        case ProposalFailed():
            return replace(_asked(view, fact.call), failed_proposals=view.failed_proposals + 1)
        case EvaluatorChosen():
            return replace(view, evaluators=view.evaluators + 1)
        case FinalMeasured():
            return replace(view, final=fact)
    return view


def _asked(view: View, *calls: Call | None) -> View:
    """With these questions to a model; None was not answered."""
    for call in calls:
        view = replace(view, model_calls=view.model_calls + 1)
        if call is None:
            continue
        usage = call.usage
        known = view.cost_usd is not None and usage.cost_usd is not None
        view = replace(
            view, tokens=view.tokens + usage.input_tokens + usage.output_tokens,
            cost_usd=(view.cost_usd or 0.0) + (usage.cost_usd or 0.0) if known else None,
        )
    return view


def recounted(view: View, *, now_s: float) -> View:
    """The same view with the rate of candidates measured from now on: after a resume."""
    return replace(view, counted_from_s=now_s, counted_from=view.scored)


def time_left_s(view: View, *, now_s: float) -> float | None:
    """How long the search and the final measure still take at the rate so far; None where it cannot be told.

    The rate is that of the search itself: candidates are what takes the time, and the stages before tell
    nothing of it.
    """
    done = view.scored - view.counted_from
    if view.stage != "search" or done < ENOUGH_TO_JUDGE or not view.episodes:
        return None
    remaining = max(0, view.candidates_expected - view.scored)
    search_s = (now_s - view.counted_from_s) / done * remaining
    final_s = 2 * view.number("final_episodes") * view.episode_wall_s / view.episodes / max(1, view.number("workers"))
    return search_s + final_s
