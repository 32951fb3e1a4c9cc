"""What a simulator's start costs: nothing kept on disk, compiled code kept, models kept as well; and a later reset.

    python -m memento.tests.benchmarks.starts [--rounds 5] [DOMAIN ...]

Each start is a new process with its own cache folder, as a worker does it: imports, the environment, the first reset
and step. Prints CPU milliseconds as a table (the median over the rounds; the start with nothing kept is done once), and
each start over the one with everything kept. Compare the ratios: the figures depend on the machine and its load.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median

from memento.core.variables import common_kernels

from .timing import LIMIT_S

DOMAINS = ("hanoi", "robosuite:Stack")
PARTS = ("imports", "environment", "first reset", "later reset")
START = """
import json, sys, time
from statistics import median
clock = time.process_time
begun = clock()
from memento.core.provenance import GIVEN
from memento.domains import load
domain = load(sys.argv[1], GIVEN)
options = domain.options({}, preset="quick")
import numpy, mujoco, numba, scipy.spatial.transform
import memento.domains.arm.models, memento.domains.arm.physics.compiled
imported = clock()
environment = domain.environment(options)
made = clock()
def begin(seed):
    started = clock()
    environment.reset(index=0, seed=seed)
    environment.observe()
    environment.step(numpy.zeros(environment.action_size))
    return clock() - started
first = begin(1)
later = median(begin(seed) for seed in range(2, 12))
print(json.dumps([imported - begun, made - imported, first, later]))
"""


def start(domain: str, cache: Path) -> dict[str, float]:
    """CPU milliseconds of each of PARTS, in a new process with this cache folder."""
    variables = {**os.environ, **common_kernels(), "XDG_CACHE_HOME": str(cache), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", START, domain], env=variables, capture_output=True, text=True, timeout=LIMIT_S,
        check=True,
    )
    return dict(zip(PARTS, (1e3 * part for part in json.loads(done.stdout.splitlines()[-1])), strict=True))


def measure(domain: str, rounds: int) -> dict[str, dict[str, float]]:
    """The parts of each kind of start, in CPU milliseconds; the kinds take turns."""
    cache = Path(tempfile.mkdtemp(prefix="memento-starts-"))
    try:
        found = {"nothing kept": [start(domain, cache)], "code kept": [], "code and model kept": []}
        for _ in range(rounds):
            shutil.rmtree(cache / "memento" / "models")
            found["code kept"].append(start(domain, cache))
            found["code and model kept"].append(start(domain, cache))
    finally:
        shutil.rmtree(cache)
    return {kind: {part: median(each[part] for each in starts) for part in PARTS} for kind, starts in found.items()}


def whole(parts: Mapping[str, float]) -> float:
    """A start until its first step."""
    return sum(parts[part] for part in PARTS[:-1])


def main() -> None:
    """Measure and print a table in Markdown."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("domains", nargs="*", metavar="DOMAIN", default=DOMAINS)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    print(f"| domain | start | {' | '.join(f'{part}, ms' for part in PARTS)} | over everything kept |")
    print("|---" * (3 + len(PARTS)) + "|")
    for domain in given.domains:
        kinds = measure(domain, given.rounds)
        least = whole(kinds["code and model kept"])
        for kind, parts in kinds.items():
            shown = " | ".join(f"{parts[part]:,.3g}" if parts[part] < 100 else f"{parts[part]:,.0f}" for part in PARTS)
            print(f"| {domain} | {kind} | {shown} | {whole(parts) / least:.2f} |", flush=True)


if __name__ == "__main__":
    main()
