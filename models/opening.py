"""What must hold before a service is asked for the first time: it can be reached, and a client for it can be opened.

Every problem is a UsageError: one sentence with the fix, before anything is spent.
"""

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..core.errors import UsageError
from ..core.ports import Model
from .spec import ModelSpec

UNREACHED = "is the server running, and is this its address?"
CONNECT_S = 2.0     # a first look only: a slower network is no error
TRIES = 2
BETWEEN_S = 0.5

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")


def address_of(spec: ModelSpec, base_url: str | None) -> str:
    """The URL of the service; "" where only its client knows it."""
    return base_url or spec.provider.home


def why_unreachable(error: BaseException | None) -> str:
    """Why no connection came about, from a client library's exception and its causes; "" where it is not known."""
    while error is not None:
        if isinstance(error, socket.gaierror):
            return "the name of its host cannot be resolved"
        if isinstance(error, ConnectionRefusedError):
            return "connection refused"
        if isinstance(error, OSError) and error.strerror:
            return error.strerror.lower()
        if "All connection attempts failed" in str(error) and error.__cause__ is None and error.__context__ is None:
            return "connection refused"
        error = error.__cause__ or error.__context__
    return ""


async def require_reachable(spec: ModelSpec, address: str) -> None:
    """Raise UsageError if nothing answers at the address of a service: nothing listens there, or no host has the name.

    Where a proxy stands in between, the proxy is what can be reached, and only the first request will show more.
    """
    url = urlsplit(address)
    if url.hostname is None or _proxy_for(address) is not None:
        return
    for again in range(TRIES):
        try:
            async with asyncio.timeout(CONNECT_S):
                _, writer = await asyncio.open_connection(url.hostname, url.port or _port(url.scheme))
        except TimeoutError:
            return
        except OSError as error:
            why = why_unreachable(error) or str(error)
        else:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            return
        if again + 1 < TRIES:
            await asyncio.sleep(BETWEEN_S)
    raise UsageError(unreachable(spec.name, address, why))


def unreachable(name: str, address: str, why: str) -> str:
    """The sentence about a service that was never reached."""
    return f"{name} could not be reached at {address} ({why}): {UNREACHED}"


def _port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


def _proxy_for(address: str) -> str | None:
    """The proxy that requests to this address would go through; None without one."""
    url = urlsplit(address)
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    return None if not proxy or proxy_bypass(url.hostname or "") else proxy


def refuse_proxy_to_itself(spec: ModelSpec, address: str, environ: Mapping[str, str] = os.environ) -> None:
    """Raise UsageError where requests to a server on this machine would go through a proxy, which has another one."""
    host = urlsplit(address).hostname or ""
    if not (host == "localhost" or host == "::1" or host.startswith("127.")) or _proxy_for(address) is None:
        return
    named = [f"{urlsplit(address).scheme}_proxy", "all_proxy"]
    variables = [form for name in named for form in (name.upper(), name) if environ.get(form)]
    raise UsageError(
        f"{variables[0] if variables else 'a proxy'} would send the requests for {spec.name} at {address} through a "
        f"proxy, though the server is on this machine: add the host to NO_PROXY, as in export NO_PROXY={host}"
    )


def not_opened(spec: ModelSpec, error: Exception, environ: Mapping[str, str] = os.environ) -> UsageError:
    """What opening a client raised, as a sentence with the fix."""
    for name in _CERTIFICATES:
        path = environ.get(name)
        if path and not Path(path).exists():
            return UsageError(
                f"the environment variable {name} names {path}, which does not exist: unset it, or name the "
                f"certificates that are there (no client for {spec.name} can be opened)"
            )
    given = {name: environ.get(name) or environ.get(name.lower(), "") for name in _PROXIES}
    proxies = ", ".join(f"{name}={without_user(value)}" for name, value in given.items() if value)
    kind = type(error).__name__
    if isinstance(error, ImportError) and "socks" in str(error).lower():
        return UsageError(
            f"{proxies}: a SOCKS proxy needs the package socksio, which is not installed: install it with "
            "pip install socksio into this environment, or unset the proxy for this command"
        )
    if isinstance(error, OSError) and (path := environ.get("SSL_CERT_FILE")):
        return UsageError(
            f"the environment variable SSL_CERT_FILE names {path}, which holds no certificates that can be read "
            f"({kind}: {error}): unset it, or name another file"
        )
    because = f"; these variables choose its proxy: {proxies}" if proxies else ""
    return UsageError(f"no client for {spec.name} can be opened ({kind}: {error}){because}: correct or unset them")


def without_user(url: str) -> str:
    """A URL of a proxy without its user and password."""
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.rpartition('@')[2]}" if mark else url.rpartition("@")[2]


async def open_model(model: Model) -> None:
    """Reach a model's service, and open its client, where it has one. Raises UsageError with the fix if this fails."""
    opener = getattr(model, "open", None)
    if opener is not None:
        await opener()


async def close_model(model: Model) -> None:
    """Close a model's sockets, if it has any."""
    closer = getattr(model, "close", None)
    if closer is not None:
        await closer()
