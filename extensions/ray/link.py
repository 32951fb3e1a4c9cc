"""The controller's hold on the gateway: starts it, sends requests, reads answers, ends it for sure."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlsplit

from ...core.errors import RolloutError, UsageError
from ...core.extras import require
from ...core.interpreters import module_command
from ...runtime.rollouts import worker_messages as messages
from ...runtime.rollouts.owned_process import OwnedProcess
from ...runtime.rollouts.worker_handle import worker_environment
from .about import About

GATEWAY: Final = "memento.extensions.ray.gateway"
AUTO: Final = "auto"
CLIENT: Final = "ray://"
REACH_S: Final = 5.0        # for something to listen at the address
CONNECT_S: Final = 45.0     # for Ray to connect
CONNECT_TRIES: Final = 3    # with a ray:// address the head starts a process for each client, which may fail once
SURVEY_S: Final = 90.0
SILENCE_S: Final = 60.0     # the gateway says something every second
CLOSE_S: Final = 8.0

_SETTINGS: Final = {        # of Ray in the gateway: no reports to its makers, no environment made from this one, and
    # a server for ray:// that keeps the actors of a killed gateway for seconds, not for half a minute
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "5",
    "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class NodeLost(Exception):
    """A node, or its host, ended or cannot be reached: ours, not the candidate's."""


class ClusterGone(Exception):
    """The gateway ended or fell silent: the cluster cannot be reached any more."""


class _HeadFailed(UsageError):
    """The head could not start its process for this client; it may succeed the next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFound:
    """A live node of the cluster. `free` CPUs are -1 where Ray does not say."""

    id: str
    address: str
    host: str
    cpus: int
    free: int

    @property
    def name(self) -> str:
        """For people: its host and address."""
        return f"{self.host} ({self.address})"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """A node, and what it says about itself; else why it says nothing."""

    node: NodeFound
    about: About | None
    why: str


def gateway_environment(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of the gateway: a worker's, which has no key of a model, and what Ray itself reads."""
    rays = {name: value for name, value in given.items() if name.startswith("RAY_")}
    return {**worker_environment(given), **rays, **_SETTINGS}


def require_cluster(address: str) -> None:
    """Raise UsageError for an address that no cluster can have, or if Ray is not installed."""
    require("cluster", "--cluster")
    if address == AUTO:
        return
    try:
        parts = urlsplit(address if "//" in address else f"//{address}")
        fits = bool(parts.hostname) and parts.port is not None and parts.scheme in ("", "ray") and not parts.path
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(f"--cluster cannot be {address!r}: it is auto, HOST:PORT, or ray://HOST:PORT")


class _GatewayProcess(OwnedProcess):
    """The gateway."""

    def send(self, message: Mapping[str, Any], blob: bytes) -> None:
        """Send one message. Raises ConnectionError."""
        self._writer.write(messages.pack(message, blob))

    async def drain(self) -> None:
        """Wait until the gateway takes more."""
        await self._writer.drain()

    async def read(self) -> tuple[messages.Message, bytes]:
        """The next message. Raises EOFError or ConnectionError if the gateway ended."""
        return await self._reader.read_with_blob()


