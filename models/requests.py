"""One request to a service: the sampling settings that are sent with it, its answer, and what carries it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ..core.errors import UsageError
from ..core.ports import ImageFile
from ..core.values import Usage
from .failures import Failure

Thinking = Literal["minimal", "low", "medium", "high", "xhigh"]
ToolForm = Literal["native", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """Settings sent with every request. None leaves the choice to the service.

    Many reasoning models refuse a temperature. There is no output limit by default: some servers refuse a limit
    that does not fit with the prompt, and the call's deadline ends an endless reply.

    Streaming distinguishes a slow server from a silent one, but takes about 0.2 ms of CPU per token in the
    controller (0.4 s for a reply of 2,000 tokens), while a whole reply takes 3 ms. If a client library requires
    streaming, such as for Anthropic's long replies, it streams without this setting.
    """

    temperature: float | None = None
    max_output_tokens: int | None = None
    thinking: Thinking | None = None
    stream: bool = False
    tools: ToolForm | None = None  # how a conversation's tools are offered; None: natively where that is known to work
    cache: bool = True  # whether prompts are marked for the service's cache, and equal ones sent one before the others

    def __post_init__(self) -> None:
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise UsageError(f"the temperature of a model must be from 0 to 2, not {self.temperature}")
        if self.max_output_tokens is not None and self.max_output_tokens < 1:
            raise UsageError("the max_output_tokens of a model must be above 0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one request. `stop` is as in Reply, `usage` that of this request."""

    text: str
    stop: str
    usage: Usage = Usage()


class Requester(Protocol):
    """Something that carries one request to a service and never retries."""

    async def send(
        self, prompt: str, *, typed: bool, prefixes: Sequence[int], begun: Callable[[], None], tools: bool = False,
        images: Sequence[ImageFile] = (),
    ) -> Answer | Failure:
        """Ask once; `typed` asks for a judge's answer, `prefixes`, `tools` and `images` are as in Ask.

        Calls `begun` when the response begins, if the service streams it.
        """

    async def close(self) -> None:
        """Close the sockets."""
