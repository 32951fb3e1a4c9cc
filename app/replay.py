"""A recorded run for a replay: its settings, the given programs, and its models' replies."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..agents.critic_sheets import recorded_looks
from ..agents.hints import RecordedHints, recorded_hints
from ..core.critic_events import Criticised
from ..core.events import RULES, EpisodeEnded, Fact, RunStarted
from ..core.turn_events import ToolAnswered
from ..core.values import JSON, CallTimes, Program, PromptText
from ..models.tape import Tape, tape_of
from ..settings import Settings, recorded_settings
from .taping import recorded_facts, require_done
from .trust import require_trust

UNLIMITED: Mapping[str, JSON] = {
    "budget_calls": None, "budget_tokens": None, "budget_usd": None, "budget_wall_s": None, "budget": {},
}
"""A replay calls no model, so budgets have no effect in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """The inputs of a replay. Programs that were given as files come from the record, not from the files.

    The defaults are those of a run that replays nothing.
    """

    initial: Program | None = None
    evaluator: Program | None = None
    tape: Tape | None = None                # None if nothing is replayed
    rules: int = RULES
    prompts: tuple[PromptText, ...] = ()
    hints: RecordedHints | None = None
    looks: Mapping[str, Criticised] | None = None                       # of a critic, by their orders
    call_times: Mapping[str, CallTimes] = field(default_factory=dict)   # of practice episodes, with a step limit of all
    answers: Mapping[str, ToolAnswered] = field(default_factory=dict)   # of tools, by their orders


NOTHING_RECORDED = RecordedRun()
"""The inputs of a run that replays none."""


def read_recorded(place: Path, *, trusted: bool = True) -> RecordedRun:
    """The finished run in this folder or file of a tape. Raises UsageError for one that is not done, since its tape
    would end early, and without `trusted` for one from elsewhere that would import or start something."""
    facts = recorded_facts(place)
    started = require_done(facts, place)
    recorded = _trusted_settings(started, place, trusted=trusted)
    return RecordedRun(
        initial=started.initial,
        evaluator=started.evaluator,
        tape=tape_of(facts),
        rules=started.rules,
        prompts=started.prompts,
        hints=recorded_hints(facts),
        looks=recorded_looks(facts),
        call_times=_call_times(facts, all_of_them=recorded.step_limit_ms is not None),
        answers={fact.order: fact for fact in facts if isinstance(fact, ToolAnswered) and fact.order is not None},
    )


def replay_settings(place: Path, *, trusted: bool = True) -> Settings:
    """The settings of a replay of this finished run. Raises UsageError as `read_recorded` does."""
    recorded = _trusted_settings(require_done(recorded_facts(place), place), place, trusted=trusted)
    return Settings.model_validate({**recorded.as_json(), **UNLIMITED, "replay": str(place.resolve())})


def _trusted_settings(started: RunStarted, place: Path, *, trusted: bool) -> Settings:
    recorded = recorded_settings(started.settings)
    require_trust(place, started.settings, recorded, trusted=trusted, models=False)
    return recorded


def _call_times(facts: Iterable[Fact], *, all_of_them: bool) -> dict[str, CallTimes]:
    """The measured CPU times of practice episodes, which answers show, or of all: a replay must judge by these, since
    its own would differ."""
    kinds = EpisodeEnded | ToolAnswered if all_of_them else ToolAnswered
    return {
        fact.order: fact.episode.notes.times for fact in facts
        if isinstance(fact, kinds) and fact.order is not None
        and fact.episode is not None and fact.episode.notes.times is not None
    }
