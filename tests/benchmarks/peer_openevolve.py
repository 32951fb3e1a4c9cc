"""The same measure as `overhead.py` for OpenEvolve, which a separate interpreter has: pip install openevolve==0.4.1

    python -m memento.tests.benchmarks.peer_openevolve --port PORT [--in-flight 32] [--latency 1.0] [--rounds 20]

PORT is that of `python -m memento.tests.benchmarks.overhead --serve --latency 1.0`, which prints it: the same answers
after the same latency. An evaluation is 5 ms of waiting. OpenEvolve calls from as many processes as there are calls in
flight, so its CPU time is that of all its processes, after their start. This file needs nothing of MEMENTO.
"""

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from pathlib import Path

from openevolve import OpenEvolve
from openevolve.config import Config, LLMModelConfig

EVALUATION = """
import time

def evaluate(path):
    time.sleep(0.005)
    open(path).read()
    return {"combined_score": 0.5}
"""


def configured(port: int, in_flight: int) -> Config:
    """Whole programs, one evaluation each, and nothing that writes more than it needs."""
    config = Config()
    model = LLMModelConfig(name="bench", api_base=f"http://127.0.0.1:{port}/v1", api_key="none", timeout=600)
    config.llm.models, config.llm.evaluator_models = [model], [model]
    config.llm.update_model_params({"retries": 0, "max_tokens": 4096, "temperature": 0.7})
    config.diff_based_evolution, config.max_code_length = False, 100_000
    config.log_level, config.checkpoint_interval = "ERROR", 10**6
    config.evaluator.parallel_evaluations, config.evaluator.cascade_evaluation = in_flight, False
    config.evaluator.enable_artifacts = False
    return config


def processor_s() -> float:
    """CPU seconds of this process and of its ended children."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


async def measured(port: int, in_flight: int, calls: int) -> tuple[float, float]:
    """Wall and CPU seconds of a search of as many calls."""
    with tempfile.TemporaryDirectory() as folder:
        initial, evaluation = Path(folder) / "initial.py", Path(folder) / "evaluation.py"
        initial.write_text("x = 1\n")
        evaluation.write_text(EVALUATION)
        search = OpenEvolve(str(initial), str(evaluation), configured(port, in_flight), str(Path(folder) / "out"))
        wall, cpu = time.perf_counter(), processor_s()
        await search.run(iterations=calls)
        made = len(search.database.programs)
        if made < calls // 2:
            raise RuntimeError(f"OpenEvolve made {made} programs of {calls}")
        return time.perf_counter() - wall, processor_s() - cpu


def main() -> None:
    """Measure a short and a long search; their difference has no start in it."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--port", type=int, required=True)
    arguments.add_argument("--in-flight", type=int, default=32)
    arguments.add_argument("--latency", type=float, default=1.0, help="seconds that the server takes")
    arguments.add_argument("--rounds", type=int, default=20, help="calls per slot in flight")
    given = arguments.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    first = asyncio.run(measured(given.port, given.in_flight, given.in_flight))
    whole = asyncio.run(measured(given.port, given.in_flight, given.in_flight * (given.rounds + 1)))
    wall, cpu = (late - early for late, early in zip(whole, first, strict=True))
    print(json.dumps({
        "in_flight": given.in_flight, "calls": given.in_flight * given.rounds,
        "share_of_ideal": round(given.rounds * given.latency / wall, 4),
        "cpu_ms_per_candidate": round(1e3 * cpu / (given.in_flight * given.rounds), 2),
    }))


if __name__ == "__main__":
    main()
