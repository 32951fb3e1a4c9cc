"""The process that speaks with a Ray cluster for the controller. It holds no key: its environment has none.

    python -m memento.extensions.ray.gateway CHANNEL_FD

Requests carry a number, answers repeat it as "re", with "error" if the request failed. Without being asked it sends
the list of the cluster's nodes every LIST_S. What a call says is bytes here, passed on as it is; when the controller
is gone, this process ends, and Ray ends its actors.
"""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from ...runtime.rollouts import sandbox
from ...runtime.rollouts import worker_messages as messages
from .node import BEAT_S, CLOSE_S, NodeHost, survey_node

LIST_S: Final = 1.0
PLACE_S: Final = 45.0       # for Ray to start a host
OPEN_S: Final = 90.0        # for a host to start its workers
SURVEY_S: Final = 60.0
SHUTDOWN_S: Final = 3.0
NAMESPACE: Final = "memento"
DEAD: Final = "The actor is dead because "     # what Ray says before the reason
CALLS_AT_ONCE: Final = 4    # per worker of a host: calls, withdrawals, beats

Answer = tuple[dict[str, Any], bytes]


class Gateway:
    """Carries out the controller's requests, any number at once."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = messages.MessageReader(reader)
        self._writer = writer
        self._hosts: dict[str, Any] = {}        # the actors, by node
        self._tasks: set[asyncio.Task[None]] = set()
        self._nodes: list[dict[str, Any]] = []

    async def serve(self) -> None:
        """Answer until the controller is gone."""
        try:
            while True:
                request, blob = await self._reader.read_with_blob()
                self._begin(self._answer(request, blob))
        except (EOFError, ConnectionError):
            return

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: dict[str, Any], blob: bytes) -> None:
        number = request.pop("number")
        try:
            answer, data = await self._done(request, blob)
        except Exception as error:  # noqa: BLE001 - whatever Ray raises is an answer to the controller
            answer, data = {"error": _said(error), "kind": type(error).__name__}, b""
        await self._send({**answer, "re": number}, data)

    async def _send(self, message: dict[str, Any], blob: bytes = b"") -> None:
        with suppress(ConnectionError):
            self._writer.write(messages.pack(message, blob))
            await self._writer.drain()

    async def _done(self, request: dict[str, Any], blob: bytes) -> Answer:
        match request["do"]:
            case "connect":
                return await self._connect(request["address"])
            case "survey":
                return {"nodes": await asyncio.gather(*(self._survey(node) for node in self._listed()))}, b""
            case "open":
                return await self._open(request["node"], int(request["workers"]), request["start"])
            case "call":
                answer: bytes = await self._hosts[request["node"]].call.remote(request["ticket"], blob)
                return {}, answer
            case "read":
                recording: bytes | None = await self._hosts[request["node"]].read.remote(request["key"])
                return {"absent": recording is None}, recording or b""
            case "withdraw":
                await self._hosts[request["node"]].withdraw.remote(request["ticket"])
            case "close":
                await self._close(request["node"])
        return {}, b""

    # ---------------------------------------------------------------------------------------- Ray

    async def _connect(self, address: str) -> Answer:
        options: dict[str, Any] = {"address": address, "namespace": NAMESPACE, "log_to_driver": False}
        if not address.startswith("ray://"):
            options["configure_logging"] = False
        await asyncio.to_thread(ray.init, **options)
        self._nodes = await asyncio.to_thread(_list_nodes)
        self._begin(self._list())
        self._begin(self._beat())
        return {"ray": ray.__version__, "nodes": self._nodes}, b""

    def _listed(self) -> list[dict[str, Any]]:
        return [*self._nodes]

    async def _list(self) -> None:
        while True:
            self._nodes = await asyncio.to_thread(_list_nodes)
            await self._send({"nodes": self._nodes})
            await asyncio.sleep(LIST_S)

    async def _beat(self) -> None:
        while True:
            for host in [*self._hosts.values()]:
                host.beat.remote()      # its answer, or its failure, is in the answers to calls
            await asyncio.sleep(BEAT_S)

    async def _survey(self, node: dict[str, Any]) -> dict[str, Any]:
        ask = ray.remote(survey_node).options(
            num_cpus=0, max_retries=0, scheduling_strategy=NodeAffinitySchedulingStrategy(node["id"], soft=False)
        )
        try:
            said = await _within(SURVEY_S, ask.remote())
        except Exception as error:  # noqa: BLE001 - reported for this node
            return {**node, "about": None, "why": _said(error)}
        return {**node, "about": json.loads(said), "why": ""}

    async def _open(self, node: str, workers: int, start: str) -> Answer:
        host = ray.remote(NodeHost).options(
            num_cpus=workers, max_restarts=0, max_task_retries=0, max_concurrency=CALLS_AT_ONCE * workers + 8,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False),
        ).remote(start)
        try:
            try:
                await _within(PLACE_S, host.beat.remote())
            except TimeoutError:
                ray.kill(host)
                return {"busy": True}, b""      # another run took the CPUs that were free
            self._hosts[node] = host        # it gets beats from now on
            said = await _within(OPEN_S, host.open.remote())
        except BaseException:
            self._hosts.pop(node, None)
            ray.kill(host)
            raise
        return json.loads(said), b""

    async def _close(self, node: str) -> None:
        host = self._hosts.pop(node, None)
        if host is None:
            return
        with suppress(Exception):       # it may be gone, with its node
            await _within(CLOSE_S + 1, host.close.remote())
        ray.kill(host)


async def _within(limit_s: float, reference: Awaitable[Any]) -> Any:
    async with asyncio.timeout(limit_s):
        return await reference


def _list_nodes() -> list[dict[str, Any]]:
    """The live nodes: id, address, host name, CPUs in all and those free; -1 if that is not known."""
    free = _free_cpus()
    return [
        {
            "id": node["NodeID"], "address": node["NodeManagerAddress"], "host": node["NodeManagerHostname"],
            "cpus": int(node["Resources"].get("CPU", 0)),
            "free": int(free.get(node["NodeID"], {}).get("CPU", 0)) if free is not None else -1,
        }
        for node in ray.nodes() if node["Alive"]
    ]


def _free_cpus() -> dict[str, Any] | None:
    """The free resources by node; None where Ray does not say, as through ray://."""
    try:
        found: dict[str, Any] = ray._private.state.available_resources_per_node()
    except Exception:   # noqa: BLE001 - not a public call of Ray
        return None
    return found


def _said(error: BaseException) -> str:
    """What an error of Ray says, on one line: the last line of a remote traceback is the reason."""
    text = str(error)
    if DEAD in text:
        return "its process died: " + " ".join(text.partition(DEAD)[2].partition("Some common causes")[0].split())[:300]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return "it took too long" if isinstance(error, TimeoutError) else type(error).__name__
    return " ".join((lines[-1] if "Traceback" in text else " ".join(lines)).split())[:600]


async def _main(channel: socket.socket, ended: Callable[[], None]) -> None:
    reader, writer = await asyncio.open_connection(sock=channel)
    await Gateway(reader, writer).serve()
    with suppress(Exception):
        await _within(SHUTDOWN_S, asyncio.to_thread(ray.shutdown))
    ended()


def main() -> None:
    """Serve the controller at the other end of the channel until it is gone."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    sandbox.die_with_parent()
    if f"for-{os.getppid()}" != sys.argv[2]:
        return      # the controller died before this process could register to die with it
    asyncio.run(_main(channel, ended=lambda: os._exit(0)))


if __name__ == "__main__":
    main()
