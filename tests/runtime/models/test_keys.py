"""A planted key comes back from the service in every way; it reaches no reply, exception, log or repr."""

import logging
import traceback

import pytest
from memento.core.errors import ModelError
from memento.runtime.models import close_model
from memento.runtime.models.keys import quotable, without_keys

from ...support.services import Act, serving
from .asking import DIALECT, KEY, KINDS, ask, client


def everything(error: BaseException) -> str:
    """Everything that could be printed of an exception: the texts, the causes, the locals of MEMENTO's frames."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=False)
    chain: list[BaseException] = []
    seen: BaseException | None = error
    while seen is not None:
        chain.append(seen)
        seen = seen.__cause__ or seen.__context__
    return "".join(trace.format(chain=True)) + "".join(f"{e!r}{e.args}{vars(e)}" for e in chain)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_key_in_errors_or_logs(kind: str, status: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with serving(Act(status=status, echo=True), dialect=DIALECT[kind]) as service:
            model = client(kind, service.url)
            with pytest.raises(ModelError) as caught:
                await model.complete(ask())
            printed = everything(caught.value) + repr(model) + repr(vars(model))
            await close_model(model)
    assert KEY in str(service.headers), "the key was sent"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert KEY not in printed
    assert KEY not in caplog.text


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_key_in_a_reply(kind: str, stream: bool) -> None:
    async with serving(Act(echo=True), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        reply = await model.complete(ask())
        await close_model(model)
    assert KEY not in repr(reply)
    assert "[key]" in reply.text


def test_texts_without_keys() -> None:
    assert without_keys("a secret and secret2", ["secret", "secret2", ""]) == "a [key] and [key]"
    assert quotable("Incorrect key sk-proj-****abcd,\n Bearer abc.def", []) == "Incorrect key [key], [key]"
    assert quotable("x" * 400, []) == "x" * 299 + "…"
