"""What a successful call returns and sends: votes as JSON, tokens, costs, places in flight, imports."""

import asyncio
import json
import subprocess
import sys

import pytest
from memento.core.ports import Model
from memento.models import close_model
from memento.models.client import ClientModel
from memento.models.prices import Price

from ..support.services import Act, serving
from .asking import DIALECT, KEY, KINDS, NAME, ask, client

VOTE = '{"choice": "B", "reason": "It tells the stages apart."}'
STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@STREAMED
@pytest.mark.parametrize("kind", KINDS)
async def test_a_vote_comes_as_json_text(kind: str, stream: bool) -> None:
    async with serving(Act(text=VOTE), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        reply = await model.complete(ask("Choose.", role="judge"))
        await close_model(model)
    assert json.loads(reply.text) == json.loads(VOTE)
    assert reply.stop == "end"
    sent = json.dumps(service.asked[0])
    assert '"choice"' in sent or '\\"choice\\"' in sent, "the request describes the typed answer"


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ('```json\n{"choice": "C", "reason": "r"}\n```', "C"),
        ('I choose:\n{"choice": 2, "reason": " r "} Good luck.', "2"),
    ],
)
async def test_a_vote_in_a_fence_or_in_words_is_normalised(said: str, choice: str) -> None:
    async with serving(Act(text=said), dialect="openai-chat") as service:
        model = client("compatible", service.url)
        reply = await model.complete(ask(role="judge"))
        await close_model(model)
    assert json.loads(reply.text) == {"choice": choice, "reason": "r"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reply_that_is_not_a_vote_is_passed_on_unchanged(kind: str) -> None:
    async with serving(Act(text="None of them."), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url)
        reply = await model.complete(ask(role="judge"))
        await close_model(model)
    assert (reply.text, reply.stop, len(service.asked)) == ("None of them.", "end", 1)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_program_is_requested_as_plain_text(kind: str) -> None:
    async with serving(dialect=DIALECT[kind]) as service:
        model = client(kind, service.url)
        await model.complete(ask("Write é <|im_end|> a policy."))
        await close_model(model)
    sent = service.asked[0]
    assert not sent.get("tools")
    assert "response_format" not in sent
    assert "is a policy" not in json.dumps(sent)
    assert "Write é " in json.dumps(sent, ensure_ascii=False)


@STREAMED
@pytest.mark.parametrize("kind", KINDS)
async def test_usage_and_known_price(kind: str, stream: bool) -> None:
    async with serving(dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        usage = (await model.complete(ask())).usage
        await close_model(model)
    assert (usage.input_tokens, usage.output_tokens) == (11, 7)
    if kind == "compatible":
        assert usage.cost_usd is None, "unknown is not 0"
    else:
        assert usage.cost_usd is not None
        assert 0 < usage.cost_usd < 0.01


@pytest.mark.parametrize("kind", KINDS)
async def test_the_users_price_goes_first(kind: str) -> None:
    price = Price(input_usd_per_mtok=1e6, output_usd_per_mtok=1e3)
    async with serving(dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, prices={NAME[kind]: price})
        usage = (await model.complete(ask())).usage
        await close_model(model)
    assert usage.cost_usd == pytest.approx(11 + 0.007)


@STREAMED
@pytest.mark.parametrize("kind", ["openai", "openai-chat", "compatible"])
async def test_where_a_service_counts_no_tokens_they_and_their_cost_are_estimated(kind: str, stream: bool) -> None:
    price = {NAME[kind]: Price(input_usd_per_mtok=1.0, output_usd_per_mtok=1.0)}
    async with serving(Act(usage=False), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream, prices=price)
        usage = (await model.complete(ask())).usage
        await close_model(model)
    assert (usage.input_tokens, usage.output_tokens) == (4, 2), "of 15 and 6 characters"
    assert usage.cost_usd == pytest.approx(6e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_no_more_requests_than_places(kind: str) -> None:
    slow = Act(text="a b c", interval_s=0.02)
    async with serving(slow, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=True, in_flight=3)
        replies = await asyncio.gather(*(model.complete(ask(order=f"g1/macro/{slot}")) for slot in range(9)))
        await close_model(model)
    assert [reply.text for reply in replies] == ["a b c"] * 9
    assert service.most_in_flight == 3


async def test_a_busy_service_gets_fewer_requests_at_once_and_every_call_is_answered() -> None:
    acts = [Act(status=429, error={"error": {"message": "busy"}})] * 6 + [Act(text="a b", interval_s=0.01)]
    async with serving(*acts, dialect="openai-chat") as service:
        model = client("openai-chat", service.url, stream=True, in_flight=8)
        replies = await asyncio.gather(*(model.complete(ask(order=f"g1/macro/{slot}")) for slot in range(12)))
        gate = _gate(model)
        await close_model(model)
    assert {reply.text for reply in replies} == {"a b"}
    assert sum(reply.usage.attempts for reply in replies) == len(service.asked) == 18
    assert gate.in_flight == 0
    assert gate.allowance.level < 8


def _gate(model: Model):  # type: ignore[no-untyped-def]
    assert isinstance(model, ClientModel)
    return model._account.gate


async def test_openai_headers_stay_with_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-own")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-own")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-own")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: gateway-own")
    async with serving(dialect="openai-chat") as service:
        model = client("compatible", service.url, key="")
        await model.complete(ask())
        keyed = client("compatible", service.url)
        await keyed.complete(ask())
        await close_model(model)
        await close_model(keyed)
    assert "own" not in json.dumps(service.headers)
    assert [headers["authorization"] for headers in service.headers] == ["Bearer none", f"Bearer {KEY}"]


async def test_a_key_in_the_real_environment_causes_no_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "token-own")
    async with serving(dialect="anthropic") as service:
        model = client("anthropic", service.url)
        await model.complete(ask())
        await close_model(model)
    assert service.headers[0]["x-api-key"] == KEY
    assert "token-own" not in json.dumps(service.headers)


@pytest.mark.slow
def test_making_a_model_imports_no_client_library() -> None:
    code = (
        "import sys\n"
        "from memento.models import make_model\n"
        "keys = {'OPENAI_API_KEY': 'k', 'ANTHROPIC_API_KEY': 'k'}\n"
        "make_model('openai:gpt-5.2,anthropic:claude-sonnet-5', environ=keys)\n"
        "heavy = {'pydantic_ai', 'openai', 'anthropic', 'pydantic', 'httpx2', 'genai_prices', 'aiohttp'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=150, check=True)
    assert done.stdout.strip() == "[]"
