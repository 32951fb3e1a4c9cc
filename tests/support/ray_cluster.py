"""A Ray cluster on this machine: every node is a `ray start` with its own address in the loopback network.

The nodes have a separate environment, with nothing of the test's but the folder of toy modules.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from . import ON_PATH
from .processes import members_of, wait_until_gone

TOKEN = "5eed" * 16
STORE_BYTES = 100 << 20
START_S = 90.0
needs_ray = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: the extra `cluster`")


def node_environment(folder: Path) -> dict[str, str]:
    """What a node is started with."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8",
        "TMPDIR": str(folder), "PYTHONPATH": str(ON_PATH),
        "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": TOKEN, "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class RayCluster:
    """Nodes by address; the first is the head. Leaving it kills every process of every node."""

    folder: Path
    port: int = field(default_factory=free_port)
    client_port: int = field(default_factory=free_port)
    nodes: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"127.0.0.2:{self.port}"

    def start(self, cpus: int = 1) -> str:
        """Start the next node. Returns its address when its raylet lives; the cluster may learn of it later."""
        host = f"127.0.0.{2 + len(self.nodes)}"
        # Short paths: Ray's sockets are below.
        where = ["--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={self.folder}"]
        if find_spec("grpc") is not None:
            where.append(f"--ray-client-server-port={self.client_port}")
        if self.nodes:
            where = [f"--address={self.address}"]
            self.wait_for_head()
        with (self.folder / f"{host}.log").open("wb") as said:
            self.nodes[host] = subprocess.Popen(
                [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block", *where,
                 f"--node-ip-address={host}", f"--num-cpus={cpus}", f"--object-store-memory={STORE_BYTES}"],
                env=node_environment(self.folder), stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                start_new_session=True, cwd=self.folder,
            )
        return host

    def wait_for_head(self) -> None:
        """Until the head listens."""
        deadline = time.monotonic() + START_S
        while True:
            try:
                socket.create_connection(("127.0.0.2", self.port), 1).close()
                return
            except OSError:
                assert time.monotonic() < deadline, (self.folder / "127.0.0.2.log").read_text(errors="replace")
                time.sleep(0.05)

    def wait(self, host: str) -> None:
        """Until `ray start` says that the node runs."""
        log, deadline = self.folder / f"{host}.log", time.monotonic() + START_S
        while b"Ray runtime started" not in log.read_bytes():
            assert self.nodes[host].poll() is None and time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.05)

    def processes(self, host: str) -> set[int]:
        """Every process of a node."""
        return {self.nodes[host].pid, *members_of(self.nodes[host].pid)}

    def raylet(self, host: str) -> int:
        """The process of the node's raylet."""
        return next(
            pid for pid in self.processes(host)
            if b"/raylet/raylet\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )

    def kill(self, host: str) -> None:
        """End a node as a failure of its machine does: all its processes at once, without warning."""
        doomed = self.processes(host)
        for pid in doomed:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.nodes.pop(host).wait(20)
        wait_until_gone(doomed)

    def __enter__(self) -> "RayCluster":
        return self

    def __exit__(self, *_: object) -> None:
        for host in [*self.nodes][::-1]:
            self.kill(host)
        shutil.rmtree(self.folder, ignore_errors=True)


def new_cluster() -> RayCluster:
    return RayCluster(Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp")))
