"""What random and scripted episodes show of a task's rewards and success, and whether the two contradict each other.

An environment that ends an episode on success and pays at every step rewards a program that stops short of success.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from ...core.text import plural

PER_STEP: Final = 3         # steps of one episode that are paid: fewer may be single events


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRewards:
    """The rewards of one episode, whether each step reported success, and whether the last one was `terminated`."""

    rewards: Sequence[float]
    flags: Sequence[bool]
    terminated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardShape:
    """The least and the greatest reward of a step, and how rewards and success go together.

    `paid` is the share of the steps without success that had a reward other than 0, `often` how many of them one
    episode had at most. Of the `episodes`, `succeeded`
    reported success at some step, `ended` of them were terminated at the first one. `success_return` and
    `other_return` are the mean returns of episodes with and without success; None where there were none.
    """

    episodes: int
    least: float
    greatest: float
    paid: float
    often: int
    succeeded: int
    ended: int
    success_return: float | None
    other_return: float | None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @property
    def contradicts(self) -> bool:
        """Whether a high return may be a way not to succeed.

        Rewards are never negative and paid without success, and no success is known that let its episode go on; or
        episodes without success had the higher return.
        """
        if self.success_return is not None and self.other_return is not None:
            return self.success_return < self.other_return and self.ended > 0
        return self.least >= 0.0 and self.often >= PER_STEP and self.ended == self.succeeded

    @property
    def words(self) -> str:
        """The shape in a sentence or two."""
        sign = ("never negative" if self.least >= 0.0 else "never positive" if self.greatest <= 0.0
                else "positive and negative")
        if self.least == self.greatest:
            return f"In {plural(self.episodes, 'random or scripted episode')} every reward was {self.least:.4g}."
        return (f"In {plural(self.episodes, 'random or scripted episode')} the reward of a step was from "
                f"{self.least:.4g} to {self.greatest:.4g}, {sign}, and not 0 at {self.paid:.0%} of the steps without "
                f"success. {self._of_success}")

    @property
    def _of_success(self) -> str:
        if not self.succeeded:
            return "None of them succeeded."
        how = ("which ended them" if self.ended == self.succeeded else "which did not end them" if not self.ended
               else f"which ended {self.ended} of them")
        return f"{self.succeeded} of them succeeded, {how}."

    @property
    def conflict(self) -> str:
        """The contradiction in a sentence; "" for none."""
        if not self.contradicts:
            return ""
        if self.success_return is not None and self.other_return is not None:
            return (f"Return and success contradict each other: episodes that succeeded had a mean return of "
                    f"{self.success_return:.4g}, the others {self.other_return:.4g}.")
        ends = "Success ends an episode, so" if self.ended else "If success ends an episode,"
        return (f"Return and success contradict each other: rewards are never negative and are paid before success. "
                f"{ends} a policy that stops just short of it collects more.")


def shape_of(episodes: Sequence[PlayedRewards]) -> RewardShape:
    """The shape that these episodes show; there is at least one."""
    rewards = [reward for each in episodes for reward in each.rewards] or [0.0]
    failing = [[reward != 0.0 for reward, flag in zip(each.rewards, each.flags, strict=True) if not flag]
               for each in episodes]
    won = [each for each in episodes if any(each.flags)]
    lost = [each for each in episodes if not any(each.flags)]
    return RewardShape(
        episodes=len(episodes), least=min(rewards), greatest=max(rewards),
        paid=sum(map(sum, failing)) / max(1, sum(map(len, failing))), often=max(map(sum, failing)), succeeded=len(won),
        ended=sum(each.terminated and list(each.flags).index(True) == len(each.flags) - 1 for each in won),
        success_return=_mean_return(won), other_return=_mean_return(lost),
    )


def _mean_return(episodes: Sequence[PlayedRewards]) -> float | None:
    return sum(sum(each.rewards) for each in episodes) / len(episodes) if episodes else None
