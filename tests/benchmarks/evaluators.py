"""What tests and attacks find in evaluators, and what revisions do: shipped ones, and fresh ones of the offline writer.

    python -m memento.tests.benchmarks.evaluators --out rows.jsonl [TASK ...]
    python -m memento.tests.benchmarks.evaluators --out rows.jsonl --show         # the table alone

For each task p_0 is rolled out, the probes and ladders of a run are put on record, and every evaluator is examined on
them: pairs of certain order, changes without meaning, validity. Each valid one is attacked and revised as in a run
with `evaluator_attacks=3` and the offline model. Successes that it had seen, and those of known solutions on seeds that
it had not, are scored before and after. One evaluator is one line of JSON in the file; started again with the same
file, the benchmark continues where it stopped. Prints a table in Markdown.
"""

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from memento.agents.evaluator_attacker import EvaluatorAttacker
from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.rollout_agents import Examiner, ProbeAgent
from memento.app.breeding import breeder_for
from memento.core.evaluator_attacks import successes_of
from memento.core.events import (
    AttackEvaluator,
    EvaluatorHardened,
    Examine,
    Order,
    ProposalMade,
    ProposeEvaluator,
    RecordProbes,
)
from memento.core.examined import TOLERANCE, AttackCount
from memento.core.ports import Domain, Pool, RollTask, interpreter_of, shelf_of
from memento.core.provenance import GIVEN
from memento.core.recording_file import trajectory_key, trajectory_path
from memento.core.seeds import salted_seed
from memento.core.values import (
    JSON,
    CandidateState,
    Episode,
    EvaluatorCandidate,
    Examination,
    Operator,
    Probe,
    Program,
    Score,
)
from memento.domains import import_string, load
from memento.domains.gallery import policy_file
from memento.models.offline import OfflineModel
from memento.runtime.prompts import PromptFolder
from memento.runtime.rollouts.pool import ProcessPool
from memento.search.hardening import AttackTerms, HardeningKeeper
from pydantic import TypeAdapter

from ..reference_policies import policy_program

