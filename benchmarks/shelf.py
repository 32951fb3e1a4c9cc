"""Does the offline model search? The success of random shelf programs, and the gain of a search.

    python benchmarks/shelf.py random --out random.json            500 random programs, a few seeds each
    python benchmarks/shelf.py search --out search.json            the paper's loop and a small one

Results are JSON, written as they arrive: started again with the same file, the benchmark continues where it stopped.
Shelf programs are part of this project, so they run in this process; generated programs never do.
"""

import argparse
import asyncio
import importlib
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from memento.core import order_ids
from memento.core.events import Propose
from memento.core.metrics import aggregate
from memento.core.ports import Ask, Environment
from memento.core.seeds import derive_seed
from memento.core.values import CandidateState, Operator, Program, Rejection, Score
from memento.domains.hanoi import DOMAIN
from memento.models.offline import OfflineModel

N_CUBES = 4
BUDGETS = {
    "paper": {"generations": 5, "hill_climb": 10, "macro": 10, "crossover": 4, "rollouts": 10},
    "small": {"generations": 2, "hill_climb": 4, "macro": 3, "crossover": 2, "rollouts": 2},
}


class Bench:
    """Rolls programs out and scores them with the reference evaluator."""

    def __init__(self, domain: str, options: dict[str, Any], preset: str) -> None:
        self.environment, evaluator = load_domain(domain, options, preset)
        self._evaluator = load_class(evaluator, "Evaluator")
        self._cache: dict[tuple[str, int], tuple[Score, bool, int]] = {}

    def episode(self, program: Program, seed: int) -> tuple[Score, bool, int]:
        """Score, success and steps of one episode; a crash scores 0."""
        key = (program.digest, seed)
        if key not in self._cache:
            self._cache[key] = self._roll(program, seed)
        return self._cache[key]

    def _roll(self, program: Program, seed: int) -> tuple[Score, bool, int]:
        environment = self.environment
        environment.reset(index=0, seed=seed)
        cuts = layout_cuts(environment)
        steps = 0
        try:
            policy = load_class(program, "FrankaPolicy")()
            policy.reset()
            ended = None
            while ended is None:
                vector = np.asarray(environment.observe())
                observation = {name: vector[start:end].copy() for name, start, end in cuts}
                action = np.asarray(policy.compute_action(observation), dtype=float)
                if action.shape != (7,) or not np.isfinite(action).all():
                    raise ValueError(f"bad action {action}")
                ended = environment.step(action)
                steps += 1
        except Exception as error:  # noqa: BLE001 - a policy may fail in any way; that is data
            print(f"  a program crashed after {steps} steps: {error!r}")
            return Score(fitness=0.0), False, steps
        fitness, metrics = self._evaluator().evaluate(environment.recording().arrays())
        return Score(fitness=fitness, metrics=metrics), environment.success(), steps

    def candidate(
        self, name: str, program: Program, operator: Operator, seeds: list[int], summary: str
    ) -> CandidateState:
        """Evaluate a program on all seeds."""
        results = [self.episode(program, seed) for seed in seeds]
        scores = tuple(score for score, _, _ in results)
        return CandidateState(
            id=name, program=program, operator=operator, generation=0, slot=0, summary=summary,
            fitness=math.fsum(score.fitness for score in scores) / len(scores),
            success_rate=sum(success for _, success, _ in results) / len(results),
            metrics=aggregate(scores), scores=scores,
        )


def load_domain(name: str, options: dict[str, Any], preset: str) -> tuple[Environment, Program]:
    """A domain's environment and its reference evaluator."""
    domain = importlib.import_module("memento.domains." + name.replace("-", "_")).DOMAIN
    reference = domain.reference_evaluator()
    assert reference is not None
    return domain.environment(domain.options(options, preset=preset)), reference


def load_class(program: Program, name: str) -> Callable[[], Any]:
    """Execute a program of the shelf and take its class."""
    namespace: dict[str, Any] = {}
    exec(compile(program.text, f"<{name}>", "exec"), namespace)
    found: Callable[[], Any] = namespace[name]
    return found


