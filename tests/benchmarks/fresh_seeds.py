"""Fresh-seed test: how much of an elite's fitness was luck on the search's episodes, with and without confirmation.

    python -m memento.tests.benchmarks.fresh_seeds --domain gym:Pendulum-v1 --seeds 8 --confirm 0 8

Each run searches offline under the reference evaluator, then measures its elite on unseen episodes under the same
evaluator. The gap is F in the search minus F on unseen episodes; a search without selection of luck has a gap of 0.
The runs of a seed differ in `confirm_episodes` alone: same salt, same episodes. Prints one line of JSON.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

RUN_S = 1800.0  # a run that takes longer is broken


def one_run(domain: str, seed: int, confirm: int, arguments: argparse.Namespace, runs: str) -> Mapping[str, Any]:
    """The result of one search."""
    values = {
        "n_roll": arguments.n_roll, "generations": arguments.generations, "confirm_episodes": confirm,
        "final_episodes": arguments.unseen,
    }
    command = [
        sys.executable, "-m", "memento", "run", domain, "--seed", str(seed), "--evaluator", "reference", "--json",
        "--method", arguments.method, "--runs", runs, "--workers", "1", "--display", "none", "--set", "salt=none",
        *(word for key, value in values.items() for word in ("--set", f"{key}={value}")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def summary(results: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The mean gap and the mean F on unseen episodes with their standard errors, and how often the order differed."""
    gaps = [result["fitness"] - result["reference_fitness"] for result in results]
    unseen = [result["reference_fitness"] for result in results]
    return {
        "runs": len(results), "gap": mean(gaps), "gap_se": _error(gaps), "unseen": mean(unseen),
        "unseen_se": _error(unseen), "searched": mean(result["search_episodes"] for result in results),
        "confirmations": sum(result["confirmations"] for result in results),
        "refuted": sum(result["refuted"] for result in results),
    }


def _error(values: Sequence[float]) -> float:
    return float(stdev(values)) / len(values) ** 0.5 if len(values) > 1 else 0.0


def main() -> None:
    """Run the searches and print their summaries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", nargs="+", default=["gym:Pendulum-v1"])
    parser.add_argument("--method", default="memento")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--confirm", type=int, nargs="+", default=[0, 8])
    parser.add_argument("--n-roll", type=int, default=2)
    parser.add_argument("--generations", type=int, default=4)
    parser.add_argument("--unseen", type=int, default=64)
    arguments = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="memento-fresh-") as runs:
        for domain in arguments.domain:
            for confirm in arguments.confirm:
                results = [one_run(domain, seed, confirm, arguments, runs) for seed in range(1, arguments.seeds + 1)]
                found[f"{domain}, confirm {confirm}"] = summary(results)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