FRESH: Final = 10           # evaluators of the offline writer
ROUNDS: Final = 3
BASELINE_EPISODES: Final = 3
UNSEEN: Final = 2           # episodes of a known solution that no evaluator saw in its revision
SEED: Final = salted_seed(5, "5eed" * 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task with its options beyond `--preset quick`, the programs bred for an attack, and a known solution if any.

    `tries` counts the programs bred, fewer where episodes cost.
    """

    domain: str
    tries: int = 16
    options: Mapping[str, JSON] = field(default_factory=dict)
    solution: str | None = None     # a module of reference policies, or a program of the gallery


TASKS: Final = (
    Task(domain="hanoi-kinematic", solution="hanoi_kinematic"),
    Task(domain="hanoi", tries=4, options={"n_cubes": 2, "physics": "fast", "horizon": 500}, solution="hanoi"),
    Task(domain="kitchen"),
    Task(domain="robosuite:Lift", tries=4),
    Task(domain="robosuite:NutAssemblySquare", tries=4, solution="gallery:nut-assembly-square"),
    Task(domain="gym:Pendulum-v1"),
    Task(domain="gym:LunarLander-v3"),
    Task(domain="gym:FetchPush-v4", tries=8, solution="gallery:fetch-push"),
)
ORIGINS: Final = ("reference", "shipped", "fresh")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One evaluator. `problem` says why it is not valid; then there are no other figures.

    `seen` and `unseen` count genuine successes on record, `lost` those whose f_e fell beyond the tolerance.
    """

    domain: str
    origin: str
    name: str
    problem: str = ""
    pairs: int = 0
    inversions: int = 0
    changes: int = 0
    moved: int = 0
    flaw: str = ""
    before: AttackCount | None = None
    after: AttackCount | None = None
    attacks: int = 0
    revised: int = 0
    seen: int = 0
    unseen: int = 0
    lost: int = 0


_LINE: Final = TypeAdapter(Line)


class Remembering:
    """A pool that rolls the same program out on the same seed once: evaluators are attacked by the same programs.

    Recordings stay, although attacks remove their own.
    """

    def __init__(self, pool: Pool, folder: Path) -> None:
        self._pool, self._folder = pool, folder
        self._rolled: dict[tuple[str, int, int], Episode] = {}

    async def roll(self, task: RollTask) -> Episode:
        """The episode, with a recording under the name of this order. Raises RolloutError."""
        key = (task.program.digest, task.index, task.seed)
        if key not in self._rolled:
            first = f"first/{task.program.digest[:12]}-{task.index}-{task.seed}"
            self._rolled[key] = await self._pool.roll(replace(task, order=first))
        episode = self._rolled[key]
        if episode.trajectory is None:
            return episode
        name = trajectory_key(task.order)
        path = trajectory_path(self._folder, name)
        path.unlink(missing_ok=True)
        os.link(trajectory_path(self._folder, episode.trajectory), path)
        return replace(episode, trajectory=name)

    async def score(self, evaluator: Program, episode: Episode) -> Score:
        """The score of a recorded episode. Raises RolloutError."""
        return await self._pool.score(evaluator, episode)

    async def examine(self, evaluator: Program, episodes: Sequence[Episode]) -> Examination:
        """The examination of an evaluator. Raises RolloutError."""
        return await self._pool.examine(evaluator, episodes)


class Lab:
    """One task with the agents of a run that test, attack and revise evaluators."""

    def __init__(
        self, task: Task, domain: Domain, options: Mapping[str, JSON], pool: ProcessPool, folder: Path
    ) -> None:
        self.task, self._pool = task, pool
        self.remembering = Remembering(pool, folder)
        shelf = shelf_of(domain, options)
        self.shipped = () if shelf is None else shelf.evaluators
        self.initial = solution_of(task) if shelf is None else shelf.initial
        self.baseline: CandidateState
        self.probes: tuple[Probe, ...] = ()
        self.unseen: tuple[Episode, ...] = ()
        self._evolver = EvaluatorEvolver(
            model=OfflineModel(shelf, run_seed=1), prompts=PromptFolder(), brief=domain.brief(options),
            contract=domain.evaluator_contract,
        )
        self._writes = shelf is not None
        attacker = EvaluatorAttacker(
            pool=self.remembering, domain=domain, options=options, trajectories=folder,
            breed=breeder_for(domain, options),
        )
        self._agents: Mapping[type[Order], Any] = {
            AttackEvaluator: attacker, Examine: Examiner(pool=self.remembering), ProposeEvaluator: self._evolver,
        }

    async def prepare(self) -> None:
        """Roll out p_0, record the probes of tests, and the known solution on seeds in the probes and not in them."""
        assert self.initial is not None
        rolled = [await self._roll("p_0", self.initial, SEED + e, index=e) for e in range(BASELINE_EPISODES)]
        whole = tuple(each for each in rolled if each.fault is None)
        self.baseline = CandidateState(
            id="init/0", program=self.initial, operator=Operator.INITIAL, generation=0, slot=0, fitness=0.0,
            metrics={}, episodes=whole, success_rate=sum(each.success for each in whole) / max(1, len(whole)),
        )
        recorded = await ProbeAgent(pool=self._pool).carry_out(RecordProbes(
            id="eval/probes", split="search", seed=SEED, episodes=whole, program=self.initial,
        ))
        self.probes = recorded.probes
        solution = solution_of(self.task)
        if solution is not None:
            good = [await self._roll(f"good-{e}", solution, SEED + 100 + e, index=e) for e in range(1 + UNSEEN)]
            self.probes += (Probe(name="a known solution", episode=good[0]),)
            self.unseen = tuple(each for each in good[1:] if each.success)

    async def _roll(self, name: str, program: Program, seed: int, *, index: int) -> Episode:
        return await self._pool.roll(RollTask(
            order=f"{name}/e{index}", program=program, split="search", index=index, seed=seed
        ))

    async def fresh(self, number: int) -> Program | None:
        """Evaluator `number` of the offline writer; None where it has no parts."""
        if not self._writes:
            return None
        made = await self._evolver.carry_out(ProposeEvaluator(
            id=f"eval/g0/{number}", generation=0, slot=number, parent=None, episodes=self.baseline.episodes,
            success_rate=self.baseline.success_rate, probes=self.probes,
        ))
        return made.program if isinstance(made, ProposalMade) else None

    async def line(self, origin: str, name: str, evaluator: Program) -> Line:
        """Examine one evaluator, attack it and revise it."""
        baseline = self.baseline
        examine = Examine(
            id="x", evaluator=evaluator, episodes=baseline.episodes, probes=self.probes, tested=True
        )
        found = (await self._agents[Examine].carry_out(examine)).examination
        line = Line(domain=self.task.domain, origin=origin, name=name)
        if not found.valid or found.tests is None:
            problem = found.fault.message if found.fault is not None else "it does not tell episodes apart"
            return replace(line, problem=problem[:200])
        chosen = EvaluatorCandidate(id="eval/g0/0", generation=0, slot=0, program=evaluator, examination=found)
        result = await self._hardened(chosen)
        last = result.chosen
        assert last.program is not None
        before, after = (successes_of(baseline.episodes, self.probes, each.examination) for each in (chosen, last))
        pairs = [(before[each], after[each]) for each in before]
        for episode in self.unseen if last.program != evaluator else ():
            scores = [await self._pool.score(program, episode) for program in (evaluator, last.program)]
            pairs.append((scores[0].fitness, scores[1].fitness))
        tests = found.tests
        return replace(
            line, pairs=tests.pairs, inversions=tests.inversions, changes=len(tests.invariances), moved=tests.moved,
            flaw=tests.flaw, before=result.before, after=result.after, attacks=result.rounds, revised=result.revised,
            seen=len(before), unseen=len(self.unseen), lost=sum(one - other > TOLERANCE for one, other in pairs),
        )

    async def _hardened(self, chosen: EvaluatorCandidate) -> EvaluatorHardened:
        """The evaluator after the rounds of attack and revision, as in a run."""
        keeper = HardeningKeeper(
            baseline=self.baseline, chosen=chosen, probes=self.probes,
            terms=AttackTerms(rounds=ROUNDS, seed=1, tries=self.task.tries, asks=False),
        )
        decision = keeper.start()
        while not keeper.finished(decision.state):
            [order] = decision.orders
            decision = keeper.decide(decision.state, await self._agents[type(order)].carry_out(order))
        [result] = [fact for fact in decision.facts if isinstance(fact, EvaluatorHardened)]
        return result


def solution_of(task: Task) -> Program | None:
    """The known solution of a task."""
    if task.solution is None:
        return None
    if task.solution.startswith("gallery:"):
        return Program(policy_file(task.solution).read_text(encoding="utf-8"))
    return policy_program(task.solution)


async def measure(task: Task, out: Path) -> None:
    """Append the lines of a task that the file lacks."""
    done = {(line.origin, line.name) for line in read(out) if line.domain == task.domain}
    domain = load(task.domain, GIVEN)
    options = domain.options(dict(task.options), preset="quick")
    with tempfile.TemporaryDirectory(prefix="memento-evaluators-") as folder:
        async with ProcessPool(
            domain=import_string(task.domain), splits={"search": options}, workers=2, trajectories=Path(folder),
            python=interpreter_of(domain, options, GIVEN),
        ) as pool:
            lab = Lab(task, domain, options, pool, Path(folder))
            await lab.prepare()
            for origin, name, evaluator in [each async for each in evaluators(lab, domain)]:
                if (origin, name) not in done:
                    line = await lab.line(origin, name, evaluator)
                    with out.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(asdict(line)) + "\n")


