"""`memento models --check NAME`: asks a model two small questions, and says what is known of it then."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from ..core.errors import ModelError, UsageError
from ..core.events import Order
from ..core.ports import Ask, Reply
from ..core.text import cost, one_line, token_count, tokens_of_call
from .call_limits import CallLimits
from .client import ClientModel
from .factory import ClientSettings, make_model
from .opening import close_model, open_model
from .prices import listed_price
from .providers import PYDANTIC_AI
from .requests import Sampling
from .spec import ModelSpec, base_url_of, key_of, parse_specs

LIMITS: Final = CallLimits(total_s=120.0, read_s=120.0, connect_s=2.0, attempts=1)
VOTE: Final = (
    "Which of the labels A and B comes first in the alphabet? Answer with one JSON object and nothing after it: "
    '{"reason": "<a few words>", "choice": "<A or B>"}'
)
TOOL: Final = "Call the tool `submit` with the summary `ready`, and say nothing else."
LISTING_S: Final = 5.0          # for the service's list of models
MOST_LISTED: Final = 4 * 1024 * 1024    # bytes of it
CONTEXT: Final = ("max_model_len", "context_length", "context_window", "max_context_length", "loaded_context_length")
"""What vLLM, OpenRouter, Groq, Mistral and LM Studio call the context of a model in their lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One model that answered: everything in words, and `where` its service or its program is."""

    name: str
    where: str
    key: str
    answer: str
    votes: str
    tools: str
    price: str
    context: str

    def words(self) -> Iterator[tuple[str, str]]:
        """What is known, each with its heading."""
        yield "reachable", "yes"
        for what in ("key", "answer", "votes", "tools", "price", "context"):
            yield what, getattr(self, what)


async def check(text: str, *, environ: Mapping[str, str] = os.environ) -> list[Checked]:
    """Check each model that `text` names.

    Raises UsageError for a name, a key, or an address that nothing can be sent to, and ModelError where a model did
    not answer.
    """
    specs = parse_specs(text)
    for spec in specs:
        if spec.free:
            raise UsageError(f"{spec.name!r} is no service: it needs no check")
    return [await _check(spec, environ) for spec in specs]


async def _check(spec: ModelSpec, environ: Mapping[str, str]) -> Checked:
    # In a service's own form, so that its answer shows whether it takes it.
    settings = ClientSettings(limits=LIMITS, sampling=Sampling(tools="native"))
    settings.services.report = _unsaid
    model = make_model(spec.as_written, settings=settings, environ=environ)
    try:
        await open_model(model)
        vote = await model.complete(_ask("judge", VOTE))
        tool: Reply | ModelError | None = None
        if not spec.is_command:
            try:
                tool = await model.complete(_ask("proposer", TOOL, tools=True))
            except ModelError as error:
                tool = error
    finally:
        await close_model(model)
    left_out = settings.habits(spec).left_out
    known = listed_price(spec)
    return Checked(
        name=spec.name,
        where=model.address if isinstance(model, ClientModel) else "",
        key=_key(spec, environ),
        answer=_answer(vote, counts=settings.habits(spec).counts_tokens),
        votes=_votes(spec, vote, refused="typed" in left_out),
        tools=_tools(spec, tool, refused="tools" in left_out),
        price="unknown" if known is None else (
            f"{cost(known[0])} for a million tokens in, {cost(known[1])} out, as listed"
        ),
        context=await _context(spec, environ, None if known is None else known[2]),
    )


def _ask(role: str, prompt: str, *, tools: bool = False) -> Ask:
    return Ask(order=Order(id=f"check/{role}"), attempt=0, role=role, prompt=prompt, tools=tools)


def _unsaid(model: str, event: str, text: str) -> None:
    """The result says what was left out."""


def _key(spec: ModelSpec, environ: Mapping[str, str]) -> str:
    if spec.key_variable is None:
        return "none: the program has your environment"
    if key_of(spec, environ):
        return f"{spec.key_variable}, accepted"
    return "as pydantic-ai finds it" if spec.scheme == PYDANTIC_AI else f"{spec.key_variable}, not set, and not needed"


def _answer(reply: Reply, *, counts: bool) -> str:
    usage = reply.usage
    if not counts or not usage.input_tokens + usage.output_tokens:
        used = "it reports no tokens"
    else:
        used = f"{tokens_of_call(usage.input_tokens, usage.output_tokens)}, {cost(usage.cost_usd)}"
    return f"in {usage.latency_s:.1f} s; {used}"


def _votes(spec: ModelSpec, reply: Reply, *, refused: bool) -> str:
    how = "in plain words" if spec.is_command else "structured"
    if refused:
        how = "in plain words, since it refuses the form in which judges are to answer"
    with suppress(ValueError, AttributeError):
        if str(json.loads(reply.text[reply.text.find("{"):reply.text.rfind("}") + 1])["choice"]).strip() == "A":
            return how
    return f"{how}, but it answered {one_line(reply.text, 80)!r} where A was right: it is no good judge"


def _tools(spec: ModelSpec, reply: Reply | ModelError | None, *, refused: bool) -> str:
    if spec.is_command:
        return "as text in the prompt"
    if isinstance(reply, ModelError):
        return f"as text in the prompt; with its own it failed: {one_line(str(reply), 200)}"
    if refused or reply is None or "Tool: submit" not in reply.text:
        return f"as text in the prompt, since it {'refuses' if refused else 'did not call'} its own"
    return "its own" if not spec.is_compatible else "its own work, with sampling.tools = 'native'; else as text"


async def _context(spec: ModelSpec, environ: Mapping[str, str], from_list: int | None) -> str:
    if spec.is_command:
        return "unknown"
    if not spec.is_compatible:
        return "not known" if from_list is None else f"{token_count(from_list)}, as listed"
    said = await _listing(spec, environ)
    rows = said.get("data") if isinstance(said, dict) else None
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    row = next((row for row in rows if row.get("id") == spec.model), rows[0] if len(rows) == 1 else {})
    found = next((row[name] for name in CONTEXT if isinstance(row.get(name), int) and row[name] > 0), None)
    return "the service does not say" if found is None else f"{token_count(found)}, says the service"


async def _listing(spec: ModelSpec, environ: Mapping[str, str]) -> Any:
    """The service's list of its models; None where it has none that can be read."""
    import httpx2

    key = key_of(spec, environ)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = b""
    began_s = time.monotonic()
    with suppress(httpx2.HTTPError, ValueError, RecursionError):
        async with (
            httpx2.AsyncClient(timeout=LISTING_S, follow_redirects=False) as client,
            client.stream("GET", f"{base_url_of(spec, environ)}/models", headers=headers) as response,
        ):
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_LISTED or time.monotonic() - began_s > LISTING_S:
                    return None
            return json.loads(body) if response.status_code == 200 else None
    return None
