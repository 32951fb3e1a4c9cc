"""How well the reference policy solves the Tower of Hanoi, and whether the faster physics judge policies alike.

    python -m memento.tests.benchmarks.reference measure --out solved.jsonl --case table --case light --n 200
    python -m memento.tests.benchmarks.reference measure --out solved.jsonl --case table:goal_update=desired --n 200
    python -m memento.tests.benchmarks.reference pairs --out pairs.jsonl --policy reference --policy mediocre --n 100
    python -m memento.tests.benchmarks.reference show solved.jsonl
    python -m memento.tests.benchmarks.reference compare pairs.jsonl

Every episode runs as in a search: through the pool, with the policy in a separate sandboxed process. An episode
is one line of JSON in the file; started again with the same file, the benchmark continues where it stopped.

A case is a randomisation preset, then options of the domain: `table:variant=cylinder,goal_update=desired`. A policy
is "reference", that policy with constants changed (`reference:BIAS_STD=0.0001`), one of the names in POLICIES, or
the path of a file.
"""

import argparse
import asyncio
import json
import math
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from memento.core.ports import RollTask
from memento.core.recording_file import trajectory_path
from memento.core.values import JSON, Episode, Program, Score
from memento.domains import import_string
from memento.domains.hanoi import DOMAIN
from memento.runtime.rollouts.pool import ProcessPool

from ..reference_policies import policy_file

REFERENCE = policy_file("hanoi")
# Policies worse than the reference, made from it. Both trust the cameras and do not correct the arm's steady error;
# the weak one also assumes that the holes are 2.5 cm nearer to the containers' origins.
POLICIES: Mapping[str, str] = {
    "reference": "reference",
    "mediocre": "reference:BIAS_STD=0.0001,JITTER_STD=0.0001,HELP=0.0",
    "weak": "reference:BIAS_STD=0.0001,HELP=0.0,HOLE=0.03",
}
Z_95 = 1.959964
Line = dict[str, Any]


# ------------------------------------------------------------------------------------------ statistics


