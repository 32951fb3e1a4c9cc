"""The prompt cache of a service, as the documents of Anthropic and OpenAI describe it, for the loopback servers."""

import asyncio
import os.path
from dataclasses import dataclass, field
from typing import Any

JSONObject = dict[str, Any]

LEAST_TOKENS = 1024     # shorter beginnings are not cached
STEP_TOKENS = 128       # OpenAI caches in steps


@dataclass(kw_only=True)
class PromptCache:
    """What the service has cached. A token is four characters; every answer has 7.

    `prefill_s` passes between the arrival of a request and the first token of its response, from which on its
    beginnings can be read.
    """

    prefill_s: float = 0.0
    known: list[str] = field(default_factory=list)

    async def tokens_of(self, dialect: str, body: JSONObject) -> JSONObject:
        """The usage that the service reports for this request."""
        usage, kept = (_anthropic if dialect == "anthropic" else _openai)(dialect, body, self.known)
        await asyncio.sleep(self.prefill_s)
        self.known += kept
        return usage


def blocks_of(dialect: str, body: JSONObject) -> list[JSONObject]:
    """The text blocks of the user's message; a plain string is one block."""
    [message] = [each for each in body["input" if dialect == "openai" else "messages"] if each["role"] == "user"]
    content = message["content"]
    return [{"text": content}] if isinstance(content, str) else content


def prompt_of(dialect: str, body: JSONObject) -> str:
    """The prompt as the service reads it."""
    return "".join(block["text"] for block in blocks_of(dialect, body))


def marked_ends(blocks: list[JSONObject]) -> list[int]:
    """The lengths of the beginnings that a request marks for the cache."""
    ends, end = [], 0
    for block in blocks:
        end += len(block["text"])
        if "cache_control" in block or "prompt_cache_breakpoint" in block:
            ends.append(end)
    return ends


def _anthropic(dialect: str, body: JSONObject, known: list[str]) -> tuple[JSONObject, list[str]]:
    """Only marked beginnings are cached, and input_tokens counts neither those read nor those written."""
    blocks = blocks_of(dialect, body)
    prompt = "".join(block["text"] for block in blocks)
    marked = [prompt[:end] for end in marked_ends(blocks) if end // 4 >= LEAST_TOKENS]
    read = max((len(text) // 4 for text in marked if text in known), default=0)
    written = max((len(text) // 4 for text in marked), default=0) - read
    usage = {
        "input_tokens": len(prompt) // 4 - read - written, "output_tokens": 7,
        "cache_read_input_tokens": read, "cache_creation_input_tokens": written,
    }
    return usage, marked


def _openai(dialect: str, body: JSONObject, known: list[str]) -> tuple[JSONObject, list[str]]:
    """Every beginning is cached, and the input tokens include the cached ones."""
    prompt = prompt_of(dialect, body)
    common = max((len(os.path.commonprefix([prompt, text])) // 4 for text in known), default=0)  # noqa: RUF071
    cached = common // STEP_TOKENS * STEP_TOKENS if common >= LEAST_TOKENS else 0
    tokens = len(prompt) // 4
    names = ("prompt", "completion") if dialect == "openai-chat" else ("input", "output")
    usage = {
        f"{names[0]}_tokens": tokens, f"{names[1]}_tokens": 7, "total_tokens": tokens + 7,
        f"{names[0]}_tokens_details": {"cached_tokens": cached},
    }
    if dialect == "openai":
        usage["output_tokens_details"] = {"reasoning_tokens": 0}
    return usage, [prompt]
