"""What helps a service's prompt cache: where a prompt may be cut, and which of several equal calls goes first."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from ..core.ports import Ask
from ..core.values import Document
from .call_limits import Elapsed

MAX_POINTS = 4          # cache points in one request, for Anthropic and for OpenAI
WORTH_CHARACTERS = 4096  # shorter beginnings are below every service's minimum of about 1,000 tokens
KEPT_S = 300.0          # a service forgets a beginning that was not used for about five minutes
KNOWN = 64              # beginnings that are remembered


def pieces(prompt: str, prefixes: Sequence[int]) -> tuple[str, ...]:
    """The prompt cut at the ends of its repeated beginnings; together the pieces are the prompt.

    No piece is blank, since services refuse blank texts. At most the last MAX_POINTS cuts are made.
    """
    ends = sorted({end for end in prefixes if 0 < end < len(prompt)})[-MAX_POINTS:]
    cut: list[str] = []
    start = 0
    for end in (*ends, len(prompt)):
        piece = prompt[start:end]
        if cut and not piece.strip():
            cut[-1] += piece
        elif piece.strip() or end == len(prompt):
            cut.append(piece)
        else:
            continue  # a blank beginning joins the next piece
        start = end
    return tuple(cut)


@dataclass(slots=True)
class _Beginning:
    """A beginning of prompts: whether the first response to it has begun, and when it was last sent."""

    answered: asyncio.Event = field(default_factory=asyncio.Event)
    used_at: float = 0.0


class FirstGoes:
    """Of several calls with the same beginning, one goes first: a service can read a beginning from its cache only
    after its first response has begun.

    The others wait until then, or until the first call ends for whatever reason, and at most `wait_s` seconds.
    """

    def __init__(self, wait_s: float, *, elapsed: Elapsed = time.monotonic) -> None:
        self._wait_s = wait_s
        self._elapsed = elapsed
        self._known: OrderedDict[str, _Beginning] = OrderedDict()

    @asynccontextmanager
    async def turn(self, ask: Ask) -> AsyncIterator[Callable[[], None]]:
        """Wait for this call's turn. The block reports the begin of its response by the function that it gets."""
        end = ask.prefixes[-1] if ask.prefixes else 0
        if self._wait_s <= 0 or end < WORTH_CHARACTERS:
            yield nothing_begun
            return
        key = Document(ask.prompt[:end]).digest
        beginning = self._known.get(key)
        if beginning is None or self._elapsed() - beginning.used_at > KEPT_S:
            beginning = self._known[key] = _Beginning(used_at=self._elapsed())
            try:
                yield beginning.answered.set
            finally:
                if not beginning.answered.is_set() and self._known.get(key) is beginning:
                    del self._known[key]  # the call failed or was withdrawn: the next one goes first again
                beginning.answered.set()
                self._forget()
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._wait_s):
                await beginning.answered.wait()
        beginning.used_at = self._elapsed()
        if self._known.get(key) is beginning:
            self._known.move_to_end(key)
        yield nothing_begun

    def _forget(self) -> None:
        while len(self._known) > KNOWN:
            self._known.popitem(last=False)


def nothing_begun() -> None:
    """For calls that nobody waits for."""
