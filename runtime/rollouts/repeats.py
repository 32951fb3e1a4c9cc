"""Whether an environment keeps something of earlier episodes: an episode that counted is played again after others.

A look finds what random actions reach. A curriculum, an opponent that learns, wear or a cache may change with what a
program achieves alone, so that rollouts have to be compared, too.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...core.recording import Recording
from ...core.returns import return_of
from ...core.values import Episode, Program

AFTER: Final = frozenset({1, 4, 16, 64, 256})   # counted episodes of an environment after which the first is repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What is compared of a rollout: its length, its return if there is one, and a digest of all that was recorded."""

    steps: int
    total: float | None
    digest: str

    def difference(self, again: "Outcome") -> str:
        """In words what differs in the second rollout; "" for nothing."""
        if self.digest == again.digest:
            return ""
        words = [f"{one} {name}" + (f" at first and {other} again" if one != other else " both times")
                 for name, one, other in (("steps", self.steps, again.steps), ("return", self.total, again.total))
                 if one is not None]
        return ", ".join(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstCounted:
    """The first counted episode of a split: what was asked, of which program, and what came of it."""

    request: Mapping[str, Any]
    program: Program
    outcome: Outcome


class Repeats:
    """Decides in one worker which episode is played again. One environment each: those of a split."""

    def __init__(self) -> None:
        self._known: dict[str, FirstCounted] = {}
        self._counted: dict[str, int] = {}

    def after(self, request: Mapping[str, Any], program: Program, outcome: Outcome) -> FirstCounted | None:
        """The episode to play again after this one, which counted; None for none."""
        split = str(request["split"])
        known = self._known.setdefault(split, FirstCounted(request=request, program=program, outcome=outcome))
        self._counted[split] = self._counted.get(split, 0) + 1
        return known if self._counted[split] in AFTER else None


def outcome_of(episode: Episode, recording: Recording) -> Outcome:
    """What is compared of a rollout."""
    whole = hashlib.blake2b(digest_size=12)
    for group in (recording.states, recording.actions):
        for name, array in sorted(group.items()):
            whole.update(name.encode() + array.tobytes())
    return Outcome(steps=episode.steps, total=return_of(episode), digest=whole.hexdigest())
