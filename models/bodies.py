"""What services send: bounded in size, and whole answers of chat completions in the form of the protocol.

Many servers leave out fields that the client libraries require, or put an error into a response with the status 200.
An answer that is there is used; an error is that error.

Imports httpx2, which takes long: only `providers.py` and `diagnosis.py` import this.
"""

import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import httpx2

MIB = 1024 * 1024
MAX_WHOLE = 16 * MIB  # bytes of one JSON document; a reply of a million characters takes 6 MB at most
MAX_STREAMED = 128 * MIB  # of an event stream, which takes up to 300 bytes for a token


class BodyTooLong(Exception):
    """A service sent more than an answer may have."""


class WebPage(Exception):
    """A page for people came instead of an answer: a wrong address, or a gateway in between."""


class BoundedResponse(httpx2.Response):
    """A response whose body ends with BodyTooLong where it is too long. httpx2 decompresses in pieces of 1 MiB."""

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        """The decompressed body in pieces. Raises BodyTooLong."""
        streamed = self.headers.get("content-type", "").startswith("text/event-stream")
        left = limit = MAX_STREAMED if streamed else MAX_WHOLE
        async with aclosing(super().aiter_bytes(chunk_size)) as pieces:
            async for piece in pieces:
                left -= len(piece)
                if left < 0:
                    raise BodyTooLong(f"more than {limit // MIB} MiB")
                yield piece


async def read_body(response: httpx2.Response) -> None:
    """A hook for a client: bounds the body of a response, and puts whole chat completions into their form.

    Raises WebPage, and BodyTooLong.
    """
    response.__class__ = BoundedResponse
    kind = response.headers.get("content-type", "")
    if response.status_code != 200 or kind.startswith("text/event-stream"):
        return
    if kind.startswith("text/html"):
        raise WebPage(str(response.request.url))
    if not response.request.url.path.endswith("/chat/completions"):
        return
    body = await response.aread()
    try:
        document = json.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return
    if (found := error_in(document)) is not None:
        response.status_code, document = found
    elif isinstance(document, dict):
        document = completed(document)
    response._content = json.dumps(document).encode()


def caused_by(error: BaseException | None, kind: type[Exception]) -> Exception | None:
    """The exception of this kind that led to an error of a client library; None where there is none."""
    while error is not None:
        if isinstance(error, kind):
            return error
        error = error.__cause__ or error.__context__
    return None


# An error inside a response with the status 200.


_BUSY = re.compile(r"rate.?limit|too many requests|overloaded|quota", re.IGNORECASE)
_NOWHERE = re.compile(r"unexpected endpoint|unknown (url|path|endpoint)", re.IGNORECASE)
_REFUSED = re.compile(
    r"not found|not exist|invalid|unsupported|not support|must be|unknown|unrecogni|context|too (long|large)|exceed",
    re.IGNORECASE,
)


def error_in(document: object) -> tuple[int, dict[str, Any]] | None:
    """The HTTP status and the body of an error that came as an answer; None for an answer."""
    if isinstance(document, list):
        document = document[0] if document else {}
    if not isinstance(document, Mapping):
        return None
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
    error = first.get("error") if first else document.get("error")
    if not error and not first and (document.get("object") == "error" or isinstance(document.get("detail"), str)):
        error = document
    if not error:
        return None
    inside = dict(error) if isinstance(error, Mapping) else {"message": str(error)}
    words = f"{inside.get('message') or inside.get('detail') or inside} {inside.get('type')} {inside.get('code')}"
    return _status(inside.get("code") or inside.get("status"), words), {"error": inside}


def _status(code: object, words: str) -> int:
    if isinstance(code, str) and code.isdigit():
        code = int(code)
    if isinstance(code, int) and 400 <= code < 600:
        return code
    for pattern, status in ((_BUSY, 429), (_NOWHERE, 404), (_REFUSED, 400)):
        if pattern.search(words):
            return status
    return 502


# What an answer needs besides its text.


def completed(answer: Mapping[str, Any]) -> dict[str, Any]:
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
