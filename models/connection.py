"""One language model behind pydantic-ai: sends one request and returns its answer or its failure. Never retries.

Imports pydantic-ai, which takes seconds: `client.py` imports this at the first call, in a thread.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_ai import exceptions as ai
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from ..core.ports import THOUGHT_ONLY, ImageFile
from ..core.text import has_open_fence
from ..core.values import Usage
from .call_limits import CallLimits
from .clients import calls_tools, open_client, takes_cache_points, typed_mode
from .diagnosis import diagnose, refused_to_answer
from .failures import Failure
from .habits import Habits
from .opening import address_of
from .prices import Price, cost_usd, tokens_in
from .prompt_cache import pieces
from .prompt_length import words_of
from .redaction import quotable, without_keys
from .requests import Answer, Sampling
from .spec import ModelSpec
from .tool_calls import TOOLS, plain_form

_STOPS = {"stop": "end", "tool_call": "end", "length": "length", "content_filter": "refusal"}
# Of services that end their answers in other words; what is in neither table ends a whole answer, with a note.
_OTHER_STOPS = {
    "model_length": "length", "max_tokens": "length", "max_length": "length", "safety": "refusal",
    "recitation": "refusal", "blocked": "refusal", "guardrail_intervened": "refusal",
}
_SHORT = frozenset({"insufficient_system_resource"})     # of machines: the service, not this prompt
_BROKEN = _SHORT | frozenset({"error", "failed", "cancelled", "canceled", "abort", "aborted", "in_progress", "queued",
                     "incomplete", "malformed_function_call"})
_COMMON = frozenset({"eos", "eos_token", "stop_sequence", "end_turn", "complete", "completed"})


class Vote(BaseModel):
    """A judge's answer: the reason for the choice, and the label of the chosen evaluator."""

    # The reason stands first, since a model writes fields in this order: it should weigh before it chooses.

    model_config = ConfigDict(coerce_numbers_to_str=True, str_strip_whitespace=True)

    reason: str
    choice: str