def layout_cuts(environment: Environment) -> list[tuple[str, int, int]]:
    """Name, start and end of each observation field."""
    assert environment.observation_layout is not None
    cuts, start = [], 0
    for name, shape in environment.observation_layout:
        end = start + math.prod(shape)
        cuts.append((name, start, end))
        start = end
    return cuts


def ask(model: OfflineModel, order: Propose) -> tuple[Program, str]:
    """The program and the summary of a reply."""
    reply = asyncio.run(model.complete(Ask(order=order, attempt=0, role="proposer", prompt="")))
    (text,) = re.findall(r"^```python\n# whole program\n(.*?)^```$", reply.text, re.MULTILINE | re.DOTALL)
    return Program(text), reply.text.splitlines()[0].removeprefix("Summary: ")


# ------------------------------------------------------------------------------------- random programs


def random_programs(
    bench: Bench, arguments: argparse.Namespace, found: dict[str, Any], save: Callable[[], None]
) -> None:
    """The number of n random shelf programs that succeed on most seeds, and the result of the best of 24."""
    model = OfflineModel(DOMAIN.shelf(), run_seed=arguments.run_seed)
    seeds = [derive_seed(arguments.run_seed, "shelf-random", index) for index in range(arguments.seeds)]
    successes: list[int] = found.setdefault("successes", [])
    fitness: list[float] = found.setdefault("first_fitness", [])
    need = arguments.seeds // 2 + 1
    for slot in range(len(successes), arguments.n):
        order = Propose(id=f"random/{slot}", operator=Operator.INITIAL, generation=0, slot=slot + 1)
        program, _ = ask(model, order)
        count = 0
        for done, seed in enumerate(seeds):
            if count >= need or count + len(seeds) - done < need:
                break
            score, success, _ = bench.episode(program, seed)
            count += success
            if done == 0:
                fitness.append(score.fitness)
        successes.append(count)
        if slot % 20 == 19:
            save()
    good = sum(count >= need for count in successes)
    rate = good / len(successes)
    found["summary"] = {
        "programs": len(successes), "seeds": arguments.seeds, "succeed_on_most": good, "share": rate,
        "best_of_24_succeeds": best_of(24, good, len(successes)),
        "any_success": sum(count > 0 for count in successes),
        "fitness_percentiles": {str(p): float(np.percentile(fitness, p)) for p in (0, 10, 50, 90, 99, 100)},
    }


def best_of(draws: int, good: int, total: int) -> float:
    """The chance that at least one of `draws` programs, drawn from `total` without replacement, is good."""
    return 1.0 - math.prod((total - good - k) / (total - k) for k in range(draws))


# ---------------------------------------------------------------------------------------------- search


def search(bench: Bench, arguments: argparse.Namespace, found: dict[str, Any], save: Callable[[], None]) -> None:
    """The paper's loop (Algorithm 2) under the reference evaluator, one candidate after the other."""
    for name in arguments.budget:
        for run_seed in range(arguments.run_seed, arguments.run_seed + arguments.runs):
            key = f"{name}/{run_seed}"
            if key not in found:
                budget = BUDGETS[name] | ({"rollouts": arguments.rollouts} if arguments.rollouts else {})
                found[key] = one_search(bench, budget, run_seed, arguments.unseen)
                save()
            print(key, json.dumps(found[key]["summary"]), flush=True)


