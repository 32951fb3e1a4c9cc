"""One language model behind pydantic-ai: sends one request and returns its answer or its failure. Never retries.

Imports pydantic-ai, which takes seconds: `client.py` imports this at the first call, in a thread.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from ..core.ports import ImageFile
from .caching import pieces
from .diagnosis import diagnose, refused_to_answer
from .gate import CallLimits
from .keys import without_keys
from .prices import Price, cost_usd
from .providers import calls_tools, open_client, takes_cache_points, typed_mode
from .retrying import Failure
from .sampling import Answer, Sampling
from .spec import ModelSpec
from .tool_calls import TOOLS, plain_form

_STOPS = {"stop": "end", "tool_call": "end", "length": "length", "content_filter": "refusal"}


class Vote(BaseModel):
    """A judge's answer: the reason for the choice, and the label of the chosen evaluator."""

    # The reason stands first, since a model writes fields in this order: it should weigh before it chooses.

    model_config = ConfigDict(coerce_numbers_to_str=True, str_strip_whitespace=True)

    reason: str
    choice: str


class Connection:
    """A client of one model, with its sockets. All retries are the caller's."""

    def __init__(
        self,
        spec: ModelSpec,
        key: str | None,
        *,
        base_url: str | None,
        limits: CallLimits,
        sampling: Sampling,
        price: Price | None,
    ) -> None:
        self._spec = spec
        self._keys = (key,) if key else ()
        self._price = price
        self._stream = sampling.stream
        self._settings = _settings(sampling)
        self._client, self._model = open_client(spec, key, base_url, limits)
        self._tools = calls_tools(spec, self._model) if sampling.tools is None else sampling.tools == "native"
        self._cache_points = sampling.cache and takes_cache_points(spec, self._model)

    async def send(
        self, prompt: str, *, typed: bool, prefixes: Sequence[int], begun: Callable[[], None], tools: bool = False,
        images: Sequence[ImageFile] = (),
    ) -> Answer | Failure:
        """Ask once. `typed` asks for a judge's answer, which comes back as JSON text with choice and reason.

        `tools` offers the tools of a conversation; the answer has calls of them in the plain form.
        `prefixes` and `images` are as in Ask. A streamed response calls `begun` when it begins.
        """
        content: str | list[UserContent] = prompt
        if self._cache_points or images:
            texts = _with_cache_points(prompt, prefixes) if self._cache_points else iter((prompt,))
            content = [*texts, *(BinaryContent(data=each.data, media_type=each.media_type) for each in images)]
        try:
            response = await self._request(content, self._parameters(typed=typed, tools=tools), begun)
        except Exception as error:  # noqa: BLE001 - a service can make its client library raise anything
            if refused_to_answer(error):
                return Answer(text="", stop="refusal")
            failure = diagnose(error, self._spec, self._keys)
            if images and failure.fatal:
                problem = f"{failure.problem} (the question had a picture)"
                return replace(failure, problem=problem, of_pictures=failure.form)
            return failure
        stop = _STOPS.get(response.finish_reason or "")
        if stop is None:
            # A stream that just ends, or a response marked as failed, must never pass for a whole program.
            said = response.finish_reason or "no reason"
            return Failure(problem=f"stopped in the middle of an answer ({said} given)", retry=True)
        text = _typed_text(response) if typed and stop == "end" else _text(response)
        usage = response.usage
        return Answer(
            text=without_keys(text, self._keys),
            stop=stop,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_tokens=usage.cache_read_tokens,
            cache_written_tokens=usage.cache_write_tokens,
            cost_usd=None if usage.unmeasured_requests else cost_usd(self._spec, self._price, usage),
        )

    async def close(self) -> None:
        """Close the sockets."""
        await self._client.close()

    async def _request(
        self,
        content: str | list[UserContent],
        parameters: ModelRequestParameters | None,
        begun: Callable[[], None],
    ) -> ModelResponse:
        messages = [ModelRequest(parts=[UserPromptPart(content)])]
        if not self._stream:
            return await model_request(
                self._model, messages, model_settings=self._settings, model_request_parameters=parameters
            )
        async with model_request_stream(
            self._model, messages, model_settings=self._settings, model_request_parameters=parameters
        ) as stream:
            async for _ in stream:
                begun()
            return stream.get()

    def _parameters(self, *, typed: bool, tools: bool) -> ModelRequestParameters | None:
        if typed:
            return self._vote_parameters()
        if not (tools and self._tools):
            return None
        # Every turn offers all tools, also the last one: a service's cache would be lost with a change of tools.
        return ModelRequestParameters(function_tools=[
            ToolDefinition(name=tool.name, description=tool.description, parameters_json_schema=dict(tool.schema))
            for tool in TOOLS
        ])

    def _vote_parameters(self) -> ModelRequestParameters:
        """Ask for a vote the way the provider does best."""
        schema = Vote.model_json_schema()
        mode = typed_mode(self._spec, self._model)
        if mode == "tool":
            tool = ToolDefinition(name="vote", description=Vote.__doc__, parameters_json_schema=schema, kind="output")
            return ModelRequestParameters(output_mode="tool", output_tools=[tool], allow_text_output=False)
        vote = OutputObjectDefinition(
            name="vote", description=Vote.__doc__, json_schema=schema, strict=True if mode == "native" else None
        )
        return ModelRequestParameters(output_mode=mode, output_object=vote)


def _with_cache_points(prompt: str, prefixes: Sequence[int]) -> Iterator[UserContent]:
    """The prompt with a cache point after every beginning that other prompts repeat."""
    ends = set(prefixes)
    end = 0
    for piece in pieces(prompt, prefixes):
        yield piece
        end += len(piece)
        if end in ends:
            yield CachePoint()


def _settings(sampling: Sampling) -> ModelSettings:
    settings = ModelSettings()
    if sampling.temperature is not None:
        settings["temperature"] = sampling.temperature
    if sampling.max_output_tokens is not None:
        settings["max_tokens"] = sampling.max_output_tokens
    if sampling.thinking is not None:
        settings["thinking"] = sampling.thinking
    return settings


def _text(response: ModelResponse) -> str:
    """What was said, and the calls of tools in the plain form."""
    calls = [(part.tool_name, part.args_as_json_str()) for part in response.parts if isinstance(part, ToolCallPart)]
    return plain_form(response.text or "", calls)


def _typed_text(response: ModelResponse) -> str:
    """The vote as JSON text. What is no vote is passed on as it came: the agent that asked decides about it."""
    for part in response.parts:
        with suppress(ValidationError):
            if isinstance(part, ToolCallPart):
                return Vote.model_validate_json(part.args_as_json_str()).model_dump_json()
            if isinstance(part, TextPart):
                return Vote.model_validate_json(_unfenced(part.content)).model_dump_json()
    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    return response.text or "\n".join(calls)


def _unfenced(text: str) -> str:
    """The first JSON object in a text that may wrap it in a fence or in words."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text
