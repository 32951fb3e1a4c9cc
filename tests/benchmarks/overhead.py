"""Measures what the controller adds to the time spent waiting for a model: real agents, keeper, store and HTTP client.

    python -m memento.tests.benchmarks.overhead [--in-flight 16 32 64] [--latency 1.0] [--rounds 20] [--json]

Method `random`, whose proposals wait only for a free slot. A server in another process, whose CPU is not counted,
answers every call after a fixed latency with a new valid program. An episode is 5 ms of waiting in a process of a pool,
so that only the controller's work shows. A plain loop does the same calls and episodes in the same process: asyncio
tasks that call the client, read the block, hand its text to a process of the pool, and write a line. For each number of
calls in flight:

    share_of_ideal             (calls / in flight * latency) / wall time; 1.0 is a controller that takes no time.
                               The first and the last round are in it.
    plain_share_of_ideal       the same for the plain loop
    cpu_ms_per_candidate       CPU of the controller process, from the order to the scored candidate
    client_cpu_ms_per_call     of that, the share of the client libraries: the same calls without MEMENTO
    own_cpu_ms_per_candidate   the rest, MEMENTO's share
    plain_cpu_ms_per_candidate CPU of the plain loop for the same, half of it before the run and half after it
    cpu_over_plain_loop        the ratio of the two, which a busy machine changes little
    import_floor_mb            resident memory once everything is imported and one call was made
    controller_peak_mb         peak resident memory of the controller process, client libraries included
    above_floor_mb             the difference: the memory of the run itself
"""

import argparse
import asyncio
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from memento.agents.proposers import Initiator
from memento.agents.rollout_agents import Examiner, Roller, Scorer
from memento.app.wiring import exclude_loaded_from_gc
from memento.core.events import (
    CandidateScored,
    Examine,
    Fact,
    Order,
    ProposalMade,
    Propose,
    Roll,
    RunStarted,
    ScoreEpisode,
)
from memento.core.order_ids import RANDOM, parse
from memento.core.ports import Ask, Model, RollTask
from memento.core.values import JSON, Episode, Examination, Program, Score
from memento.domains import load
from memento.memory.store import RunStore
from memento.models import ClientSettings, close_model, make_model
from memento.runtime.bus import EventBus
from memento.runtime.clock import SystemClock
from memento.runtime.lanes import Agent, Lane
from memento.runtime.prompts import PromptFolder
from memento.runtime.rollouts.limits import policy_limits_in_words
from memento.runtime.supervisor import Supervisor
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

IN_FLIGHT = (16, 32, 64)
LATENCY_S = 1.0
ROUNDS = 20             # calls per slot in flight
EPISODE_S = 0.005
WORKERS = 4


def episode(program: str) -> int:
    """An episode that takes time but no CPU, in a process of a pool; its number of steps."""
    time.sleep(EPISODE_S)
    return 100


@contextmanager
def episodes() -> Iterator[Executor]:
    """The processes that episodes are in."""
    with ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("spawn")) as processes:
        list(processes.map(episode, [""] * 4 * WORKERS))     # all have begun
        yield processes


class FreePool:
    """Episodes and scores that cost this process nothing but to ask for them."""

    def __init__(self, processes: Executor) -> None:
        self._processes = processes

    async def roll(self, task: RollTask) -> Episode:
        """An episode that never succeeds."""
        steps = await asyncio.get_running_loop().run_in_executor(self._processes, episode, task.program.text)
        return Episode(index=task.index, seed=task.seed, steps=steps, ended_by="horizon", success=False)

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """A middling score."""
        return Score(fitness=0.5, metrics={"disks_moved": 1, "closest_m": 0.12})

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """A valid evaluator."""
        return Examination(scores=tuple([await self.score(evaluator, episode) for episode in episodes]))


async def serve(latency_s: float) -> None:
    """Answer chat completions until killed; prints the port."""
    from aiohttp import web

    program = shelf_program()
    numbers = count()

    async def answer(request: web.Request) -> web.Response:
        received = await request.json()
        await asyncio.sleep(latency_s)
        number = next(numbers)
        text = f"Summary: NUMBER is {number}.\n\n```python\n{program}\n\nNUMBER = {number}\n```\n"
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 3000, "completion_tokens": 1500, "total_tokens": 4500}
        return web.json_response({
            "id": "c", "object": "chat.completion", "created": 1, "model": received["model"], "choices": [choice],
            "usage": usage,
        })

    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


