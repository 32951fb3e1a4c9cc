"""The table of providers, and a provider of pydantic-ai on loopback: its answers, its key, its price, its failures."""

import pytest
from memento.core.errors import ModelError, UsageError
from memento.models import ClientSettings, close_model, make_model, open_model
from memento.models.prices import Price, cost_usd, listed_price, require_prices
from memento.models.providers import PROVIDERS
from memento.models.requests import Sampling
from memento.models.spec import parse_spec

from ..support.services import Act, serving
from .asking import KEY, LIMITS, JumpingClock, ask

NAMES = {
    "openai": "openai:gpt-4o", "openai-chat": "openai-chat:gpt-4o", "anthropic": "anthropic:claude-sonnet-4-5",
    "compatible": "compatible:lab@http://127.0.0.1:1/v1#gpt-4o", "pydantic-ai": "pydantic-ai:ollama:gpt-4o",
    "command": "command:./ask.sh", "offline": "offline", "ask": "ask",
}
LISTED = {"openai", "openai-chat", "anthropic"}


def test_every_scheme_has_a_name_here_and_what_a_user_reads_of_it() -> None:
    assert NAMES.keys() == PROVIDERS.keys()
    assert all(provider.words or provider.key_variable for provider in PROVIDERS.values())


@pytest.mark.parametrize("scheme", PROVIDERS)
def test_a_price_is_listed_or_unknown_and_never_another_providers(scheme: str) -> None:
    spec = parse_spec(NAMES[scheme])
    assert (listed_price(spec) is not None) == (scheme in LISTED)
    assert spec.as_written == NAMES[scheme]
    if not spec.free and scheme not in LISTED:
        with pytest.raises(UsageError, match=r"not known"):
            require_prices([spec], {})


def test_a_provider_of_pydantic_ai_has_the_prices_of_its_own_list() -> None:
    from genai_prices import Usage

    usage = Usage(input_tokens=1_000_000, output_tokens=0)
    groq, other = (parse_spec(f"pydantic-ai:groq:{model}") for model in ("llama-3.1-8b-instant", "gpt-4o"))
    assert cost_usd(groq, None, usage) == pytest.approx(0.05)
    assert cost_usd(other, None, usage) is None
    assert cost_usd(other, Price(input_usd_per_mtok=2, output_usd_per_mtok=4), usage) == 2


@pytest.mark.parametrize("stream", [False, True])
async def test_a_provider_with_an_address_answers(stream: bool) -> None:
    clock = JumpingClock()
    async with serving(Act(), dialect="openai-chat") as service:
        settings = ClientSettings(
            limits=LIMITS, sampling=Sampling(stream=stream), elapsed=clock.elapsed, sleep=clock.sleep
        )
        environ = {"OLLAMA_BASE_URL": service.url, "OLLAMA_API_KEY": KEY}
        model = make_model("pydantic-ai:ollama:qwen3", settings=settings, environ=environ)
        await open_model(model)
        reply = await model.complete(ask())
        await close_model(model)
    assert (reply.text, reply.model, reply.usage.cost_usd) == ("Hello.", "pydantic-ai:ollama:qwen3", None)
    assert service.headers[0]["authorization"] == f"Bearer {KEY}"
    assert service.asked[0]["model"] == "qwen3"


async def test_it_never_retries_by_itself_and_says_no_key() -> None:
    clock = JumpingClock()
    failing = Act(status=400, error={"error": {"message": f"no: {KEY}"}})
    async with serving(failing, dialect="openai-chat") as service:
        settings = ClientSettings(limits=LIMITS, elapsed=clock.elapsed, sleep=clock.sleep)
        environ = {"OLLAMA_BASE_URL": service.url, "OTHER_API_KEY": KEY}
        model = make_model("pydantic-ai:ollama:qwen3", settings=settings, environ=environ)
        with pytest.raises(ModelError) as caught:
            await model.complete(ask())
        await close_model(model)
    assert caught.value.attempts == len(service.asked) == 1
    assert KEY not in str(caught.value) and "[key]" in str(caught.value)


@pytest.mark.parametrize(("name", "environ", "says"), [
    ("pydantic-ai:nobody:m", {}, "Unknown provider"),
    ("pydantic-ai:deepseek:m", {}, "DEEPSEEK_API_KEY"),
    ("pydantic-ai:ollama:m", {"OLLAMA_BASE_URL": "http://127.0.0.1:1/v1"}, "could not be reached at http://127.0.0.1:1"),
])
async def test_what_cannot_be_opened_is_one_sentence(
    name: str, environ: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    with pytest.raises(UsageError, match=says):
        await open_model(make_model(name, environ=environ))


@pytest.mark.parametrize("name", ["pydantic-ai:", "pydantic-ai:groq", "pydantic-ai::m", "pydantic-ai:groq:"])
def test_a_name_without_a_provider_or_a_model_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=r"pydantic-ai:PROVIDER:MODEL"):
        parse_spec(name)
