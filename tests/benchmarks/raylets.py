"""A Ray cluster on this machine: every node is a `ray start` with a separate address in the loopback network."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Self

from .processes import GONE_S, left_of, levels

TOKEN = "5eed" * 16
CLIENTS: Mapping[str, str] = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN}    # what a controller needs
STORE_BYTES = 100 << 20
START_S = 90.0
OURS = re.compile(rb"ray::NodeHost|memento\.runtime\.rollouts|from memento\.runtime\.rollouts")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class RayCluster:
    """Nodes by address; the first is the head. Leaving it kills every process of every node.

    Its nodes have a separate environment: nothing of this process's but the folders `on_path` for imports.
    """

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp")))
    on_path: tuple[Path, ...] = ()
    port: int = field(default_factory=_free_port)
    client_port: int = field(default_factory=_free_port)
    nodes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """For --cluster."""
        return f"127.0.0.2:{self.port}"

    @property
    def client_address(self) -> str:
        """For --cluster through Ray's client server."""
        return f"ray://127.0.0.2:{self.client_port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a node is started with."""
        path = {"PYTHONPATH": ":".join(map(str, self.on_path))} if self.on_path else {}
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(self.folder), "LANG": "C.UTF-8",
            "TMPDIR": str(self.folder), "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            **CLIENTS, **path,
        }

    def start(self, cpus: int = 1) -> str:
        """Start the next node. Returns its address; `wait` waits until it lives. The cluster may learn of it later."""
        host = next(address for number in count(2) if (address := f"127.0.0.{number}") not in self.nodes)
        # Short paths: Ray's sockets are below.
        where = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        if find_spec("grpc") is not None:
            where.append(f"--ray-client-server-port={self.client_port}")
        if self.nodes:
            where = [f"--address={self.address}"]
            self._wait_for_head()
        with (self.folder / f"{host}.log").open("wb") as said:
            self.nodes[host] = subprocess.Popen(
                [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block", *where,
                 f"--node-ip-address={host}", f"--num-cpus={cpus}", f"--object-store-memory={STORE_BYTES}"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True, cwd=self.folder,
            )
        return host

    def _wait_for_head(self) -> None:
        deadline = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.2", self.port), 1).close()
                return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise TimeoutError(self._said("127.0.0.2")) from error
                time.sleep(0.05)

    def wait(self, host: str) -> None:
        """Until `ray start` says that the node runs. Raises TimeoutError."""
        deadline = time.monotonic() + START_S
        while "Ray runtime started" not in self._said(host):
            if self.nodes[host].poll() is not None or time.monotonic() > deadline:
                raise TimeoutError(self._said(host))
            time.sleep(0.05)

    def grow(self, cpus: int = 1) -> str:
        """Start a node and wait until it runs; once more if Ray does not start it in its 30 s. Raises TimeoutError."""
        host = self.start(cpus)
        try:
            self.wait(host)
        except TimeoutError:
            self.kill(host)
            self.wait(host := self.start(cpus))
        return host

    def _said(self, host: str) -> str:
        return (self.folder / f"{host}.log").read_text(errors="replace")

    def processes(self, host: str) -> set[int]:
        """Every process of a node."""
        return {self.nodes[host].pid, *(pid for level in levels(self.nodes[host].pid) for pid in level)}

    def ours(self) -> dict[int, str]:
        """The processes on the nodes that a run started, and their commands: hosts, workers, programs."""
        found = {}
        for host in self.nodes:
            for pid in self.processes(host):
                command = command_of(pid)
                if OURS.search(command):
                    found[pid] = command.replace(b"\0", b" ").decode(errors="replace")[:80]
        return found

    def raylet(self, host: str) -> int | None:
        """The process of the node's raylet; None if it has ended."""
        return next((pid for pid in self.processes(host) if b"/raylet/raylet\0" in command_of(pid)), None)

    def kill(self, host: str) -> set[int]:
        """End a node as a failure of its machine does: all its processes at once, without warning.

        Returns those that are still alive after a time.
        """
        doomed = self.processes(host)
        _kill(doomed)
        self.nodes.pop(host).wait(20)
        return left_of(doomed)

    def kill_raylet(self, host: str) -> set[int]:
        """Kill a node's raylet alone; the node's other processes must end. Returns those that do not, and ends them."""
        doomed, raylet = self.processes(host), self.raylet(host)
        if raylet is None:
            return self.kill(host)
        _kill([raylet])
        left = left_of(doomed - {self.nodes[host].pid}, within_s=2 * GONE_S)
        _kill(self.processes(host) | left)
        self.nodes.pop(host).wait(20)
        return left

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for host in [*self.nodes][::-1]:
            self.kill(host)
        shutil.rmtree(self.folder, ignore_errors=True)


def command_of(pid: int) -> bytes:
    """The arguments of a process, each with a zero byte; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