async def evaluators(lab: Lab, domain: Domain) -> AsyncIterator[tuple[str, str, Program]]:
    """The evaluators of a task with their origins and names."""
    reference = domain.reference_evaluator()
    if reference is not None:
        yield "reference", "reference", reference
    for number, program in enumerate(lab.shipped):
        yield "shipped", str(number), program
    for number in range(FRESH):
        written = await lab.fresh(number)
        if written is not None:
            yield "fresh", str(number), written


def read(path: Path) -> list[Line]:
    """The lines of the file; none if it is not there."""
    if not path.exists():
        return []
    return [_LINE.validate_json(row) for row in path.read_text(encoding="utf-8").splitlines()]


def table(lines: Sequence[Line]) -> str:
    """A row for each task and origin of evaluators."""
    rows = [
        "| task | evaluators | valid | certain pairs | inverted | changes broken | attack success before | after"
        " | revised | successes lost |",
        "|" + "---|" * 10,
    ]
    for domain in dict.fromkeys(line.domain for line in lines):
        for origin in ORIGINS:
            found = [line for line in lines if (line.domain, line.origin) == (domain, origin)]
            if found:
                rows.append(_row(domain, origin, found))
    return "\n".join(rows)


def _row(domain: str, origin: str, lines: Sequence[Line]) -> str:
    valid = [line for line in lines if not line.problem]
    if not valid:
        return f"| `{domain}` | {origin} {len(lines)} | 0 |" + " |" * 7
    inverted = sorted(line.inversions for line in valid)
    spread = str(inverted[0]) if inverted[0] == inverted[-1] else f"{inverted[0]} to {inverted[-1]}"
    successes = sum(line.seen + line.unseen for line in valid)
    cells = (
        f"`{domain}`", f"{origin} {len(lines)}", len(valid), max(line.pairs for line in valid), spread,
        f"{sum(line.moved for line in valid)} of {sum(line.changes for line in valid)}",
        _attacks([line.before for line in valid]), _attacks([line.after for line in valid]),
        sum(line.revised for line in valid), f"{sum(line.lost for line in valid)} of {successes}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def _attacks(counts: Sequence[AttackCount | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{sum(count.found for count in known)} of {sum(count.tried for count in known)}"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="all of them by default")
    parser.add_argument("--out", type=Path, required=True, help="a file of JSON lines")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    given = parser.parse_args()
    for task in TASKS if not given.show else ():
        if not given.tasks or task.domain in given.tasks:
            asyncio.run(measure(task, given.out))
    print(table(read(given.out)))


if __name__ == "__main__":
    main()
