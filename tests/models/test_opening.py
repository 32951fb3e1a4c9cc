"""What a client cannot be opened with, and services that are not there: one sentence with the fix, at once."""

import time
from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.models import close_model, make_model, open_model

from ..support.services import serving
from .asking import KEY

pytestmark = pytest.mark.quick


async def refusal(text: str) -> str:
    model = make_model(text, environ={"OPENAI_API_KEY": KEY, "LAB_API_KEY": KEY})
    with pytest.raises(UsageError) as caught:
        await open_model(model)
    await close_model(model)
    assert KEY not in str(caught.value)
    return str(caught.value)


async def test_a_server_that_does_not_run_is_named_with_its_address_within_seconds() -> None:
    async with serving(dialect="openai-chat") as service:
        pass
    began = time.monotonic()
    says = await refusal(f"compatible:lab@{service.url}#m")
    assert f"could not be reached at {service.url} (connection refused): is the server running" in says
    assert time.monotonic() - began < 10, "it waits half a second; the rest is a busy machine"


async def test_a_name_that_cannot_be_resolved_is_named() -> None:
    says = await refusal("compatible:lab@http://nobody.invalid/v1#m")
    assert "http://nobody.invalid/v1 (the name of its host cannot be resolved)" in says


async def test_one_of_several_models_may_be_away() -> None:
    async with serving(dialect="openai-chat") as gone:
        pass
    async with serving(dialect="openai-chat") as service:
        model = make_model(f"compatible:gone@{gone.url}#m,compatible:lab@{service.url}#m", environ={})
        await open_model(model)
        await close_model(model)
    assert "gone:m" in await refusal(f"compatible:gone@{gone.url}#m,compatible:lab@{gone.url}#m")


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"HTTP_PROXY": "http://proxy.invalid:3128"}, "HTTP_PROXY would send the requests"),
        ({"all_proxy": "http://me:secret@proxy.invalid:3128"}, "all_proxy would send the requests"),
        ({"ALL_PROXY": "socks5://127.0.0.1:1080", "NO_PROXY": "127.0.0.1"}, "needs the package socksio"),
        ({"HTTPS_PROXY": "nonsense://me:secret@proxy.invalid", "NO_PROXY": "127.0.0.1"}, "HTTPS_PROXY=nonsense://proxy"),
        ({"SSL_CERT_FILE": "/gone/cacert.pem"}, "SSL_CERT_FILE names /gone/cacert.pem, which does not exist"),
    ],
    ids=["a proxy for this machine", "any proxy", "no SOCKS", "an unknown proxy", "no certificates"],
)
async def test_what_opening_a_client_raises(
    variables: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    async with serving(dialect="openai-chat") as service:
        found = await refusal(f"compatible:lab@{service.url}#m")
    assert says in found
    assert "secret" not in found


async def test_a_file_without_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "empty.pem"
    file.write_text("no certificate\n")
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    async with serving(dialect="openai-chat") as service:
        assert f"SSL_CERT_FILE names {file}" in await refusal(f"compatible:lab@{service.url}#m")
