"""Measures the share of the workers' time that is idle while a model thinks: with tuning, and with rolling ahead.

    python -m memento.benchmarks.idle_share [--reply 6] [--tune 0 1x400 2x400] [--repeats 1] [--set k_hc=4]
    python -m memento.benchmarks.idle_share --domain robosuite:Stack --tune 0 --ahead off on --reply 20

Each run searches on Pendulum, or on robosuite's Stack, with a loopback service whose every reply takes `--reply`
seconds; the replies are policies with named constants. `--tune SLOTSxEPISODES` sets `k_tune` and `tune_episodes`, 0 is
a run without tuning; `--ahead` sets `roll_ahead`. Runs differ in nothing else. For each, over the search alone (not
p_0, the evaluator or the final measure):

    idle            the share of the workers' time in which they have no task
    ordered         the share in which they have one that was ordered
    wall_s          the time that the search takes, and of this `fresh_s` in which programs meet on fresh episodes
    episodes        rolled out in the search, and of these `tried` on constants
    ahead           episodes that were rolled out ahead, and of these `used`; `ahead_s` and `unused_s` of workers
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
from ..core.events import EliteChosen, EliteConfirmed, Fact, SaturationChecked, StageEntered
from ..core.order_ids import FRESH, parse
from ..memory.run_status import RunStatus
from ..runtime.rollouts.pool import WorkerActivity
from ..settings import build_settings
from ..tui.display import Silence

PENDULUM, STACK = "gym:Pendulum-v1", "robosuite:Stack"
REPLY_S = 6.0
TUNINGS = ("0", "1x200", "2x200")
SWING = """
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
HOVER = """
import numpy as np


class FrankaPolicy:
    GAIN = {up}  # tune: -10..10
    SIDE = {side}  # tune: -10..10
    HEIGHT = {turn}  # tune: -10..10

    def reset(self):
        pass

    def compute_action(self, obs):
        goal = np.array(obs["cubeA_pos"], dtype=float) + 0.02 * np.array([0.0, self.SIDE, 2.5 + self.HEIGHT])
        move = np.clip((4 + self.GAIN) * (goal - np.asarray(obs["robot0_eef_pos"], dtype=float)), -1, 1)
        return [*move, 0.0, 0.0, 0.0, -1.0]
"""
POLICIES = {PENDULUM: SWING, STACK: HOVER}


class Meter(Silence):
    """A display that adds up how long the workers have a task while the search runs, and how long programs meet."""

    def __init__(self) -> None:
        self.status = RunStatus()
        self.busy_s = 0.0
        self.ahead_s = 0.0      # of this, with what nobody has ordered
        self.fresh_s = 0.0
        self.searched_s = 0.0
        self._met: float | None = None
        self._began: float | None = None
        self._since: dict[int, tuple[float, bool]] = {}     # when a worker got its task, and whether that is ahead

    def on_begin(self, order: str) -> None:
        """Note when programs begin to meet."""
        if self._met is None and parse(order).stage in FRESH:
            self._met = time.perf_counter()

    def on_retry(self, order: str, why: str) -> None:
        """Nothing: only workers count."""

    def show(self, fact: Fact) -> None:
        """Measure from the beginning to the end of the search."""
        self.status.apply(fact, time.time())
        if isinstance(fact, EliteConfirmed | EliteChosen | SaturationChecked) and self._met is not None:
            self.fresh_s, self._met = self.fresh_s + time.perf_counter() - self._met, None
        if isinstance(fact, StageEntered):
            now = time.perf_counter()
            if fact.stage == "search":
                self._began = now
                self._since = {worker: (now, ahead) for worker, (_, ahead) in self._since.items()}
            elif self._began is not None:
                for worker in tuple(self._since):
                    self._done(worker, now)
                self.searched_s, self._began = now - self._began, None

    def observe(self, activity: WorkerActivity) -> None:
        """Note when a worker gets a task, and when it is done."""
        now = time.perf_counter()
        if activity.phase in ("environment", "working"):
            self._since.setdefault(activity.worker, (now, activity.doing == "ahead"))
        elif activity.worker in self._since:
            self._done(activity.worker, now)

    def _done(self, worker: int, now: float) -> None:
        since, ahead = self._since.pop(worker)
        if self._began is not None:
            self.busy_s += now - since
            self.ahead_s += (now - since) * ahead


