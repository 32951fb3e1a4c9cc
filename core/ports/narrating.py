"""The port of a domain that tells what happened in an episode."""

from typing import Protocol, runtime_checkable

from ..recording import Recording
from ..story import Story


@runtime_checkable
class Narrating(Protocol):
    """An optional port of a domain: a short story of a recorded episode, shown to models that write programs.

    For other domains `core.generic_story` makes a story of any recording.

    **Determinism.** A pure function of the recording: the story is a part of the run's log.

    **Secrets.** Policies never learn whether the success predicate held (S), so a story does not say it. What a
    policy may not know of an episode (such as the level of its noise) is no condition.

    **Errors.** None, for every recording of the domain's environments: without a step, or cut short.
    """

    def story(self, recording: Recording) -> Story:
        """The story of the episode: at most 12 rows of time in the domain's words, in about 1,600 characters.

        Longer stories lose rows in their middle. It takes milliseconds, also for an episode of thousands of steps.
        """
