"""A service that redirects: neither the key nor the prompt reaches the other host."""

import pytest
from memento.core.errors import ModelError
from memento.models import close_model

from ..support.services import Act, serving
from .asking import DIALECT, KINDS, ask, client


@pytest.mark.slow
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", KINDS)
async def test_no_redirect_is_followed(kind: str, stream: bool, status: int) -> None:
    async with serving(dialect=DIALECT[kind]) as other:
        there = Act(status=status, headers={"Location": f"{other.url.replace('127.0.0.1', 'localhost')}/elsewhere"})
        direct = Act(status=status, headers={"Location": other.url + path_of(kind)})
        for act in (there, direct):
            async with serving(act, dialect=DIALECT[kind]) as service:
                model = client(kind, service.url, stream=stream)
                with pytest.raises(ModelError, match=f"redirects to another address .HTTP {status}") as caught:
                    await model.complete(ask())
                await close_model(model)
            assert caught.value.fatal
            assert len(service.asked) == 1, "it is not asked again"
    assert other.asked == []
    assert other.headers == []


def path_of(kind: str) -> str:
    return {"openai": "/responses", "anthropic": "/v1/messages"}.get(kind, "/chat/completions")
