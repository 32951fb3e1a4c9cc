"""Measures the share of the workers' time that is idle while a model thinks, without and with tuning.

    python -m memento.benchmarks.idle_share [--reply 6] [--tune 0 1x400 2x400] [--repeats 1] [--set k_hc=4]

Each run searches on Pendulum with a loopback service whose every reply takes `--reply` seconds; the replies are
policies with four named constants. `--tune SLOTSxEPISODES` sets `k_tune` and `tune_episodes`, 0 is a run without
tuning. Runs differ in nothing else. For each, over the search alone (not p_0, the evaluator or the final measure):

    idle            the share of the workers' time in which they have no task
    wall_s          the time that the search takes
    episodes        rolled out in the search, and of these `tried` on constants
    fitness         F of the last elite

Every episode of Pendulum has 200 steps, so it can be planned how long a tuning takes; CartPole's grow as the search
gets better. A reply of 60 s with episodes of ten times the length would give the same shares. Prints one JSON object.
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from aiohttp import web

from ..app.run import run
from ..core.events import Fact, StageEntered
from ..memory.run_status import RunStatus
from ..runtime.rollouts.pool import WorkerActivity
from ..settings import build_settings
from ..tui.display import Silence

DOMAIN = "gym:Pendulum-v1"      # which the replies fit
REPLY_S = 6.0
TUNINGS = ("0", "1x200", "2x200")
POLICY = """
class Policy:
    UP = {up}  # tune: -10..10
    SIDE = {side}  # tune: -10..10
    TURN = {turn}  # tune: -10..10
    PUSH = {push}  # tune: 0..2

    def reset(self):
        pass

    def compute_action(self, obs):
        cosine, sine, turn = obs["observation"]
        if cosine < 0.5:
            return [self.PUSH if turn > 0 else -self.PUSH]
        return [max(-2.0, min(2.0, self.UP * (1 - cosine) + self.SIDE * sine + self.TURN * turn))]
"""


class Meter(Silence):
    """A display that adds up how long the workers have a task while the search runs."""

    def __init__(self) -> None:
        self.status = RunStatus()
        self.busy_s = 0.0
        self.searched_s = 0.0
        self._began: float | None = None
        self._since: dict[int, float] = {}      # when a worker that has a task got it

    def begun(self, order: str) -> None:
        """Nothing: only workers count."""

    def retried(self, order: str, why: str) -> None:
        """Nothing: only workers count."""

    def show(self, fact: Fact) -> None:
        """Measure from the beginning to the end of the search."""
        self.status.apply(fact, time.time())
        if isinstance(fact, StageEntered):
            now = time.perf_counter()
            if fact.stage == "search":
                self._began = now
                self._since = dict.fromkeys(self._since, now)
            elif self._began is not None:
                self.busy_s += sum(now - since for since in self._since.values())
                self.searched_s, self._began = now - self._began, None

    def observe(self, activity: WorkerActivity) -> None:
        """Note when a worker gets a task, and when it is done."""
        now = time.perf_counter()
        if activity.phase in ("environment", "working"):
            self._since.setdefault(activity.worker, now)
        elif activity.worker in self._since:
            since = self._since.pop(activity.worker)
            if self._began is not None:
                self.busy_s += now - since


@asynccontextmanager
async def service(reply_s: float) -> Any:
    """A service of chat completions on this machine, whose replies take so long; gives its address."""
    numbers = count()

    async def answer(request: web.Request) -> web.Response:
        received = await request.json()
        await asyncio.sleep(reply_s)
        message = {"role": "assistant", "content": reply_text(next(numbers))}
        return web.json_response({
            "id": "c", "object": "chat.completion", "created": 1, "model": received["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        })

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"compatible:bench@http://127.0.0.1:{runner.addresses[0][1]}/v1#none"
    finally:
        await runner.cleanup()


def reply_text(number: int) -> str:
    """Another policy for each reply; most of them fall sooner or later."""
    values = {
        "up": round(number * 0.37 % 4 - 2, 3), "side": round(number * 1.71 % 8 - 7, 3),
        "turn": round(number * 0.53 % 3 - 2.5, 3), "push": round(0.3 + number * 0.29 % 1.5, 3),
    }
    return f"Summary: number {number}.\n\n```python\n{POLICY.format(**values)}\n```\n"


async def one_run(tuning: str, arguments: argparse.Namespace) -> dict[str, float | int | None]:
    """The figures of one search."""
    slots, _, episodes = tuning.partition("x")
    tuned = [f"k_tune={slots}", f"tune_episodes={episodes}"] if int(slots) else []
    meter = Meter()
    async with service(arguments.reply) as model:
        settings = build_settings(
            {"domain": DOMAIN, "model": model, "seed": arguments.seed, "workers": arguments.workers},
            assignments=[
                "evaluator=reference", "reply=whole", "salt=none", f"generations={arguments.generations}", *tuned,
                *arguments.set,
            ],
            environment={},
        )
        with tempfile.TemporaryDirectory(prefix="memento-idle-") as runs:
            await run(settings, runs_dir=Path(runs), name="one", display=meter)
    status = meter.status
    elite = status.elite
    return {
        "idle": round(1 - meter.busy_s / (meter.searched_s * settings.workers), 3),
        "wall_s": round(meter.searched_s, 1), "episodes": status.search_episodes, "tried": status.tuning_episodes,
        "fitness": None if elite is None else round(elite.fitness, 3),
    }


def _runs(arguments: argparse.Namespace) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each kind of tuning with the figures of its runs."""
    for tuning in arguments.tune:
        yield tuning, [asyncio.run(one_run(tuning, arguments)) for _ in range(arguments.repeats)]


def main(given: Sequence[str] | None = None) -> None:
    """Make the runs and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reply", type=float, default=REPLY_S)
    parser.add_argument("--tune", nargs="+", default=[*TUNINGS])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--generations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[])
    arguments = parser.parse_args(given)
    print(json.dumps(dict(_runs(arguments)), indent=1))


if __name__ == "__main__":
    main()