class ClusterLink:
    """A connection to a cluster. An async context manager; leaving it ends the gateway, and Ray all that it started."""

    def __init__(self, address: str) -> None:
        require_cluster(address)
        self.address = address
        self.nodes: tuple[NodeFound, ...] = ()
        self.on_nodes: Callable[[], None] = lambda: None
        self.on_gone: Callable[[str], None] = lambda _: None
        self._process: _GatewayProcess | None = None
        self._listener: asyncio.Task[None] | None = None
        self._open: dict[int, asyncio.Future[tuple[messages.Message, bytes]]] = {}
        self._number = 0
        self._gone: str | None = None

    async def __aenter__(self) -> Self:
        """Connect. Raises UsageError if no cluster answers at the address."""
        await self._require_listener()
        for _ in range(CONNECT_TRIES - 1):
            with suppress(_HeadFailed):
                await self._connect()
                return self
        await self._connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the gateway."""
        await self._end()

    async def ask(self, request: Mapping[str, Any], blob: bytes = b"") -> tuple[messages.Message, bytes]:
        """One request and its answer; the caller sets a deadline. Raises NodeLost and ClusterGone."""
        if self._process is None or self._gone is not None:
            raise ClusterGone(self._gone or "the connection is closed")
        self._number += 1
        number = self._number
        future: asyncio.Future[tuple[messages.Message, bytes]] = asyncio.get_running_loop().create_future()
        self._open[number] = future
        try:
            self._process.send({**request, "number": number}, blob)
            await self._process.drain()
            answer, data = await future
        except ConnectionError as error:
            raise ClusterGone("the gateway ended") from error
        finally:
            self._open.pop(number, None)
        if "error" in answer:
            raise NodeLost(answer["error"])
        return answer, data

    async def survey(self) -> list[NodeReport]:
        """What every node says about itself. Raises RolloutError if the cluster does not answer."""
        try:
            async with asyncio.timeout(SURVEY_S):
                answer, _ = await self.ask({"do": "survey"})
        except (TimeoutError, ClusterGone, NodeLost) as error:
            raise RolloutError(f"the cluster at {self.address} did not describe its nodes: {error}") from error
        return [
            NodeReport(
                node=NodeFound(**{key: each[key] for key in ("id", "address", "host", "cpus", "free")}),
                about=None if each["about"] is None else About.of(each["about"]), why=each["why"],
            )
            for each in answer["nodes"]
        ]

    # --------------------------------------------------------------------------------- inside

    async def _connect(self) -> None:
        """Start a gateway and let it connect; it has ended if that fails."""
        self._gone = None
        try:
            self._process = await _GatewayProcess.spawn(module_command(GATEWAY), gateway_environment(os.environ))
        except OSError as error:
            raise RolloutError(f"the process for --cluster could not be made: {error}") from error
        try:
            self._listener = asyncio.create_task(self._listen(self._process))
            answer, _ = await self._connected(self._process)
        except BaseException:
            await self._end()
            raise
        self._take_nodes(answer["nodes"])

    async def _require_listener(self) -> None:
        """Raise UsageError at once if nothing listens at the address; Ray itself would try for a minute."""
        if self.address == AUTO:
            return
        parts = urlsplit(self.address if "//" in self.address else f"//{self.address}")
        try:
            async with asyncio.timeout(REACH_S):
                _, writer = await asyncio.open_connection(parts.hostname, parts.port, family=socket.AF_UNSPEC)
        except (OSError, TimeoutError) as error:
            reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else "it does not answer"
            raise UsageError(
                f"no Ray cluster at {self.address} ({reason}): start one with ray start --head, or correct --cluster"
            ) from error
        writer.close()

    async def _connected(self, process: _GatewayProcess) -> tuple[messages.Message, bytes]:
        try:
            async with asyncio.timeout(CONNECT_S):
                return await self.ask({"do": "connect", "address": self.address})
        except NodeLost as error:
            failed = _HeadFailed if "client server failed" in str(error) else UsageError
            raise failed(_refused(self.address, str(error))) from error
        except TimeoutError as error:
            raise UsageError(
                f"the Ray cluster at {self.address} did not answer within {CONNECT_S:g} s: is the port the head's, and "
                "is its token on this machine?"
            ) from error
        except ClusterGone as error:
            raise UsageError(
                f"the Ray cluster at {self.address} cannot be used: {await process.last_words()}"
            ) from error

    async def _listen(self, process: _GatewayProcess) -> None:
        reason = "the gateway ended"
        try:
            while True:
                silence_s = SILENCE_S if self.nodes else CONNECT_S + SILENCE_S
                async with asyncio.timeout(silence_s):
                    message, blob = await process.read()
                if "re" in message:
                    future = self._open.get(message["re"])
                    if future is not None and not future.done():
                        future.set_result((message, blob))
                else:
                    self._take_nodes(message["nodes"])
                    self.on_nodes()
        except TimeoutError:
            reason = f"the gateway said nothing for {SILENCE_S:g} s"
        except (EOFError, ConnectionError):
            pass
        finally:
            self._gone = reason
            for future in self._open.values():
                if not future.done():
                    future.set_exception(ClusterGone(reason))
        self.on_gone(reason)

    def _take_nodes(self, listed: list[dict[str, Any]]) -> None:
        self.nodes = tuple(NodeFound(**each) for each in listed)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await process.close()
        if self._listener is not None:
            self._listener.cancel()
            with suppress(asyncio.CancelledError):
                await self._listener


def _refused(address: str, said: str) -> str:
    """One sentence on why Ray does not connect."""
    if "ersion mismatch" in said:
        return f"the Ray cluster at {address} has other versions than this machine, install the same on both: {said}"
    if "ray[client]" in said:
        return f"--cluster {address} needs grpcio, which is not installed: pip install 'ray[client]'"
    if "client server failed" in said:
        return (
            f"the head of the Ray cluster at {address} could not start its part for this client, "
            f"{CONNECT_TRIES} times: see its log, or use the address without ray:// ({said})"
        )
    if address == AUTO:
        return f"--cluster auto finds no Ray cluster on this machine: start one with ray start --head ({said})"
    return (
        f"the Ray cluster at {address} refuses the connection: {said}; this machine needs the cluster's token, see "
        "docs/on-a-cluster.md"
    )
