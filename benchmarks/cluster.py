"""The dispatcher of a cluster's pool with fake nodes: share of the ideal rate, the controller's work per episode.

    python -m memento.benchmarks.cluster [--nodes 64 256] [--slots 16] [--episode-s 1] [--seconds 15] [--folder DIR]
        [--stay]

The pool is the real one. Its connection is a fake: a call of an episode ends after its time, and the answer is that of
a real episode in size. So it measures what the controller's process does: to dispatch, to unpack, and to write every
recording to the disk of --folder; a folder in memory, such as /dev/shm, leaves the disk out. With --stay recordings
stay on the nodes, as those of candidates do. What the gateway and Ray do runs in other processes and is not measured.
On a busy machine the CPU time per episode is the figure to trust.
"""

import argparse
import asyncio
import json
import logging
import tempfile
import time
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import structlog

from ..core.errors import MementoError
from ..core.ports import RollTask
from ..core.recording import Recording
from ..core.recording_file import save_recording, trajectory_key
from ..core.values import JSON, Episode, Program
from ..extensions.ray.about import about_here
from ..extensions.ray.link import ClusterLink, NodeFound
from ..extensions.ray.pool import ClusterPool
from ..extensions.ray.wire import pack_call, unpack_call
from ..runtime.rollouts import worker_messages as messages

STEPS = 200         # of an episode
WIDTH = 30          # numbers per step of its recording
POLICY = Program("class FrankaPolicy:\n    def compute_action(self, obs):\n        return [0.0]\n" * 20)


class FakeLink(ClusterLink):
    """A connection to nodes that do not exist."""

    def __init__(self, nodes: int, slots: int, episode_s: float, recording: bytes) -> None:
        self.address = "fake"
        self.nodes = tuple(
            NodeFound(id=f"node{number}", address=f"10.0.0.{number}", host="fake", cpus=slots, free=slots)
            for number in range(nodes)
        )
        self.on_nodes = lambda: None
        self.on_gone = lambda _: None
        self.calls = 0
        self._episode_s = episode_s
        self._recording = recording
        self._about = about_here().as_json()

    async def ask(self, request: Mapping[str, Any], blob: bytes = b"") -> tuple[messages.Message, bytes]:
        """Answer as a gateway does."""
        match request["do"]:
            case "open":
                return {"about": self._about, "calibration": "same"}, b""
            case "call":
                await asyncio.sleep(self._episode_s)
                self.calls += 1
                return {}, self._answer(blob)
        return {}, b""

    def _answer(self, blob: bytes) -> bytes:
        message, _, _ = unpack_call(blob)
        task = message["task"]
        key = trajectory_key(task["order"])
        episode = Episode(
            index=task["index"], seed=task["seed"], steps=STEPS, ended_by="horizon", success=False, trajectory=key
        )
        files = {key: self._recording} if message["send"] else {}
        return pack_call({"done": messages.episode_message(episode), "made": [key]}, None, files)


def measure(
    *, nodes: int = 64, slots: int = 16, episode_s: float = 1.0, seconds: float = 15.0, folder: Path | None = None,
    stay: bool = False,
) -> dict[str, JSON]:
    """Episodes per second and the controller's CPU time per episode, while every slot is kept busy."""
    with tempfile.TemporaryDirectory(prefix="memento-bench-", dir=folder) as made:
        recording = _recording(Path(made) / "sample.npz")
        link = FakeLink(nodes, slots, episode_s, recording)
        return asyncio.run(_measure(link, Path(made) / "trajectories", episode_s, seconds, stay=stay))


async def _measure(
    link: FakeLink, folder: Path, episode_s: float, seconds: float, *, stay: bool
) -> dict[str, JSON]:
    numbers, done, latencies = count(), 0, []
    async with ClusterPool(
        link, domain="fake", splits={"search": {}}, trajectories=folder, stays=lambda _: stay
    ) as pool:
        slots = pool.slots

        async def keep_busy() -> None:
            nonlocal done
            while True:
                number, begun = next(numbers), time.perf_counter()
                # few names, so that the folder stays small
                await pool.roll(RollTask(
                    order=f"bench/e{number % (2 * slots)}", program=POLICY, split="search", index=0, seed=number
                ))
                latencies.append(time.perf_counter() - begun)
                done += 1

        tasks = [asyncio.create_task(keep_busy()) for _ in range(slots)]
        await asyncio.sleep(2 * episode_s)      # all slots are busy, and out of step
        before, cpu_s, begun = done, time.process_time(), time.perf_counter()
        latencies.clear()
        await asyncio.sleep(seconds)
        wall_s, cpu_s, episodes = time.perf_counter() - begun, time.process_time() - cpu_s, done - before
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if not episodes:
        raise MementoError(f"no episode ended in {seconds:g} s")
    return {
        "nodes": len(link.nodes), "recordings": "stay" if stay else "come", "slots": slots,
        "episodes_per_s": round(episodes / wall_s, 1),
        "share_of_ideal": round(episodes / wall_s / (slots / episode_s), 3),
        "controller_cpu_ms_per_episode": round(1e3 * cpu_s / episodes, 3),
        "controller_cpu_share": round(cpu_s / wall_s, 3),
        "recording_kb": round(len(link._recording) / 1e3, 1),
        "latency_s_99": round(float(np.quantile(latencies, 0.99)), 3),
    }


def _recording(path: Path) -> bytes:
    rng = np.random.default_rng(0)
    save_recording(path, Recording(
        states={"state": rng.normal(size=(STEPS + 1, WIDTH))}, actions={"action": rng.normal(size=(STEPS, 7))}
    ))
    return path.read_bytes()


def main() -> None:
    """Print the figures for each number of nodes as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--slots", type=int, default=16)
    parser.add_argument("--episode-s", type=float, default=1.0)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--stay", action="store_true")
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    for nodes in given.nodes:
        print(json.dumps(measure(
            nodes=nodes, slots=given.slots, episode_s=given.episode_s, seconds=given.seconds, folder=given.folder,
            stay=given.stay,
        )))


if __name__ == "__main__":
    main()
