"""`memento models --check`: what is said of a model that answers, of one that is odd, and of none at all."""

import json
import time
from pathlib import Path

import pytest
from aiohttp import web
from memento.cli import exit_code
from memento.core.errors import ModelError, UsageError
from memento.models.checking import check

from ..support.services import Act, serving
from .asking import KEY

A = '{"reason": "it is the first letter", "choice": "A"}'
LAB = {"LAB_API_KEY": KEY}


def words_of(found) -> dict[str, str]:
    return dict(found.words())


async def test_a_server_that_answers(tmp_path: Path) -> None:
    call = (("submit", json.dumps({"summary": "ready"})),)
    async with serving(Act(text=A), Act(text="", calls=call), dialect="openai-chat") as service:
        (found,) = await check(f"compatible:lab@{service.url}#qwen3:8b", environ=LAB)
    said = words_of(found)
    assert (found.name, found.where) == ("lab:qwen3:8b", service.url)
    assert said["key"] == "LAB_API_KEY, accepted" and said["votes"] == "structured"
    assert said["tools"] == "its own work, with sampling.tools = 'native'; else as text"
    assert " tokens in, " in said["answer"] and said["price"] == "unknown"
    assert said["context"] == "the service does not say"
    assert len(service.asked) == 2 and KEY not in repr(found)


async def test_a_server_that_refuses_structure_and_tools_and_votes_wrong() -> None:
    refusal = {"error": {"message": "'response_format.type' must be 'json_schema' or 'text'"}}
    no_tools = {"error": {"message": "this model does not support tools"}}
    acts = (
        Act(status=400, error=refusal, refuses="response_format"), Act(text="I like B", usage=False),
        Act(status=400, error=no_tools, refuses="tools"), Act(text="submit"),
    )
    async with serving(*acts, dialect="openai-chat") as service:
        (found,) = await check(f"compatible:lab@{service.url}#m", environ={})
    said = words_of(found)
    assert said["key"] == "LAB_API_KEY, not set, and not needed"
    assert said["votes"].startswith("in plain words, since it refuses") and "'I like B'" in said["votes"]
    assert said["tools"] == "as text in the prompt, since it refuses its own"
    assert "it reports no tokens" in said["answer"]


async def test_a_listed_model_has_its_price_and_its_context() -> None:
    async with serving(Act(text=A), Act(text="ready"), dialect="openai") as service:
        environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": service.url}
        (found,) = await check("openai:gpt-5.2", environ=environ)
    said = words_of(found)
    assert said["price"] == "$1.75 for a million tokens in, $14.00 out, as listed"
    assert said["context"] == "400,000 tokens, as listed" and said["votes"] == "structured"
    assert said["tools"] == "as text in the prompt, since it did not call its own"


async def test_a_service_that_lists_its_models_says_their_context() -> None:
    async def listing(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "other"}, {"id": "m", "max_model_len": 32768}]})

    async def answer(request: web.Request) -> web.Response:
        return web.json_response({"choices": [{"message": {"content": A}, "finish_reason": "stop"}]})

    app = web.Application()
    app.router.add_get("/v1/models", listing)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        (found,) = await check(f"compatible:lab@http://127.0.0.1:{runner.addresses[0][1]}/v1#m", environ={})
    finally:
        await runner.cleanup()
    assert words_of(found)["context"] == "32,768 tokens, says the service"


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1", "http://no-such-host.invalid/v1"])
async def test_an_address_where_nobody_is_is_an_error_at_once(address: str) -> None:
    began_cpu_s, began_s = time.process_time(), time.monotonic()
    with pytest.raises(UsageError, match=r"is the server running, and is this its address\?") as raised:
        await check(f"compatible:lab@{address}#m", environ={})
    assert address in str(raised.value)
    assert time.process_time() - began_cpu_s < 2 and time.monotonic() - began_s < 30     # with room for a busy machine


async def test_a_refused_key_and_a_missing_one() -> None:
    refusal = {"error": {"message": "bad key"}}
    async with serving(Act(status=401, error=refusal), dialect="openai-chat") as service:
        with pytest.raises(ModelError, match=r"refused the key \(HTTP 401\)"):
            await check(f"compatible:lab@{service.url}#m", environ=LAB)
    with pytest.raises(UsageError, match="needs a key in the environment variable OPENAI_API_KEY"):
        await check("openai:gpt-5.2", environ={})
    with pytest.raises(UsageError, match="'offline' is no service"):
        await check("offline")


async def test_a_program_is_asked_as_well(tmp_path: Path) -> None:
    file = tmp_path / "answer.sh"
    file.write_text(f"#!/bin/sh\necho '{A}'\n")
    file.chmod(0o700)
    (found,) = await check(f"command:{file}")
    said = words_of(found)
    assert said["votes"] == "in plain words" and said["key"] == "none: the program has your environment"


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answer.sh"
    file.write_text(f"#!/bin/sh\necho '{A}'\n")
    file.chmod(0o700)
    assert exit_code(["models", "--check", f"command:{file}"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"command:{file}\n  reachable") and "votes" in printed
    assert exit_code(["models", "--check", "compatible:lab@http://127.0.0.1:9/v1#m"]) == 2
    assert "http://127.0.0.1:9/v1 (connection refused)" in capsys.readouterr().err
