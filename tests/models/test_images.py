"""Pictures reach every kind of service as it wants them, after the prompt and unchanged."""

import base64
from dataclasses import replace
from typing import Any

import pytest
from memento.core.errors import ModelError
from memento.core.events import Order
from memento.core.ports import Ask, ImageFile
from memento.models import close_model
from memento.models.fallback import FallbackModel
from memento.models.spec import parse_spec, reads_text_alone

from ..support.services import Act, serving
from .asking import DIALECT, KINDS, client

FIRST, SECOND = b"\xff\xd8\xff\xe0 first", b"\xff\xd8\xff\xe0 second"
PROMPT = "What went wrong?\n" * 400
ASK = Ask(
    order=Order(id="g1/hill/0/look2"), attempt=0, role="critic", prompt=PROMPT, prefixes=(5_000,),
    images=(ImageFile(data=FIRST), ImageFile(data=SECOND, media_type="image/png")),
)


def pictures_in(kind: str, content: list[dict[str, Any]]) -> list[tuple[str, bytes]]:
    """The media types and the bytes of the pictures in a message, which come after its texts."""
    texts = [part.get("text") for part in content]
    assert "".join(text or "" for text in texts) == PROMPT
    pictures = [part for part in content if part.get("text") is None]
    assert content[-len(pictures) :] == pictures
    if kind == "anthropic":
        sources = [part["source"] for part in pictures if part["type"] == "image"]
        return [(each["media_type"], base64.b64decode(each["data"])) for each in sources]
    urls = [part["image_url"]["url"] if kind != "openai" else part["image_url"] for part in pictures]
    found = []
    for url in urls:
        head, _, data = url.partition(";base64,")
        found.append((head.removeprefix("data:"), base64.b64decode(data)))
    return found


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_pictures_arrive_after_the_prompt(kind: str, stream: bool) -> None:
    async with serving(Act(text="It fell."), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        reply = await model.complete(ASK)
        await close_model(model)
    assert (reply.text, reply.stop, reply.usage.input_tokens) == ("It fell.", "end", 11)
    [message] = service.asked[0]["input" if kind == "openai" else "messages"]
    assert message["role"] == "user"
    assert pictures_in(kind, message["content"]) == [("image/jpeg", FIRST), ("image/png", SECOND)]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_service_that_takes_no_pictures_is_one_sentence(kind: str) -> None:
    refusal = Act(status=400, error={"error": {"message": "image input is not supported", "type": "invalid"}})
    async with serving(refusal, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url)
        with pytest.raises(ModelError, match=r"image input is not supported \(the question had a picture\)") as raised:
            await model.complete(ASK)
        await close_model(model)
    assert raised.value.fatal and raised.value.of_pictures and len(service.asked) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_a_refused_key_is_no_matter_of_pictures(kind: str) -> None:
    async with serving(Act(status=401, error={"error": {"message": "no", "type": "x"}}), dialect=DIALECT[kind]) as here:
        model = client(kind, here.url)
        with pytest.raises(ModelError, match="refused the key") as raised:
            await model.complete(ASK)
        await close_model(model)
    assert raised.value.fatal and not raised.value.of_pictures


async def test_a_model_that_takes_no_pictures_still_answers_questions_without_one() -> None:
    refusal = Act(status=400, error={"error": {"message": "image input is not supported", "type": "invalid"}})
    async with serving(refusal, Act(text="Yes."), dialect="anthropic") as service:
        model = FallbackModel([client("anthropic", service.url)])
        with pytest.raises(ModelError) as raised:
            await model.complete(ASK)
        reply = await model.complete(replace(ASK, images=()))
        await model.close()
    assert raised.value.of_pictures and reply.text == "Yes."


@pytest.mark.parametrize(
    ("name", "blind"),
    [
        ("openai:gpt-3.5-turbo", True), ("openai-chat:gpt-4", True), ("openai:gpt-4-0613", True),
        ("openai:o3-mini", True), ("openai:o1-mini-2024-09-12", True), ("anthropic:claude-2.1", True),
        ("openai:gpt-4o", False), ("openai:gpt-4-turbo", False), ("openai:gpt-4.1-mini", False),
        ("openai:o3", False), ("openai:gpt-5.2", False), ("anthropic:claude-sonnet-5", False),
        ("compatible:lab@http://localhost:1/v1#gpt-4", False),
    ],
)
def test_models_that_are_known_to_read_text_alone(name: str, blind: bool) -> None:
    assert reads_text_alone(parse_spec(name)) is blind