@asynccontextmanager
async def service(reply_s: float, domain: str) -> Any:
    """A service of chat completions on this machine, whose replies take so long; gives its address."""
    numbers = count()

    async def answer(request: web.Request) -> web.Response:
        received = await request.json()
        await asyncio.sleep(reply_s)
        message = {"role": "assistant", "content": reply_text(next(numbers), domain)}
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


def reply_text(number: int, domain: str) -> str:
    """Another policy for each reply; most of them fall sooner or later."""
    values = {
        "up": round(number * 0.37 % 4 - 2, 3), "side": round(number * 1.71 % 8 - 7, 3),
        "turn": round(number * 0.53 % 3 - 2.5, 3), "push": round(0.3 + number * 0.29 % 1.5, 3),
    }
    return f"Summary: number {number}.\n\n```python\n{POLICIES[domain].format(**values)}\n```\n"


async def one_run(tuning: str, ahead: str, arguments: argparse.Namespace) -> dict[str, float | int | None]:
    """The figures of one search."""
    slots, _, episodes = tuning.partition("x")
    tuned = [f"k_tune={slots}", f"tune_episodes={episodes}"] if int(slots) else []
    meter = Meter()
    async with service(arguments.reply, arguments.domain) as model:
        settings = build_settings(
            {"domain": arguments.domain, "model": model, "seed": arguments.seed, "workers": arguments.workers},
            assignments=[
                "evaluator=reference", "reply=whole", "salt=none", f"generations={arguments.generations}", *tuned,
                f"roll_ahead={ahead}",
                *arguments.set,
            ],
            environment={},
        )
        with tempfile.TemporaryDirectory(prefix="memento-idle-") as runs:
            await run(settings, runs_dir=Path(runs), name="one", display=meter)
    status = meter.status
    elite = status.elite
    all_s = meter.searched_s * settings.workers
    return {
        "idle": round(1 - meter.busy_s / all_s, 3),
        "ordered": round((meter.busy_s - meter.ahead_s) / all_s, 3),
        "wall_s": round(meter.searched_s, 1), "fresh_s": round(meter.fresh_s, 1),
        "ahead": status.ahead, "used": status.ahead_used,
        "ahead_s": round(status.ahead_s, 1), "unused_s": round(status.ahead_unused_s, 1),
        "confirmations": status.confirmations, "episodes": status.search_episodes, "tried": status.tuning_episodes,
        "fitness": None if elite is None else round(elite.fitness, 3),
    }


def _runs(arguments: argparse.Namespace) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each kind of run with the figures of its repeats; kinds take turns, since a machine's speed changes."""
    kinds = [(tuning, ahead) for tuning in arguments.tune for ahead in arguments.ahead]
    found: dict[str, list[dict[str, Any]]] = {f"tune {tuning}, ahead {ahead}": [] for tuning, ahead in kinds}
    for _ in range(arguments.repeats):
        for (tuning, ahead), runs in zip(kinds, found.values(), strict=True):
            runs.append(asyncio.run(one_run(tuning, ahead, arguments)))
    yield from found.items()


def main(given: Sequence[str] | None = None) -> None:
    """Make the runs and print their figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reply", type=float, default=REPLY_S)
    parser.add_argument("--tune", nargs="+", default=[*TUNINGS])
    parser.add_argument("--ahead", nargs="+", default=["auto"], choices=["auto", "on", "off"])
    parser.add_argument("--domain", default=PENDULUM, choices=[*POLICIES])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--generations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[])
    arguments = parser.parse_args(given)
    print(json.dumps(dict(_runs(arguments)), indent=1))


if __name__ == "__main__":
    main()
