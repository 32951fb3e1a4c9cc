"""Loopback servers for chat completions, Responses and Anthropic messages that misbehave on demand."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

from .prompt_cache import JSONObject, PromptCache

ENDINGS = {
    "reset": "the connection is cut in the middle of the body",
    "quiet": "the body ends politely in its middle",
    "garbage": "bytes that are no JSON",
    "page": "an HTML page with status 200",
    "hang": "not even headers",
    "stall": "silence in the middle of the body",
    "drip": "slow tokens (or white space) for ever",
}


@dataclass(kw_only=True)
class Act:
    """How the server answers one request. The default is a correct answer."""

    text: str = "Hello."
    repeat: str = ""                        # a pattern: the text is the last match in the request
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: JSONObject | str | None = None   # body of an error status
    finish: str = "stop"                    # stop, length, refusal
    usage: bool = True
    ending: str = "whole"       # or one of ENDINGS
    interval_s: float = 0.0     # between tokens
    error_event: JSONObject | None = None   # an error inside an open stream
    compressed: bool = False
    echo: bool = False          # repeat the request's key in every response
    cache: PromptCache | None = None        # counts tokens, cached ones among them, as the real service does
    tokens: JSONObject | None = None        # the usage that this response reports
    body: object = None                     # instead of a correct answer, with the status 200
    refuses: str = ""                       # the error is for requests that have this field; others are answered
    calls: tuple[tuple[str, str], ...] = () # calls of the service's tools after the text: names, arguments as JSON


@dataclass(kw_only=True)
class Service:
    """A running server: its requests and its next acts (the last act is repeated)."""

    url: str
    acts: list[Act]
    asked: list[JSONObject] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    arrived: asyncio.Event = field(default_factory=asyncio.Event)   # at least one request is in flight
    idle: asyncio.Event = field(default_factory=asyncio.Event)      # no request is in flight

    def next_act(self) -> Act:
        return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]


Frames = Callable[[JSONObject, Act], tuple[list[bytes], list[bytes]]]
Whole = Callable[[JSONObject, Act], JSONObject]


@asynccontextmanager
async def serving(*acts: Act, dialect: str) -> AsyncIterator[Service]:
    """Serve one dialect: `openai` (Responses), `openai-chat`, or `anthropic`."""
    whole, frames, path = DIALECTS[dialect]
    service = Service(url="", acts=list(acts) or [Act()])

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        service.asked.append(body)
        service.headers.append({name.lower(): value for name, value in request.headers.items()})
        service.in_flight += 1
        service.arrived.set()
        service.idle.clear()
        service.most_in_flight = max(service.most_in_flight, service.in_flight)
        try:
            act = service.next_act()
            if act.repeat:
                act = replace(act, text=re.findall(act.repeat, json.dumps(body))[-1])
            if act.cache is not None:
                act = replace(act, tokens=await act.cache.tokens_of(dialect, body))
            return await answer(request, body, act, whole, frames)
        finally:
            service.in_flight -= 1
            if service.in_flight == 0:
                service.arrived.clear()
                service.idle.set()

    app = web.Application()
    app.router.add_post(path, handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    service.url = f"http://{host}:{port}" + ("" if dialect == "anthropic" else "/v1")
    try:
        yield service
    finally:
        await runner.cleanup()


async def answer(
    request: web.Request, body: JSONObject, act: Act, whole: Whole, frames: Frames
) -> web.StreamResponse:
    if act.echo:
        key = request.headers.get("Authorization", "") + " " + request.headers.get("x-api-key", "")
        act = replace(act, text=f"You sent {key}", error={"error": {"message": f"Bad: {key}", "type": "x"}})
    if act.ending == "hang":
        await asyncio.sleep(3600)
    if act.ending == "page":
        return web.Response(text="<html>Sign in to the hotel's network</html>", content_type="text/html")
    if act.refuses and act.refuses not in body:
        act = replace(act, status=200)
    elif act.body is not None:
        return web.json_response(act.body, headers=act.headers)
    if act.status != 200:
        if isinstance(act.error, str):
            return web.Response(status=act.status, text=act.error, headers=act.headers)
        return web.json_response(act.error or {}, status=act.status, headers=act.headers)
    streamed = bool(body.get("stream"))
    if not streamed and act.ending == "whole":
        complete = web.json_response(whole(body, act))
        if act.compressed:
            complete.enable_compression(web.ContentCoding.gzip)
        return complete
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream" if streamed else "application/json"})
    if act.compressed:
        response.enable_compression(web.ContentCoding.gzip)
    await response.prepare(request)
    await send_body(request, response, act, body, streamed, whole, frames)
    return response


async def send_body(
    request: web.Request, response: web.StreamResponse, act: Act, body: JSONObject, streamed: bool,
    whole: Whole, frames: Frames,
) -> None:
    head, tail = frames(body, act) if streamed else ([json.dumps(whole(body, act)).encode()[:40]], [])
    for frame in head:
        await response.write(frame)
        await asyncio.sleep(act.interval_s)
    while act.ending == "drip":
        await response.write(head[-1] if streamed else b" ")
        await asyncio.sleep(act.interval_s)
    if act.error_event is not None:
        await response.write(sse(act.error_event, event="error" if "type" in act.error_event else None))
    elif act.ending == "garbage":
        await response.write(b"data: {not json]\n\n" if streamed else b"]not json")
    elif act.ending == "stall":
        await asyncio.sleep(3600)
    elif act.ending == "reset":
        assert request.transport is not None
        request.transport.abort()
    elif act.ending == "whole":
        for frame in tail:
            await response.write(frame)
    await response.write_eof()


def sse(data: JSONObject | str, *, event: str | None = None) -> bytes:
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {event}\n" if event else "").encode() + f"data: {text}\n\n".encode()


def halves(text: str) -> tuple[str, str]:
    """A text in two pieces."""
    return text[: len(text) // 2], text[len(text) // 2 :]


def words(text: str) -> list[str]:
    """A text as tokens."""
    return [word + " " for word in text.split(" ")[:-1]] + text.split(" ")[-1:]


# ------------------------------------------------------------------------------------- chat completions


CHAT_TOKENS = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def chat_finish(act: Act) -> str:
    if act.calls and act.finish == "stop":
        return "tool_calls"
    return {"stop": "stop", "length": "length", "refusal": "stop", "filter": "content_filter"}[act.finish]


def chat_whole(body: JSONObject, act: Act) -> JSONObject:
    refused = act.finish == "refusal"
    message: JSONObject = {"role": "assistant", "content": None if refused else act.text}
    if refused:
        message["refusal"] = "I will not."
    if act.calls:
        message["tool_calls"] = [
            {"id": f"t{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for place, (name, arguments) in enumerate(act.calls)
        ]
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": chat_finish(act), "logprobs": None}],
        **({"usage": act.tokens or CHAT_TOKENS} if act.usage else {}),
    }


def chat_frames(body: JSONObject, act: Act) -> tuple[list[bytes], list[bytes]]:
    def chunk(delta: JSONObject, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return sse({
            "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"],
            "choices": [choice],
        })

    head = [chunk({"role": "assistant", "content": ""})]
    if act.finish == "refusal":
        head.append(chunk({"refusal": "I will not."}))
    else:
        head += [chunk({"content": word}) for word in words(act.text)]
    for place, (name, arguments) in enumerate(act.calls):
        begun = {"id": f"t{place}", "type": "function", "function": {"name": name, "arguments": ""}}
        head.append(chunk({"tool_calls": [{"index": place, **begun}]}))
        pieces = [{"index": place, "function": {"arguments": half}} for half in halves(arguments)]
        head += [chunk({"tool_calls": [piece]}) for piece in pieces]
    tail = [chunk({}, chat_finish(act))]
    if act.usage and body.get("stream_options", {}).get("include_usage"):
        tail.append(sse({
            "id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"], "choices": [],
            "usage": act.tokens or CHAT_TOKENS,
        }))
    return head, [*tail, sse("[DONE]")]


# -------------------------------------------------------------------------------------------- Responses


def function_calls(act: Act) -> list[JSONObject]:
    return [
        {
            "type": "function_call", "id": f"fc{place}", "call_id": f"t{place}", "name": name, "arguments": arguments,
            "status": "completed",
        }
        for place, (name, arguments) in enumerate(act.calls)
    ]


def responses_whole(body: JSONObject, act: Act) -> JSONObject:
    if act.finish == "refusal":
        content: JSONObject = {"type": "refusal", "refusal": "I will not."}
    else:
        content = {"type": "output_text", "text": act.text, "annotations": []}
    incomplete = {"length": "max_output_tokens", "filter": "content_filter"}.get(act.finish)
    usage = {
        "input_tokens": 11, "output_tokens": 7, "total_tokens": 18,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "r1", "object": "response", "created_at": 1, "model": body["model"],
        "status": "incomplete" if incomplete else "completed",
        "incomplete_details": {"reason": incomplete} if incomplete else None, "error": None,
        "output": [{
            "type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [content],
        }, *function_calls(act)],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": (act.tokens or usage) if act.usage else None,
    }


def responses_frames(body: JSONObject, act: Act) -> tuple[list[bytes], list[bytes]]:
    numbers = iter(range(10_000))

    def event(kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, "sequence_number": next(numbers), **fields}, event=kind)

    done = responses_whole(body, act)
    item: JSONObject = {"type": "message", "id": "m1", "role": "assistant", "status": "in_progress", "content": []}
    place = {"item_id": "m1", "output_index": 0, "content_index": 0}
    head = [
        event("response.created", response={**done, "status": "in_progress", "output": [], "usage": None}),
        event("response.output_item.added", output_index=0, item=item),
    ]
    if act.finish == "refusal":
        head.append(event("response.content_part.added", **place, part={"type": "refusal", "refusal": ""}))
        head.append(event("response.refusal.delta", **place, delta="I will not."))
        tail = [event("response.refusal.done", **place, refusal="I will not.")]
    else:
        part = {"type": "output_text", "text": "", "annotations": []}
        head.append(event("response.content_part.added", **place, part=part))
        head += [event("response.output_text.delta", **place, delta=word, logprobs=[]) for word in words(act.text)]
        tail = [event("response.output_text.done", **place, text=act.text, logprobs=[])]
    tail.append(event("response.output_item.done", output_index=0, item=done["output"][0]))
    for index, call in enumerate(function_calls(act), start=1):
        spot = {"item_id": call["id"], "output_index": index}
        begun = {**call, "arguments": "", "status": "in_progress"}
        tail.append(event("response.output_item.added", output_index=index, item=begun))
        for half in halves(call["arguments"]):
            tail.append(event("response.function_call_arguments.delta", **spot, delta=half))
        whole = {"name": call["name"], "arguments": call["arguments"]}
        tail.append(event("response.function_call_arguments.done", **spot, **whole))
        tail.append(event("response.output_item.done", output_index=index, item=call))
    kind = "response.incomplete" if done["status"] == "incomplete" else "response.completed"
    return head, [*tail, event(kind, response=done)]


# -------------------------------------------------------------------------------------------- Anthropic


def anthropic_content(body: JSONObject, act: Act) -> JSONObject:
    """The only content block: a call of the output tool if the request has one and the text is JSON."""
    if body.get("tools") and act.text.startswith("{"):
        return {"type": "tool_use", "id": "t1", "name": body["tools"][0]["name"], "input": json.loads(act.text)}
    return {"type": "text", "text": act.text}


ANTHROPIC_STOPS = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal", "filter": "refusal"}


def anthropic_whole(body: JSONObject, act: Act) -> JSONObject:
    content = [anthropic_content(body, act), *(
        {"type": "tool_use", "id": f"t{place}", "name": name, "input": json.loads(arguments)}
        for place, (name, arguments) in enumerate(act.calls)
    )]
    called = content[-1]["type"] == "tool_use" and act.finish == "stop"
    stop = "tool_use" if called else ANTHROPIC_STOPS[act.finish]
    return {
        "id": "a1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [] if act.finish == "refusal" else content,
        "stop_reason": stop, "stop_sequence": None, "usage": act.tokens or {"input_tokens": 11, "output_tokens": 7},
    }


def anthropic_frames(body: JSONObject, act: Act) -> tuple[list[bytes], list[bytes]]:
    def event(kind: str, **fields: Any) -> bytes:
        return sse({"type": kind, **fields}, event=kind)

    done = anthropic_whole(body, act)
    start = {**done, "content": [], "stop_reason": None, "usage": {**done["usage"], "output_tokens": 1}}
    head = [event("message_start", message=start)]
    tail: list[bytes] = []
    for index, block in enumerate(done["content"]):
        head, tail = [*head, *tail], []
        if block["type"] == "text":
            empty: JSONObject = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": word} for word in words(act.text)]
        else:
            empty = {**block, "input": {}}
            deltas = [
                {"type": "input_json_delta", "partial_json": half} for half in halves(json.dumps(block["input"]))
            ]
        head.append(event("content_block_start", index=index, content_block=empty))
        head += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        tail.append(event("content_block_stop", index=index))
    delta = {"stop_reason": done["stop_reason"], "stop_sequence": None}
    tail.append(event("message_delta", delta=delta, usage={"output_tokens": 7}))
    return head, [*tail, event("message_stop")]


DIALECTS: dict[str, tuple[Whole, Frames, str]] = {
    "openai": (responses_whole, responses_frames, "/v1/responses"),
    "openai-chat": (chat_whole, chat_frames, "/v1/chat/completions"),
    "anthropic": (anthropic_whole, anthropic_frames, "/v1/messages"),
}
