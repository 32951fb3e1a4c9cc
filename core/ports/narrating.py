"""The port of a domain that tells what happened in an episode."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ..recording import Recording
from ..values import JSON

MAX_ROWS = 12  # rows of a story's table


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happened in one episode, in the domain's words.

    `rows` are the lines of a table under `head`, in the order of time: 12 are shown, of more those in the middle are
    left out; where they are `ranked`, the last ones. `notes` are lines below it, such as events with their steps.
    `last` is a second table, of the last steps, with its head first and what says most of them next. `conditions` say
    what was drawn for this episode, as far as a policy may know it: names with units, and numbers, flags or short
    texts. Domains use the same names in every episode, so that episodes can be compared. `begins_solved` marks an
    episode whose task is done before the first step.
    """

    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    last: tuple[tuple[str, ...], ...] = ()
    conditions: Mapping[str, JSON] = field(default_factory=dict)
    begins_solved: bool = False
    ranked: bool = False    # the most important row comes first


@runtime_checkable
class Narrating(Protocol):
    """An optional port of a domain: a short story of a recorded episode, shown to models that write programs.

    For other domains `runtime.rollouts.generic_story` makes a story of any recording.

    **Determinism.** A pure function of the recording: the story is a part of the run's log.

    **Secrets.** Policies never learn whether the success predicate held (S), so a story does not say it. What a
    policy may not know of an episode (such as the level of its noise) is no condition.

    **Errors.** None, for every recording of the domain's environments: without a step, or cut short.
    """

    def story(self, recording: Recording) -> Story:
        """The story of the episode: at most 12 rows of time in the domain's words, in about 1,600 characters.

        Longer stories lose rows in their middle. It takes milliseconds, also for an episode of thousands of steps.
        """
