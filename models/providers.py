"""The table of providers: one entry for each scheme of a model's name, with all that differs between providers.

A new provider is one entry here and, where it has a client library of its own, one function in `clients.py`. Nothing
is imported for it: `clients.py` takes seconds.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

OFFLINE: Final = "offline"
ASK: Final = "ask"              # a person or another program at this machine, as a judge
COMMAND: Final = "command"      # a program on this machine; what it asks, and what that costs, is not known
COMPATIBLE: Final = "compatible"
PYDANTIC_AI: Final = "pydantic-ai"

Client = Literal["openai-responses", "openai-chat", "anthropic", "compatible", "pydantic-ai"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One scheme of a model's name. What is unknown of a provider is None, and never taken from another one.

    `client` opens its client, by its name in `clients.py`; None where no service is asked. `prices` is its name in the
    list of genai-prices: "" where the model's own name begins with it. `profile` says that the client's own table of
    models knows whether one takes tools, a schema, or marks for a cache.
    """

    form: str                               # as a user writes it
    words: str = ""                         # what it is, where it needs no key
    free: bool = False                      # costs nothing
    client: Client | None = None
    key_variable: str | None = None         # the environment variable with its key, where all its models share one
    needs_key: bool = False
    url_variable: str | None = None         # the environment variable with another address of it
    home: str = ""                          # its address; "" where the name of a model or its client has it
    prices: str | None = None
    profile: bool = False
    votes: Literal["tool", "native", "prompted"] = "prompted"   # how a judge's answer is asked for at best
    marks_cache: bool = False               # requests mark where repeated beginnings end
    discounts_cache: bool = False           # so calls with one beginning wait for the first of them
    text_alone: re.Pattern[str] | None = None   # the models that are known to take no images


_OPENAI_TEXT = re.compile(r"gpt-3\.5|gpt-4(-32k)?(-0314|-0613)?$|o1-(mini|preview)|o3-mini|(babbage|davinci)-002")

PROVIDERS: Final[Mapping[str, Provider]] = {
    OFFLINE: Provider(
        form="offline", free=True, words="the embedded mutator: no language model, no network (the default)",
    ),
    ASK: Provider(
        form="ask", free=True,
        words="a person or another program, as a judge only: --judge ask, then memento vote RUN",
    ),
    "openai": Provider(
        form="openai:NAME", client="openai-responses", key_variable="OPENAI_API_KEY", needs_key=True,
        url_variable="OPENAI_BASE_URL", home="https://api.openai.com/v1", prices="openai", profile=True,
        votes="native", discounts_cache=True, text_alone=_OPENAI_TEXT,
    ),
    "openai-chat": Provider(
        form="openai-chat:NAME", client="openai-chat", key_variable="OPENAI_API_KEY", needs_key=True,
        url_variable="OPENAI_BASE_URL", home="https://api.openai.com/v1", prices="openai", profile=True,
        votes="native", discounts_cache=True, text_alone=_OPENAI_TEXT,
    ),
    "anthropic": Provider(
        form="anthropic:NAME", client="anthropic", key_variable="ANTHROPIC_API_KEY", needs_key=True,
        url_variable="ANTHROPIC_BASE_URL", home="https://api.anthropic.com", prices="anthropic", profile=True,
        votes="tool", marks_cache=True, discounts_cache=True, text_alone=re.compile(r"claude-(2|instant)"),
    ),
    COMPATIBLE: Provider(       # the same weights cost differently everywhere, and few servers charge less for a cache
        form="compatible:LABEL@URL#MODEL", client="compatible",
        words="any server with OpenAI's chat completions, such as compatible:ollama@http://localhost:11434/v1#qwen3",
    ),
    PYDANTIC_AI: Provider(
        form="pydantic-ai:PROVIDER:MODEL", client="pydantic-ai", prices="", profile=True, votes="native",
        words="any provider of pydantic-ai, with its own variables, such as pydantic-ai:groq:NAME with GROQ_API_KEY",
    ),
    COMMAND: Provider(
        form="command:PROGRAM", text_alone=re.compile(""),
        words="a program that reads the prompt and writes the answer, with your rights, such as command:./ask.sh",
    ),
}
"""Every scheme, in the order in which a user sees them."""

FORMS: Final = {scheme: provider.form for scheme, provider in PROVIDERS.items()}
KEY_VARIABLES: Final = tuple(dict.fromkeys(
    provider.key_variable for provider in PROVIDERS.values() if provider.key_variable is not None
))
