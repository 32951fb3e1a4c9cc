"""A chat completion in the form of the protocol, whatever a server left out of it."""

import json
from collections.abc import Mapping
from typing import Any


def with_all_fields(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A whole chat completion with every field that client libraries require. What is odd beyond use is left out."""
    choices = answer.get("choices")
    given = choices if isinstance(choices, list) else []
    created = answer.get("created")
    return {
        **answer,
        "id": str(answer.get("id") or "none"),
        "object": "chat.completion",
        "created": int(created) if isinstance(created, int | float) and abs(created) < 1e11 else 0,
        "model": str(answer.get("model") or "none"),
        "choices": [_choice(each) for each in given if isinstance(each, Mapping)] or [_choice({})],
        "usage": _usage(answer.get("usage")),
        "service_tier": None,
        "system_fingerprint": None,
    }


def _choice(choice: Mapping[str, Any]) -> dict[str, Any]:
    message = choice.get("message")
    finish = choice.get("finish_reason")
    return {
        "index": 0,
        "message": _message(message if isinstance(message, Mapping) else {"content": choice.get("text")}),
        "finish_reason": finish if isinstance(finish, str) and finish else None,
        "logprobs": None,
    }


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls")
    kept = {key: message[key] for key in ("reasoning_content", "reasoning") if isinstance(message.get(key), str)}
    refusal = message.get("refusal")
    return {
        **kept,
        "role": "assistant",
        "content": _text(message.get("content")),
        "refusal": refusal if isinstance(refusal, str) and refusal else None,
        "tool_calls": [
            found for place, each in enumerate(calls) if (found := _tool_call(each, place)) is not None
        ] or None if isinstance(calls, list) else None,
    }


def _text(content: object) -> str | None:
    """The text of a message; that of its parts, without what it only thought."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        return str(content)
    parts = [each.get("text") if isinstance(each, Mapping) else each for each in content]
    return "".join(part for part in parts if isinstance(part, str))


def _tool_call(call: object, place: int) -> dict[str, Any] | None:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(call, Mapping) or not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        return None
    arguments = function.get("arguments")
    return {
        "id": str(call.get("id") or f"call-{place}"),
        "type": "function",
        "function": {
            "name": function["name"],
            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments or {}),
        },
    }


def _usage(usage: object) -> dict[str, Any] | None:
    """The numbers of tokens that can be meant; None, which is unknown, where there are none."""
    if not isinstance(usage, Mapping):
        return None
    read, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    if not read and not written:
        return None
    details = {
        key: {name: _count(each) for name, each in value.items()}
        for key, value in usage.items() if key.endswith("_tokens_details") and isinstance(value, Mapping)
    }
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written, **details}


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) and 0 < value < 1e12 else 0
