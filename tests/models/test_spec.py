"""The valid names of models, and the messages for anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import UsageError
from memento.core.ports import Ask, Reply
from memento.models import make_model
from memento.models.call_limits import CallLimits, Gate
from memento.models.fallback import FallbackModel
from memento.models.prices import Price, require_prices
from memento.models.requests import Sampling
from memento.models.spec import ModelSpec, parse_spec, parse_specs


class Offline:
    name = "offline"

    async def complete(self, ask: Ask) -> Reply:
        return Reply(text="", model=self.name)


@pytest.mark.parametrize(
    ("text", "spec", "name", "key"),
    [
        ("openai:gpt-5.2", ModelSpec(scheme="openai", model="gpt-5.2"), "openai:gpt-5.2", "OPENAI_API_KEY"),
        ("openai-chat:o4", ModelSpec(scheme="openai-chat", model="o4"), "openai-chat:o4", "OPENAI_API_KEY"),
        (
            " anthropic:claude-sonnet-5 ",
            ModelSpec(scheme="anthropic", model="claude-sonnet-5"), "anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY",
        ),
        (
            "compatible:my-lab@http://127.0.0.1:8000/v1/#Qwen/qwen3:8b",
            ModelSpec(scheme="compatible", model="Qwen/qwen3:8b", label="my-lab", base_url="http://127.0.0.1:8000/v1"),
            "my-lab:Qwen/qwen3:8b", "MY_LAB_API_KEY",
        ),
        ("offline", ModelSpec(scheme="offline", model=""), "offline", None),
    ],
)
def test_forms(text: str, spec: ModelSpec, name: str, key: str | None) -> None:
    assert parse_spec(text) == spec
    assert (spec.name, spec.key_variable) == (name, key)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("opnai:gpt-5.2", "did you mean 'openai:gpt-5.2'?"),
        ("antropic:claude", "did you mean 'anthropic:claude'?"),
        ("gpt-5.2", "did you mean 'openai:gpt-5.2'?"),
        ("claude-sonnet-5", "did you mean 'anthropic:claude-sonnet-5'?"),
        ("ofline", "did you mean 'offline'?"),
        ("zzz", "is one of offline, ask, openai:NAME, openai-chat:NAME, anthropic:NAME, compatible:LABEL@URL#MODEL"),
        ("openai:", "names no model: write openai:NAME"),
        ("", "unknown model"),
        ("offline:x", "unknown model"),
        ("compatible:lab", "is not of the form compatible:LABEL@URL#MODEL"),
        ("compatible:lab@http://h/v1", "is not of the form"),
        ("compatible:openai@http://h/v1#m", "no other service's key is sent there"),
        ("compatible:@http://h/v1#m", "cannot be the LABEL"),
        ("compatible:lab@ftp://h/v1#m", "must be http://HOST"),
        ("compatible:lab@http:///v1#m", "must be http://HOST"),
        ("compatible:lab@http://h:99999/v1#m", "must be http://HOST"),
        ("compatible:lab@http://me:secret@h/v1#m", "put the key in LAB_API_KEY"),
        ("compatible:lab@http://h/v1?key=secret#m", "put the key in LAB_API_KEY"),
        ("openrouter:qwen/q", "'compatible:openrouter@https://openrouter.ai/api/v1#qwen/q'"),
        ("ollama_chat:qwen3:8b", "'compatible:ollama-chat@http://localhost:11434/v1#qwen3:8b'"),
        ("compatible:az@https://me:secret@x/openai/deployments/d?api-version=1#d", "'compatible:az@https://x/openai/v1#d'"),
        ("compatible:lab@http://me:secret@h/v1/chat/completions#m", "write 'compatible:lab@http://h/v1#m'"),
        ("compatble:lab@http://me:secret@h/v1#m", "unknown model"),
    ],
)
def test_unknown_models_are_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_spec(text)
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


@given(st.text(max_size=40))
def test_any_text_is_a_model_or_a_usage_error(text: str) -> None:
    try:
        spec = parse_spec(text)
    except UsageError as error:
        assert str(error)
    else:
        assert spec.name


@given(st.lists(st.sampled_from(["offline", "openai:a,b", "anthropic:c", "compatible:l@http://h/v1#m"]), min_size=1))
def test_several_in_turn(texts: list[str]) -> None:
    assert parse_specs(",".join(texts)) == tuple(parse_spec(text) for text in texts)


@pytest.mark.parametrize("variable", ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"])
def test_a_missing_key_is_named_before_anything_is_spent(variable: str) -> None:
    text = "openai:gpt-5.2" if variable.startswith("OPENAI") else "anthropic:claude-sonnet-5"
    for environ in ({}, {variable: "  "}):
        with pytest.raises(UsageError, match=f"needs a key in the environment variable {variable}"):
            make_model(text, environ=environ)
    with pytest.raises(UsageError, match=f"{variable} contains characters") as caught:
        make_model(text, environ={variable: "sk-\u200bhidden"})
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("url", ["localhost:8000", "http://", "http://me:secret@host/v1", "http://host:x/v1"])
def test_a_url_in_the_environment_is_checked(url: str) -> None:
    with pytest.raises(UsageError, match="the URL in the environment variable OPENAI_BASE_URL must") as caught:
        make_model("openai:gpt-5.2", environ={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url})
    assert "secret" not in str(caught.value)


def test_offline_needs_the_domains_own() -> None:
    offline = Offline()
    assert make_model("offline", environ={}, offline=offline) is offline
    with pytest.raises(UsageError, match="cannot be used here"):
        make_model("offline", environ={})
    several = make_model("openai:gpt-5.2,offline", environ={"OPENAI_API_KEY": "k"}, offline=offline)
    assert isinstance(several, FallbackModel)
    assert several.name == "openai:gpt-5.2,offline"


def test_prices_are_required_at_the_start() -> None:
    local = parse_spec("compatible:lab@http://h/v1#qwen")
    require_prices([parse_spec("openai:gpt-5.2"), parse_spec("anthropic:claude-sonnet-5"), parse_spec("offline")], {})
    for spec in (local, parse_spec("openai:no-such-model")):
        with pytest.raises(UsageError, match=f"the price of '{spec.name}' is not known"):
            require_prices([spec], {})
        require_prices([spec], {spec.name: Price(input_usd_per_mtok=0, output_usd_per_mtok=0)})


@pytest.mark.parametrize(
    "make",
    [
        lambda: Price(input_usd_per_mtok=-1, output_usd_per_mtok=0),
        lambda: Price(input_usd_per_mtok=0, output_usd_per_mtok=float("nan")),
        lambda: Sampling(temperature=3),
        lambda: Sampling(max_output_tokens=0),
        lambda: CallLimits(attempts=0),
        lambda: CallLimits(total_s=0),
        lambda: Gate(0),
    ],
)
def test_settings_that_cannot_be(make) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError):
        make()