def one_search(bench: Bench, budget: dict[str, int], run_seed: int, unseen: int) -> dict[str, Any]:
    """One run: its curve, and p_0 and the elite on held-out seeds."""
    model = OfflineModel(DOMAIN.shelf(), run_seed=run_seed)
    seeds = [derive_seed(run_seed, "search", index) for index in range(budget["rollouts"])]
    other = [derive_seed(run_seed, "final", index) for index in range(unseen)]
    first = str(order_ids.initial(0))
    program, summary = ask(model, Propose(id=first, operator=Operator.INITIAL, generation=0, slot=0))
    initial = elite = bench.candidate(first, program, Operator.INITIAL, seeds, summary)
    curve = [point(elite)]
    steps = []
    for generation in range(budget["generations"]):

        def propose(operator: Operator, branch: str, slot: int, parents: tuple[CandidateState, ...],
                    memory: tuple[Rejection, ...] = (), generation: int = generation) -> CandidateState:
            name = str(order_ids.candidate(generation, branch, slot))
            order = Propose(id=name, operator=operator, generation=generation, slot=slot, parents=parents,
                            rejections=memory)
            program, summary = ask(model, order)
            made = bench.candidate(name, program, operator, seeds, summary)
            steps.append({"id": name, "fitness": round(made.fitness, 4), "success": made.success_rate,
                          "summary": summary})
            return made

        climber = elite
        memory: tuple[Rejection, ...] = ()
        for slot in range(budget["hill_climb"]):
            new = propose(Operator.HILL_CLIMB, "hill", slot, (climber,), memory)
            if new.fitness >= climber.fitness:
                climber = new
            else:
                memory += (Rejection(summary=new.summary, candidate=new.id, reason="lower fitness",
                                     fitness_difference=new.fitness - climber.fitness),)
        macros = [propose(Operator.MACRO, "macro", slot, (elite,)) for slot in range(budget["macro"])]
        macro = max([*macros, elite], key=lambda entry: entry.fitness)
        crossed = [propose(Operator.CROSSOVER, "cross", slot, (climber, macro)) for slot in range(budget["crossover"])]
        elite = max([*crossed, macro, climber, elite], key=lambda entry: entry.fitness)
        curve.append(point(elite))
    before = bench.candidate("final", initial.program, Operator.INITIAL, other, "")
    after = bench.candidate("final", elite.program, Operator.INITIAL, other, "")
    return {
        "budget": budget,
        "summary": {
            "fitness": [round(value["fitness"], 3) for value in curve],
            "unseen_fitness_before": round(before.fitness, 3), "unseen_fitness": round(after.fitness, 3),
            "unseen_success": after.success_rate, "gain": round(after.fitness - before.fitness, 3),
        },
        "curve": curve, "steps": steps, "elite": elite.program.text,
    }


def point(candidate: CandidateState) -> dict[str, Any]:
    """One point of a curve."""
    return {"id": candidate.id, "fitness": candidate.fitness, "success": candidate.success_rate}


# ------------------------------------------------------------------------------------------ command line


def main() -> None:
    """Run one of the two measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("random", "search"))
    parser.add_argument("--out", type=Path, required=True, help="JSON file; an existing one is continued")
    parser.add_argument("--domain", default="hanoi-kinematic")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON", help="an option of the domain")
    parser.add_argument("--preset", default="paper", help="preset whose domain options are the defaults")
    parser.add_argument("--run-seed", type=int, default=0, help="the first run seed")
    parser.add_argument("--n", type=int, default=500, help="random: programs")
    parser.add_argument("--seeds", type=int, default=5, help="random: episodes per program")
    parser.add_argument("--runs", type=int, default=3, help="search: runs per budget")
    parser.add_argument("--budget", nargs="+", choices=tuple(BUDGETS), default=list(BUDGETS))
    parser.add_argument("--rollouts", type=int, help="search: episodes per candidate instead of the budget's")
    parser.add_argument("--unseen", type=int, default=20, help="search: episodes of the final measurement")
    arguments = parser.parse_args()
    options = {key: json.loads(value) for key, value in (item.split("=", 1) for item in arguments.set)}
    found = json.loads(arguments.out.read_text()) if arguments.out.exists() else {}

    def save() -> None:
        arguments.out.write_text(json.dumps(found, indent=1))

    bench = Bench(arguments.domain, options, arguments.preset)
    (random_programs if arguments.what == "random" else search)(bench, arguments, found, save)
    save()
    if arguments.what == "random":
        print(json.dumps(found["summary"], indent=1))


if __name__ == "__main__":
    main()
