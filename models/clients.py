"""The client of each provider, which never retries, and what a model's profile says of its abilities.

Imports pydantic-ai, which takes seconds: only `connection.py` imports this.
"""

import inspect
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import httpx2
from anthropic import AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AnthropicHttp
from openai import AsyncOpenAI, Omit
from openai import DefaultAsyncHttpxClient as OpenAIHttp
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider as PydanticProvider
from pydantic_ai.providers import infer_provider_class
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from ..core.errors import UsageError
from ..core.text import one_line
from .bodies import read_body
from .call_limits import CallLimits
from .providers import Client
from .spec import ModelSpec

_HOOKS = {"response": [read_body]}
_CHAT_PROFILE = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenClient:
    """The model over an open client, and what closes its sockets."""

    model: Model
    close: Callable[[], Awaitable[None]]


def open_client(
    spec: ModelSpec, key: str | None, base_url: str | None, limits: CallLimits
) -> OpenClient:
    """The client of the provider of this model. Raises UsageError where pydantic-ai has none."""
    timeout = httpx2.Timeout(limits.read_s, connect=limits.connect_s)
    assert spec.provider.client is not None
    return _OPENERS[spec.provider.client](spec, key, base_url, timeout)


def _anthropic(spec: ModelSpec, key: str | None, base_url: str | None, timeout: httpx2.Timeout) -> OpenClient:
    # No client follows a redirect: it would carry the key and the prompt to another host.
    http = AnthropicHttp(timeout=timeout, follow_redirects=False, event_hooks=_HOOKS)
    sdk = AsyncAnthropic(api_key=key, base_url=base_url, timeout=timeout, max_retries=0, http_client=http)
    provider = AnthropicProvider(anthropic_client=sdk)
    return OpenClient(model=AnthropicModel(spec.model, provider=provider), close=sdk.close)


def _openai(key: str | None, base_url: str | None, timeout: httpx2.Timeout, **more: Any) -> AsyncOpenAI:
    return AsyncOpenAI(
        api_key=key, base_url=base_url, timeout=timeout, max_retries=0,
        http_client=OpenAIHttp(timeout=timeout, follow_redirects=False, event_hooks=_HOOKS), **more,
    )


def _responses(spec: ModelSpec, key: str | None, base_url: str | None, timeout: httpx2.Timeout) -> OpenClient:
    sdk = _openai(key, base_url, timeout)
    provider = OpenAIProvider(openai_client=sdk)
    return OpenClient(model=OpenAIResponsesModel(spec.model, provider=provider), close=sdk.close)


def _chat(spec: ModelSpec, key: str | None, base_url: str | None, timeout: httpx2.Timeout) -> OpenClient:
    sdk = _openai(key, base_url, timeout)
    provider = OpenAIProvider(openai_client=sdk)
    return OpenClient(model=OpenAIChatModel(spec.model, provider=provider, profile=_CHAT_PROFILE), close=sdk.close)


def _compatible(spec: ModelSpec, key: str | None, base_url: str | None, timeout: httpx2.Timeout) -> OpenClient:
    assert spec.label is not None
    sdk = _openai(key or "none", base_url, timeout, default_headers=_without_openai_headers(os.environ, key))
    sdk.organization = sdk.project = None
    provider = OpenAICompatibleProvider(spec.label, openai_client=sdk)
    return OpenClient(model=OpenAIChatModel(spec.model, provider=provider, profile=_CHAT_PROFILE), close=sdk.close)


def _without_openai_headers(environ: Mapping[str, str], key: str | None) -> dict[str, Any]:
    """Headers for another service: without those that the user set for OpenAI alone, which the client adds."""
    names = [line.partition(":")[0].strip() for line in environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()]
    headers: dict[str, Any] = {name: Omit() for name in names if name and name.lower() != "authorization"}
    return headers | {"Authorization": f"Bearer {key or 'none'}"}


def _of_pydantic_ai(spec: ModelSpec, key: str | None, base_url: str | None, timeout: httpx2.Timeout) -> OpenClient:
    """A provider of pydantic-ai with its own variables; where it takes an HTTP client, with ours.

    Of providers without one, such as Bedrock, the sockets, redirects and limits of time are their library's.
    """
    assert spec.label is not None
    http = httpx2.AsyncClient(timeout=timeout, follow_redirects=False, event_hooks=_HOOKS)
    given = {"http_client": http, "api_key": key, "base_url": base_url}

    def provider_of(name: str) -> PydanticProvider[Any]:
        kind = infer_provider_class(name)
        taken = inspect.signature(kind).parameters
        provider = kind(**{name: value for name, value in given.items() if name in taken and value is not None})
        if hasattr(provider.client, "max_retries"):
            provider.client.max_retries = 0
        return provider

    try:
        model = infer_model(f"{spec.label}:{spec.model}", provider_of)
    except (UserError, ImportError, ValueError) as error:
        raise UsageError(f"no client for {spec.name} can be opened: {one_line(str(error), 300)}") from None
    return OpenClient(model=model, close=http.aclose)


_OPENERS: Mapping[Client, Callable[[ModelSpec, str | None, str | None, httpx2.Timeout], OpenClient]] = {
    "anthropic": _anthropic, "openai-responses": _responses, "openai-chat": _chat, "compatible": _compatible,
    "pydantic-ai": _of_pydantic_ai,
}


def takes_cache_points(spec: ModelSpec, model: Model) -> bool:
    """Whether requests mark where the repeated beginnings end. The other services find them without marks."""
    marks = spec.provider.profile and bool(model.profile.get("openai_supports_prompt_cache_breakpoints", False))
    return spec.provider.marks_cache or marks


def calls_tools(spec: ModelSpec, model: Model) -> bool:
    """Whether tools are offered to the service as its own tools: compatible servers often refuse such requests."""
    return spec.provider.profile and bool(model.profile.get("supports_tools", True))


def typed_mode(spec: ModelSpec, model: Model) -> Literal["tool", "native", "prompted"]:
    """How a typed answer is best asked for; compatible servers often know neither schemas nor tools."""
    votes = spec.provider.votes
    return votes if votes != "native" or model.profile.get("supports_json_schema_output", False) else "prompted"
