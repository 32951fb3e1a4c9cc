"""A planted key comes back from the service in every way; it reaches no reply, exception, log or repr."""

import base64
import logging
import re
import traceback
from urllib.parse import quote

import pytest
from memento.core.errors import ModelError
from memento.models import close_model
from memento.models.redaction import quotable, without_keys

from ..support.services import Act, serving
from .asking import DIALECT, KEY, KINDS, ask, client

pytestmark = pytest.mark.quick


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


LONG = "sk-proj-A/b+c=4711-xyzzy-planted-99"
REPEATED = {
    "base64": base64.b64encode(LONG.encode()).decode(),
    "base64 after a word": base64.b64encode(f"Bearer {LONG}".encode()).decode(),
    "base64 in basic authorisation": base64.b64encode(f"me:{LONG}:x".encode()).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(f"a{LONG}".encode()).decode(),
    "URL-coded": quote(LONG, safe=""),
    "URL-coded in lower case": re.sub("%..", lambda found: found[0].lower(), quote(LONG, safe="")),
    "every letter URL-coded": "".join(f"%{byte:02x}" for byte in LONG.encode()),
    "hexadecimal": LONG.encode().hex(),
    "spelt out": " ".join(LONG),
    "on two lines": LONG[:20] + "\n" + LONG[20:],
    "without its end": LONG[:-4],
    "without its beginning": LONG[8:],
    "its first letters": LONG[:14] + "…",
}


@pytest.mark.parametrize("form", REPEATED)
def test_a_key_in_another_form_is_masked(form: str) -> None:
    said = without_keys(f"you sent {REPEATED[form]} to us", [LONG])
    assert "[key]" in said
    for piece in (LONG, REPEATED[form], LONG[:12], LONG[-12:]):
        assert piece not in said
        assert "".join(piece.split()) not in "".join(said.split())
    kept = max((part for part in said.replace("[key]", " ").split()), key=len, default="")
    assert len(kept) <= 16, "what is left holds no key"


def test_texts_like_programs_are_as_they_were() -> None:
    text = "def act(self):\n    return [0.0] * 7  # sk is short\n" * 2000
    assert without_keys(text, [LONG, KEY]) == text


@pytest.mark.parametrize("kind", KINDS)
async def test_no_control_character_of_a_service_is_in_an_error(kind: str) -> None:
    error = {"error": {"message": "\x1b]0;owned\x07\x1b[2Jno such model\x9b2J", "type": "invalid_request_error"}}
    async with serving(Act(status=400, error=error), dialect=DIALECT[kind]) as service:
        model = client(kind, service.url)
        with pytest.raises(ModelError, match="no such model") as caught:
            await model.complete(ask())
        await close_model(model)
    assert str(caught.value).isprintable()
