"""The judge `ask`: a person or another program, who answers ballots in the run's folder (`core/ballot_files.py`)."""

import asyncio
import time
from dataclasses import dataclass
from pathlib import Path

import structlog

from ..core.ballot_files import Ballot, answer_to, put
from ..core.errors import ModelError
from ..core.events import Judge
from ..core.labels import label
from ..core.ports import Ask, Reply
from ..core.values import Usage
from .call_limits import Elapsed, Sleep

_log = structlog.get_logger("memento.ballots")

NAME = "ask"
DAY_S = 86_400.0  # the wait for a vote, unless the settings give another
LOOK_EVERY_S = 0.2


@dataclass(slots=True)
class BallotFolder:
    """The folder of a run's ballots, which is known once the run has one."""

    path: Path | None = None


class AskedModel:
    """A Model that puts every ballot into a folder and waits for its vote. It costs nothing and sends nothing.

    A vote that is already there counts, so a resumed run asks only for those that are missing.
    """

    def __init__(
        self, ballots: BallotFolder, *, wait_s: float = DAY_S, elapsed: Elapsed = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = NAME
        self._ballots = ballots
        self._wait_s = wait_s
        self._elapsed = elapsed
        self._sleep = sleep

    async def complete(self, ask: Ask) -> Reply:
        """The vote as it was written. Raises ModelError if nobody voted in time, or if this is no ballot."""
        folder = self._ballots.path
        if not isinstance(ask.order, Judge) or folder is None:
            raise ModelError("'ask' answers ballots of a run alone: choose another model for this role", fatal=True)
        labels = tuple(label(place) for place in range(len(ask.order.pool)))
        ballot = Ballot(order=ask.order.id, attempt=ask.attempt, labels=labels, prompt=ask.prompt)
        began_s = self._elapsed()
        put(folder, ballot)
        text = answer_to(folder, ballot)
        if text is None:
            _log.warning("ballot-waits", order=ballot.order, vote=f"memento vote {folder.parent}")
        while text is None:
            if self._elapsed() - began_s >= self._wait_s:
                # Fatal, so that the run ends and can be resumed, instead of a vote that is lost.
                raise ModelError(
                    f"nobody voted on {ballot.name} within {self._wait_s:g} s: memento vote {folder.parent}, then "
                    f"memento resume {folder.parent}", fatal=True,
                )
            await self._sleep(LOOK_EVERY_S)
            text = answer_to(folder, ballot)
        return Reply(text=text, model=NAME, usage=Usage(cost_usd=0.0, latency_s=self._elapsed() - began_s))