class Connection:
    """A client of one model, with its sockets. All retries are the caller's.

    `secrets` are further texts that no message and no reply may hold.
    """

    def __init__(
        self,
        spec: ModelSpec,
        key: str | None,
        *,
        base_url: str | None,
        limits: CallLimits,
        sampling: Sampling,
        price: Price | None,
        habits: Habits,
        secrets: Sequence[str] = (),
    ) -> None:
        self._spec = spec
        self._keys = (*filter(None, (key,)), *secrets)
        self._price = price
        self._sampling = sampling
        self._habits = habits
        client = open_client(spec, key, base_url, limits)
        self._close, self._model = client.close, client.model
        self._address = address_of(spec, base_url) or str(getattr(client.model, "base_url", "its address"))
        self._tools = calls_tools(spec, self._model) if sampling.tools is None else sampling.tools == "native"
        self._cache_points = sampling.cache and takes_cache_points(spec, self._model)

    async def send(
        self, prompt: str, *, typed: bool, prefixes: Sequence[int], begun: Callable[[], None], tools: bool = False,
        images: Sequence[ImageFile] = (),
    ) -> Answer | Failure:
        """Ask once. `typed` asks for a judge's answer, which comes back as JSON text with choice and reason.

        `tools` offers the tools of a conversation; the answer has calls of them in the plain form.
        `prefixes` and `images` are as in Ask. A streamed response calls `begun` when it begins.
        What the service refused before is left out; where it refuses something now, the failure says `adapted`.
        """
        used = self._features(typed=typed, tools=tools, prefixes=prefixes)
        content: str | list[UserContent] = prompt
        if "cache" in used or images:
            texts = _with_cache_points(prompt, prefixes) if "cache" in used else iter((prompt,))
            content = [*texts, *(BinaryContent(data=each.data, media_type=each.media_type) for each in images)]
        try:
            response = await self._request(content, used, begun)
        except Exception as error:  # noqa: BLE001 - a service can make its client library raise anything
            return self._failure(error, used, pictures=bool(images), characters=len(prompt))
        self._habits.note_accepted(used)
        try:
            return self._answer(response, typed=typed, characters=len(prompt))
        except Exception as error:  # noqa: BLE001 - so can what is in an answer
            problem = f"gave an answer that cannot be read ({type(error).__name__})"
            return Failure(problem=problem, retry=True, usage=self._usage_of(response, characters=len(prompt)))

    async def close(self) -> None:
        """Close the sockets."""
        await self._close()

    def _failure(self, error: Exception, used: frozenset[str], *, pictures: bool, characters: int) -> Answer | Failure:
        if refused_to_answer(error):
            return Answer(text="", stop="refusal")
        failure = diagnose(error, self._spec, self._keys, self._address, characters=characters)
        about_all = isinstance(error, ai.ModelAuthenticationError | ai.ModelQuotaExceededError) or failure.overloaded
        if not about_all and self._habits.refuses(used, words_of(error), failure):
            return replace(failure, retry=True, fatal=False, outage=False, overloaded=False, adapted=True)
        if pictures and failure.fatal:
            problem = f"{failure.problem} (the question had a picture)"
            return replace(failure, problem=problem, of_pictures=failure.form)
        return failure

    def _answer(self, response: ModelResponse, *, typed: bool, characters: int) -> Answer | Failure:
        usage = self._usage_of(response, characters=characters)
        if response.usage.input_tokens > 0:
            self._habits.read(characters, usage.input_tokens)
        said = str((response.provider_details or {}).get("finish_reason") or "")
        stop = _STOPS.get(response.finish_reason or "") or _OTHER_STOPS.get(said.lower())
        unknown = stop is None and bool(said) and said.lower() not in (_BROKEN | _COMMON)
        broken = stop is None and (not said or said.lower() in _BROKEN)
        if broken or (unknown and has_open_fence(response.text or "")):
            # A stream that just ends, or a response marked as failed, must never pass for a whole program. Nor must
            # one with an open block that ends for a reason nobody knows, such as a service short of machines.
            problem = f"stopped in the middle of an answer ({quotable(said, self._keys, 40) or 'no reason'} given)"
            short = unknown or said.lower() in _SHORT
            return Failure(problem=problem, retry=True, outage=short, usage=usage)
        if unknown:
            self._habits.odd(f"ends answers with the reason {quotable(said, self._keys, 40)!r}: they count as whole")
        stop = stop or "end"
        text = _typed_text(response) if typed and stop == "end" else _text(response)
        if stop == "end" and not text.strip() and any(_thinks(part) for part in response.parts):
            stop = THOUGHT_ONLY
        return Answer(text=without_keys(text, self._keys), stop=stop, usage=usage)

    def _usage_of(self, response: ModelResponse, *, characters: int) -> Usage:
        """The tokens that the service counts; where it counts none, about as many as there are in the characters."""
        usage = response.usage
        counts = (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens)
        if usage.unmeasured_requests or max(counts[:2]) <= 0 or min(counts) < 0:
            self._habits.counts_tokens = False
            self._habits.odd("counts no tokens: they are estimated by the characters of prompts and answers")
            usage = RequestUsage(
                input_tokens=tokens_in(characters), output_tokens=tokens_in(sum(map(_length, response.parts))),
            )
        return Usage(
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cached_tokens=usage.cache_read_tokens,
            cache_written_tokens=usage.cache_write_tokens, cost_usd=cost_usd(self._spec, self._price, usage),
        )

    def _features(self, *, typed: bool, tools: bool, prefixes: Sequence[int]) -> frozenset[str]:
        """The optional features of this request, without those that the service refused."""
        sampling = self._sampling
        wanted = {
            "typed": typed, "tools": tools and self._tools and not typed, "stream": sampling.stream,
            "temperature": sampling.temperature is not None, "thinking": sampling.thinking is not None,
            "max_output_tokens": sampling.max_output_tokens is not None,
            "cache": self._cache_points and bool(prefixes),
        }
        return frozenset(name for name, used in wanted.items() if used) - self._habits.left_out

    async def _request(
        self, content: str | list[UserContent], used: frozenset[str], begun: Callable[[], None]
    ) -> ModelResponse:
        messages = [ModelRequest(parts=[UserPromptPart(content)])]
        settings = _settings(self._sampling, used)
        parameters = self._parameters(used)
        if "stream" not in used:
            return await model_request(
                self._model, messages, model_settings=settings, model_request_parameters=parameters
            )
        async with model_request_stream(
            self._model, messages, model_settings=settings, model_request_parameters=parameters
        ) as stream:
            async for _ in stream:
                begun()
            return stream.get()

    def _parameters(self, used: frozenset[str]) -> ModelRequestParameters | None:
        if "typed" in used:
            return self._vote_parameters()
        if "tools" not in used:
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


def _settings(sampling: Sampling, used: frozenset[str]) -> ModelSettings:
    settings = ModelSettings()
    if sampling.temperature is not None and "temperature" in used:
        settings["temperature"] = sampling.temperature
    if sampling.max_output_tokens is not None and "max_output_tokens" in used:
        settings["max_tokens"] = sampling.max_output_tokens
    if sampling.thinking is not None and "thinking" in used:
        settings["thinking"] = sampling.thinking
    return settings


def _text(response: ModelResponse) -> str:
    """What was said, and the calls of tools in the plain form."""
    calls = [(part.tool_name, part.args_as_json_str()) for part in response.parts if isinstance(part, ToolCallPart)]
    return plain_form(response.text or "", calls)


def _length(part: object) -> int:
    """The characters of a part of an answer."""
    return len(part.args_as_json_str()) if isinstance(part, ToolCallPart) else len(str(getattr(part, "content", "")))


def _thinks(part: object) -> bool:
    return isinstance(part, ThinkingPart) and bool(part.content.strip())


def _typed_text(response: ModelResponse) -> str:
    """The vote as JSON text. What is no vote is passed on as it came: the agent that asked decides about it."""
    for part in response.parts:
        with suppress(ValidationError):
            if isinstance(part, ToolCallPart):
                return Vote.model_validate_json(part.args_as_json_str()).model_dump_json()
            if isinstance(part, TextPart):
                return Vote.model_validate_json(_json_object(part.content)).model_dump_json()
    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    return response.text or "\n".join(calls)


def _json_object(text: str) -> str:
    """The first JSON object in a text that may wrap it in a fence or in words."""
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text