def shelf_program() -> str:
    """A real policy text, as long as one that a model writes."""
    shelf = load("hanoi").shelf()
    assert shelf is not None
    return shelf.initial.text


async def measure_one(port: int, in_flight: int, latency_s: float, rounds: int) -> dict[str, float]:
    """Run `rounds` generations of `in_flight` independent programs, with `in_flight` calls at a time."""
    calls = in_flight * rounds
    model = make_model(
        f"compatible:bench@http://127.0.0.1:{port}/v1#none", settings=ClientSettings(in_flight=in_flight), environ={}
    )
    await model.complete(Ask(order=Order(id="warm"), attempt=0, role="proposer", prompt="warm up"))
    with episodes() as processes:
        exclude_loaded_from_gc()      # as a run does
        _, _, prompt = await controller(model, processes, in_flight, rounds=1)
        before, after = [prompt] * (calls // 2), [prompt] * (calls - calls // 2)     # the load of a machine drifts
        early_wall, early_cpu = await plain_loop(port, processes, before, in_flight)
        forget_peak()
        floor_mb = peak_mb()
        wall, cpu, _ = await controller(model, processes, in_flight, rounds)
        run_mb = peak_mb()
        late_wall, late_cpu = await plain_loop(port, processes, after, in_flight)
    plain_wall, plain_cpu = early_wall + late_wall, early_cpu + late_cpu
    client_cpu = await calls_alone(model, [prompt] * calls)
    await close_model(model)
    return {
        "candidates": calls,
        "share_of_ideal": round(rounds * latency_s / wall, 4),
        "plain_share_of_ideal": round(rounds * latency_s / plain_wall, 4),
        "cpu_ms_per_candidate": round(1e3 * cpu / calls, 2),
        "client_cpu_ms_per_call": round(1e3 * client_cpu / calls, 2),
        "own_cpu_ms_per_candidate": round(1e3 * (cpu - client_cpu) / calls, 2),
        "plain_cpu_ms_per_candidate": round(1e3 * plain_cpu / calls, 2),
        "cpu_over_plain_loop": round(cpu / plain_cpu, 3),
        "import_floor_mb": round(floor_mb, 1),
        "controller_peak_mb": round(run_mb, 1),
        "above_floor_mb": round(run_mb - floor_mb, 1),
    }


async def controller(model: Model, processes: Executor, in_flight: int, rounds: int) -> tuple[float, float, str]:
    """Wall and CPU seconds of a run, and one of its prompts."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SystemClock()
        with RunStore.create(Path(folder) / "run", clock=clock) as store:
            store.append([RunStarted(settings={}, versions={}, sandbox=())])
            bus = EventBus(store)
            scored: list[CandidateScored] = []
            prompt = ""

            def on_fact(fact: Fact) -> None:
                nonlocal prompt
                if isinstance(fact, CandidateScored):
                    scored.append(fact)
                elif isinstance(fact, ProposalMade):
                    prompt = fact.call.prompt.text

            bus.subscribe(on_fact)
            supervisor = Supervisor(
                keeper=Sequencer(_plan(in_flight, rounds)), bus=bus, lanes=_lanes(model, processes, in_flight)
            )
            wall, cpu = time.perf_counter(), time.process_time()
            status = await supervisor.run()
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    made = sum(not fact.candidate.fault for fact in scored if parse(fact.candidate.id).branch == RANDOM)
    if status != "done" or made != in_flight * rounds:
        raise RuntimeError(f"the run ended as {status!r} with {made} of {in_flight * rounds} candidates")
    return wall, cpu, prompt


async def plain_loop(port: int, processes: Executor, prompts: Sequence[str], in_flight: int) -> tuple[float, float]:
    """Wall and CPU seconds for the same calls and episodes in the loop that one writes without MEMENTO."""
    from openai import AsyncOpenAI

    waiting = iter(prompts)
    with tempfile.TemporaryFile("w") as log:
        async with AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="none") as client:

            async def work() -> None:
                for prompt in waiting:
                    reply = await client.chat.completions.create(
                        model="none", messages=[{"role": "user", "content": prompt}]
                    )
                    text = reply.choices[0].message.content or ""
                    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
                    assert found is not None
                    compile(found[1], "program", "exec")
                    steps = await asyncio.get_running_loop().run_in_executor(processes, episode, found[1])
                    log.write(json.dumps({"prompt": prompt, "reply": text, "steps": steps, "fitness": 0.5}) + "\n")
                    log.flush()

            wall, cpu = time.perf_counter(), time.process_time()
            async with asyncio.TaskGroup() as group:
                for _ in range(in_flight):
                    group.create_task(work())
            return time.perf_counter() - wall, time.process_time() - cpu


def peak_mb() -> float:
    """Peak memory of this process since `forget_peak`, in MB (proc(5), VmHWM)."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Reset the peak to the resident memory (proc(5), clear_refs)."""
    Path("/proc/self/clear_refs").write_text("5")


async def calls_alone(model: Model, prompts: Sequence[str]) -> float:
    """CPU seconds of the controller process for the same calls alone."""
    began = time.process_time()
    asks = [
        Ask(order=Order(id=f"alone/{number}"), attempt=0, role="proposer", prompt=prompt)
        for number, prompt in enumerate(prompts)
    ]
    async with asyncio.TaskGroup() as group:
        for ask in asks:
            group.create_task(model.complete(ask))
    return time.process_time() - began


def _plan(in_flight: int, rounds: int) -> RunPlan:
    return RunPlan(
        method=KEEPERS["random"],
        slots=GenerationBudget(generations=rounds, hill_climb=0, macro=in_flight, crossover=0),
        search=RolloutPlan(split="search", seeds=(0,), evaluator=load("hanoi").reference_evaluator(), racing=True),
        final_seeds=(1000,),
        initial=Program(shelf_program()),
    )


def _lanes(model: Model, processes: Executor, in_flight: int) -> tuple[Lane, ...]:
    domain = load("hanoi")
    brief = domain.brief(domain.options({}, preset="quick"))
    initiator = Initiator(model=model, prompts=PromptFolder(), brief=brief, contract=domain.contract,
                          limits=policy_limits_in_words())
    pool = FreePool(processes)
    rollouts: dict[type[Order], Agent] = {
        Roll: Roller(pool=pool), ScoreEpisode: Scorer(pool=pool), Examine: Examiner(pool=pool),
    }
    return (
        Lane(name="proposals", limit=in_flight, agents={Propose: initiator}),
        Lane(name="rollouts", limit=WORKERS, agents=rollouts),
    )


def measure(
    *, in_flight: Sequence[int] = IN_FLIGHT, latency_s: float = LATENCY_S, rounds: int = ROUNDS
) -> dict[str, JSON]:
    """All figures, with a separate controller process for each number of calls in flight."""
    me = [sys.executable, "-m", "memento.tests.benchmarks.overhead"]
    settings = ["--latency", str(latency_s), "--rounds", str(rounds)]
    with subprocess.Popen([*me, "--serve", *settings], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            figures: dict[str, JSON] = {}
            for number in in_flight:
                command = [*me, "--port", port, "--in-flight", str(number), *settings]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=600)
                figures[str(number)] = json.loads(done.stdout.splitlines()[-1])     # after notes on the service
        finally:
            server.kill()
    return {"latency_s": latency_s, "episode_s": EPISODE_S, "rounds": rounds, "calls_in_flight": figures}


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--in-flight", type=int, nargs="+", default=list(IN_FLIGHT))
    arguments.add_argument("--latency", type=float, default=LATENCY_S, help="seconds that every answer takes")
    arguments.add_argument("--rounds", type=int, default=ROUNDS, help="calls per slot in flight")
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments.add_argument("--port", type=int, help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.serve:
        asyncio.run(serve(given.latency))
    elif given.port is not None:
        print(json.dumps(asyncio.run(measure_one(given.port, given.in_flight[0], given.latency, given.rounds))))
    else:
        result = measure(in_flight=given.in_flight, latency_s=given.latency, rounds=given.rounds)
        if given.json:
            print(json.dumps(result))
            return
        print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