def wilson(successes: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Wilson's)."""
    if n == 0:
        return 0.0, 1.0
    rate, z2 = successes / n, Z_95 ** 2
    middle = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    return min(rate, max(0.0, middle - half)), max(rate, min(1.0, middle + half))     # except for rounding


def paired_rates(only_first: int, only_second: int, n: int) -> tuple[float, float, float]:
    """Second rate minus first over n pairs, and its 95 % interval (Bonett and Price, adjusted Wald).

    The interval has a width even if no pair differs.
    """
    up, down = (only_second + 1) / (n + 2), (only_first + 1) / (n + 2)
    half = Z_95 * math.sqrt((up + down - (up - down) ** 2) / (n + 2))
    return (only_second - only_first) / n, up - down - half, up - down + half


def paired_means(first: list[float], second: list[float]) -> tuple[float, float, float]:
    """Mean of second minus first and its 95 % interval (normal)."""
    differences = [b - a for a, b in zip(first, second, strict=True)]
    middle = fmean(differences)
    half = Z_95 * stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.inf
    return middle, middle - half, middle + half


def quantile(values: Iterable[float], share: float) -> float:
    """The value at rank ⌈share · n⌉."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


# ------------------------------------------------------------------------------------ cases and policies


def parse_case(text: str) -> dict[str, JSON]:
    """Options of the domain from `preset:name=value,…`; values are JSON where possible."""
    preset, _, rest = text.partition(":")
    options: dict[str, JSON] = {"randomisation": preset}
    for pair in filter(None, rest.split(",")):
        name, _, value = pair.partition("=")
        try:
            options[name] = json.loads(value)
        except json.JSONDecodeError:
            options[name] = value
    return options


def policy(name: str) -> Program:
    """The program of a policy by its name."""
    base, _, changes = POLICIES.get(name, name).partition(":")
    text = (REFERENCE if base == "reference" else Path(base)).read_text(encoding="utf-8")
    for change in filter(None, changes.split(",")):
        constant, _, value = change.partition("=")
        text, found = re.subn(rf"(?m)^(\s*){constant} = [^#\n]*", rf"\g<1>{constant} = {float(value)!r} ", text)
        if found != 1:
            raise SystemExit(f"{base} has {found} constants named {constant}, not one")
    return Program(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Some episodes of one policy in one case."""

    policy: str
    case: str
    options: Mapping[str, JSON]     # complete
    seeds: range


def left_of(work: Work, program: Program, found: Iterable[Line]) -> list[int]:
    """The seeds of the work that this program has not rolled out yet under this physics."""
    done = {key_of(line) for line in found}
    physics = work.options["physics"]
    return [seed for seed in work.seeds if (work.policy, work.case, physics, seed, program.digest) not in done]


async def run(work: Work, out: Path, *, workers: int) -> None:
    """Roll out the episodes that `out` lacks and append one line for each."""
    program, evaluator = policy(work.policy), DOMAIN.reference_evaluator()
    seeds = left_of(work, program, lines(out))
    if not seeds:
        return
    waiting = iter(seeds)
    with tempfile.TemporaryDirectory(prefix="memento-reference-") as folder:
        async with ProcessPool(
            domain=import_string("hanoi"), splits={"bench": dict(work.options)}, workers=workers,
            trajectories=Path(folder),
        ) as pool, asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(_worker(pool, work, program, evaluator, waiting, out, Path(folder)))


async def _worker(
    pool: ProcessPool, work: Work, program: Program, evaluator: Program, waiting: Iterator[int], out: Path,
    folder: Path,
) -> None:
    for seed in waiting:
        episode = await pool.roll(RollTask(
            order=f"bench/{seed}", program=program, split="bench", index=seed, seed=seed,
        ))
        score = Score(fitness=0.0)
        if episode.trajectory is not None:
            score = await pool.score(evaluator, episode)
            trajectory_path(folder, episode.trajectory).unlink()
        line = line_of(work, program, episode, score)
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def line_of(work: Work, program: Program, episode: Episode, score: Score) -> Line:
    """One line of the file."""
    drawn = episode.info.get("drawn")
    fault = episode.fault or score.fault
    return {
        "policy": work.policy, "case": work.case, "seed": episode.seed, "digest": program.digest,
        "physics": work.options["physics"], "success": episode.success, "steps": episode.steps,
        "ended_by": episode.ended_by, "fault": None if fault is None else f"{fault.kind}: {fault.message}",
        "fitness": score.fitness, "drops": score.metrics.get("drop_count"),
        "placements": episode.info.get("placements"), "off_peg": episode.info.get("off_peg_parkings"),
        "drawn": None if episode.success else drawn,
    }


def lines(path: Path) -> list[Line]:
    """The episodes so far; an incomplete last line does not count."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
    return [json.loads(line) for line in whole.splitlines()]


def distinct(found: Iterable[Line]) -> list[Line]:
    """Every episode once, even if files overlap."""
    return list({key_of(line): line for line in found}.values())


def key_of(line: Line) -> tuple[JSON, ...]:
    """The key that identifies an episode."""
    return line["policy"], line["case"], line["physics"], line["seed"], line["digest"]


# --------------------------------------------------------------------------------------------- tables


def show(found: list[Line]) -> str:
    """A row for each policy, case and physics."""
    rows: list[tuple[str, ...]] = [
        ("policy", "case", "physics", "n", "success", "rate [95 %]", "median", "p90", "drops", "off-peg", "ended")
    ]
    for (name, case, physics), group in _grouped(found, ("policy", "case", "physics")):
        good = [line["steps"] for line in group if line["success"]]
        low, high = wilson(len(good), len(group))
        failures: dict[str, int] = {}
        for line in group:
            if not line["success"]:
                failures[line["ended_by"]] = failures.get(line["ended_by"], 0) + 1
        rows.append((
            name, case, physics, str(len(group)), str(len(good)),
            f"{len(good) / len(group):.3f} [{low:.3f}, {high:.3f}]",
            f"{median(good):.0f}" if good else "–", f"{quantile(good, 0.9):.0f}" if good else "–",
            str(sum(line["drops"] or 0 for line in group)), str(sum(line["off_peg"] or 0 for line in group)),
            ", ".join(f"{count} {word}" for word, count in sorted(failures.items())) or "–",
        ))
    return _table(rows)


def compare(found: list[Line], first: str = "exact") -> str:
    """The paired differences of each physics from `first`, by policy and case."""
    rows: list[tuple[str, ...]] = [(
        "policy", "case", "physics", "pairs", f"success {first}", "success", "difference [95 %]",
        f"fitness {first}", "fitness", "difference [95 %]",
    )]
    for (name, case, physics), group in _grouped(found, ("policy", "case", "physics")):
        base = {
            line["seed"]: line for line in found
            if (line["policy"], line["case"], line["physics"], line["digest"])
            == (name, case, first, group[0]["digest"])
        }
        pairs = [(base[line["seed"]], line) for line in group if line["seed"] in base]
        if physics == first or not pairs:
            continue
        only_first = sum(a["success"] and not b["success"] for a, b in pairs)
        only_here = sum(b["success"] and not a["success"] for a, b in pairs)
        rate = paired_rates(only_first, only_here, len(pairs))
        fitness = paired_means([a["fitness"] for a, _ in pairs], [b["fitness"] for _, b in pairs])
        rows.append((
            name, case, physics, str(len(pairs)),
            f"{fmean(a['success'] for a, _ in pairs):.3f}", f"{fmean(b['success'] for _, b in pairs):.3f}",
            _interval(rate),
            f"{fmean(a['fitness'] for a, _ in pairs):.3f}", f"{fmean(b['fitness'] for _, b in pairs):.3f}",
            _interval(fitness),
        ))
    return _table(rows)


def _grouped(found: list[Line], keys: tuple[str, ...]) -> list[tuple[tuple[str, ...], list[Line]]]:
    groups: dict[tuple[str, ...], list[Line]] = {}
    for line in found:
        groups.setdefault(tuple(line[key] for key in keys), []).append(line)
    return list(groups.items())


def _interval(values: tuple[float, float, float]) -> str:
    return "{:+.3f} [{:+.3f}, {:+.3f}]".format(*values)


def _table(rows: list[tuple[str, ...]]) -> str:
    """Markdown."""
    rule = tuple("---" for _ in rows[0])
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], rule, *rows[1:]])


# ------------------------------------------------------------------------------------------- commands


def measure_command(arguments: argparse.Namespace) -> str:
    """Success of policies by case."""
    found = _roll(arguments, [arguments.physics])
    return show(found)


def pairs_command(arguments: argparse.Namespace) -> str:
    """The same seeds under several physics."""
    found = _roll(arguments, arguments.physics.split(","))
    return compare(found)


def _roll(arguments: argparse.Namespace, physics: list[str]) -> list[Line]:
    """Roll out in blocks of seeds, so that an interrupted measurement covers every case."""
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.n)
    for start in range(seeds.start, seeds.stop, arguments.block):
        for name in arguments.policy or ["reference"]:
            for case in arguments.case or ["table"]:
                for path in physics:
                    given = {"rules": arguments.rules, "horizon": arguments.horizon,
                             "idle_stop_s": arguments.idle_stop_s,
                             **parse_case(case), "physics": path}
                    work = Work(
                        policy=name, case=case, options=DOMAIN.options(given, preset="paper"),
                        seeds=range(start, min(start + arguments.block, seeds.stop)),
                    )
                    asyncio.run(run(work, arguments.out, workers=arguments.workers))
    return lines(arguments.out)


def main() -> None:
    """Run one command and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    rolling: tuple[tuple[str, str, Callable[[argparse.Namespace], str]], ...] = (
        ("measure", "fast", measure_command), ("pairs", "exact,fast", pairs_command),
    )
    for name, physics, command in rolling:
        sub = commands.add_parser(name)
        sub.add_argument("--out", type=Path, required=True)
        sub.add_argument("--policy", action="append", help="default: reference")
        sub.add_argument("--case", action="append", help="default: table")
        sub.add_argument("--n", type=int, default=100, help="episodes per case")
        sub.add_argument("--first-seed", type=int, default=1_000_000)
        sub.add_argument("--workers", type=int, default=1)
        sub.add_argument("--block", type=int, default=20, help="episodes of a case before the next case")
        sub.add_argument("--physics", default=physics)
        sub.add_argument("--rules", default="strict")
        sub.add_argument("--horizon", type=int, default=12_000)
        sub.add_argument("--idle-stop-s", type=float, default=0.0)
        sub.set_defaults(command=command)
    for name, table in (("show", show), ("compare", compare)):
        sub = commands.add_parser(name)
        sub.add_argument("files", type=Path, nargs="+")
        sub.set_defaults(
            command=lambda given, table=table: table(distinct(line for path in given.files for line in lines(path)))
        )
    arguments = parser.parse_args()
    print(arguments.command(arguments))


if __name__ == "__main__":
    main()
