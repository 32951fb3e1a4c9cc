"""What differs between providers: the client library of each, and what its cache
needs, and how each is asked for a judge's typed answer.

A new provider needs its form and key variable in `spec.py`, its client in `open_client` here, and its prices in
`prices.py`. A server with OpenAI's chat completions needs no code: it is a `compatible` model.

Imports pydantic-ai, which takes seconds: only `connection.py` imports this.
"""

import os
from collections.abc import Mapping
from typing import Any, Literal

import httpx2
from anthropic import AsyncAnthropic
from anthropic import DefaultAsyncHttpxClient as AnthropicHttp
from openai import AsyncOpenAI, Omit
from openai import DefaultAsyncHttpxClient as OpenAIHttp
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

from .bodies import read_body
from .call_limits import CallLimits
from .spec import ModelSpec

Client = AsyncOpenAI | AsyncAnthropic
TypedMode = Literal["tool", "native", "prompted"]

_HOOKS = {"response": [read_body]}
_CHAT_PROFILE = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)


def open_client(spec: ModelSpec, key: str | None, base_url: str | None, limits: CallLimits) -> tuple[Client, Model]:
    """The provider's client, which the caller closes, and the model over it. The client never retries."""
    timeout = httpx2.Timeout(limits.read_s, connect=limits.connect_s)
    if spec.scheme == "anthropic":
        # No client follows a redirect: it would carry the key and the prompt to another host.
        http = AnthropicHttp(timeout=timeout, follow_redirects=False, event_hooks=_HOOKS)
        sdk = AsyncAnthropic(api_key=key, base_url=base_url, timeout=timeout, max_retries=0, http_client=http)
        return sdk, AnthropicModel(spec.model, provider=AnthropicProvider(anthropic_client=sdk))
    if spec.scheme == "compatible":
        return _compatible(spec, key, base_url, timeout)
    openai = AsyncOpenAI(
        api_key=key, base_url=base_url, timeout=timeout, max_retries=0,
        http_client=OpenAIHttp(timeout=timeout, follow_redirects=False, event_hooks=_HOOKS),
    )
    provider = OpenAIProvider(openai_client=openai)
    if spec.scheme == "openai":
        return openai, OpenAIResponsesModel(spec.model, provider=provider)
    return openai, OpenAIChatModel(spec.model, provider=provider, profile=_CHAT_PROFILE)


def takes_cache_points(spec: ModelSpec, model: Model) -> bool:
    """Whether requests mark where the repeated beginnings end. The other services find them without marks."""
    if spec.scheme == "anthropic":
        return True
    return spec.scheme != "compatible" and bool(model.profile.get("openai_supports_prompt_cache_breakpoints", False))


def calls_tools(spec: ModelSpec, model: Model) -> bool:
    """Whether tools are offered to the service as its own tools: compatible servers often refuse such requests."""
    return spec.scheme != "compatible" and bool(model.profile.get("supports_tools", True))


def typed_mode(spec: ModelSpec, model: Model) -> TypedMode:
    """How a typed answer is best asked for; compatible servers often know neither schemas nor tools."""
    if spec.scheme == "anthropic":
        return "tool"
    native = spec.scheme != "compatible" and model.profile.get("supports_json_schema_output", False)
    return "native" if native else "prompted"


def _compatible(
    spec: ModelSpec, key: str | None, base_url: str | None, timeout: httpx2.Timeout
) -> tuple[Client, Model]:
    assert spec.label is not None
    openai = AsyncOpenAI(
        api_key=key or "none", base_url=base_url, timeout=timeout, max_retries=0,
        default_headers=_without_openai_headers(os.environ, key),
        http_client=OpenAIHttp(timeout=timeout, follow_redirects=False, event_hooks=_HOOKS),
    )
    openai.organization = openai.project = None
    provider = OpenAICompatibleProvider(spec.label, openai_client=openai)
    return openai, OpenAIChatModel(spec.model, provider=provider, profile=_CHAT_PROFILE)


def _without_openai_headers(environ: Mapping[str, str], key: str | None) -> dict[str, Any]:
    """Headers for another service: without those that the user set for OpenAI alone, which the client adds."""
    names = [line.partition(":")[0].strip() for line in environ.get("OPENAI_CUSTOM_HEADERS", "").splitlines()]
    headers: dict[str, Any] = {name: Omit() for name in names if name and name.lower() != "authorization"}
    return headers | {"Authorization": f"Bearer {key or 'none'}"}
