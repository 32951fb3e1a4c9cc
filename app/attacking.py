"""Attacks on evaluators: breeds programs that an evaluator likes although they never succeed."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ..core.audits import BRED, AuditedProgram
from ..core.errors import UsageError
from ..core.events import AttackEvaluator, EvaluatorAttacked, Propose, RunStarted
from ..core.examined import AttackCount
from ..core.files import replace_file
from ..core.ports import Auditable, Domain, Pool, RollTask, Shelf, shelf_of
from ..core.programs.program_text import digest
from ..core.recording_file import trajectory_path
from ..core.seeds import derive_seed
from ..core.text import one_line
from ..core.values import JSON, CandidateState, Episode, EpisodeNotes, Exploit, Operator, Probe, Program
from ..memory.store import RunStore
from ..models.offline.edits import Workshop, first_class
from ..models.offline.proposer import propose
from .given_files import read_program

# Breeds programs that an evaluator likes although they never succeed, for an audit.
#
# A plain evolution: the parents of the next program are drawn from the fittest unsuccessful programs so far, and the
# offline mutator edits or recombines them. A program is determined by the seed, its number and the programs judged
# before its batch, so the number of workers has no effect.


BATCH: Final = 8        # programs made of the same parents' pool, whatever the number of workers
PARENTS: Final = 12     # the fittest unsuccessful programs
TRIES: Final = 20       # for a program that was not judged before
FRESH: Final = 0.15     # of programs: every part drawn at random
CROSSED: Final = 0.25
LARGE: Final = 0.25     # macro-mutations; the rest are small edits


class Breeder:
    """Makes the programs of an audit, one batch after the other."""

    def __init__(self, shelf: Shelf | None, founders: Sequence[AuditedProgram], *, seed: int) -> None:
        """`founders` are programs that were judged already; without a shelf their numbers are what can be changed."""
        self._judged = [each for each in founders if each.text is not None]
        self._seed = seed
        self._number = 0
        self._known = {digest(Program(each.text)) for each in self._judged if each.text is not None}
        self._fresh = shelf is not None
        if shelf is None and self._judged:
            frame = f"class {first_class(self._judged[0].text or '')}:\n    pass\n"
            shelf = Shelf(initial=Program(frame), parts=(), evaluators=())
        self._workshop = None if shelf is None else Workshop(shelf)

    def batch(self, most: int) -> tuple[tuple[str, str], ...]:
        """Names and texts of at most `most` new programs, fewer or none where no new ones can be made."""
        made = []
        for _ in range(min(most, BATCH)):
            text = self._program()
            if text is None:
                break
            self._number += 1
            made.append((f"{BRED}-{self._number}", text))
        return tuple(made)

    def judged(self, programs: Sequence[AuditedProgram]) -> None:
        """The results of a batch."""
        self._judged += programs

    def _program(self) -> str | None:
        for attempt in range(TRIES):
            rng = random.Random(derive_seed(self._seed, "audit", self._number, attempt))
            text = self._proposed(rng)
            known = None if text is None else digest(Program(text))
            if text is not None and known is not None and known not in self._known:
                self._known.add(known)
                return text
        return None

    def _proposed(self, rng: random.Random) -> str | None:
        """The text of one program; None where the mutator cannot edit what was drawn."""
        if self._workshop is None:
            return None
        parents = self._parents(rng)
        draw = rng.random()
        if not parents and not self._fresh:
            return None
        if not parents or (self._fresh and draw < FRESH):
            operator, parents = Operator.INITIAL, ()
        elif draw < FRESH + CROSSED and len(parents) > 1:
            operator = Operator.CROSSOVER
        else:
            operator = Operator.MACRO if draw < FRESH + CROSSED + LARGE else Operator.HILL_CLIMB
            parents = parents[:1]
        order = Propose(
            id=f"audit/{self._number}", operator=operator, generation=0, slot=self._number + 1, parents=parents
        )
        try:
            return propose(order, self._workshop, rng, attempt=0)[0]
        except SyntaxError:
            return None

    def _parents(self, rng: random.Random) -> tuple[CandidateState, ...]:
        """Two different programs, each the better of two drawn from the fittest; fewer if there are no more."""
        best = sorted((each for each in self._judged if each.counts), key=lambda each: -each.fitness)[:PARENTS]
        chosen: list[CandidateState] = []
        while best and len(chosen) < 2:
            each = best.pop(min(rng.randrange(len(best)), rng.randrange(len(best))))
            assert each.text is not None
            chosen.append(CandidateState(
                id=each.name, program=Program(each.text), operator=Operator.INITIAL, generation=0, slot=0,
                fitness=each.fitness, metrics={},
            ))
        return tuple(chosen)


# Attacks of a run: one order is one attack on one evaluator.


KEPT: Final = 3         # of the fittest exploits of an attack, with their recordings
GIVEN: Final = "given"
FOUND: Final = 200      # characters on where an exploit came from


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """A program with its one episode under the evaluator."""

    program: AuditedProgram
    episode: Episode


class EvaluatorAttacker:
    """Attacks evaluators with the programs of the order, with the domain's, and with those bred from them."""

    def __init__(self, *, pool: Pool, domain: Domain, options: Mapping[str, JSON], trajectories: Path) -> None:
        """Recordings are in the folder `trajectories`; only those of the exploits stay there."""
        self._pool, self._domain, self._options, self._folder = pool, domain, options, trajectories

    async def carry_out(self, order: AttackEvaluator) -> EvaluatorAttacked:
        """Carry out one attack. Raises RolloutError and StoreError."""
        given = [(f"{GIVEN}-{number}", program.text) for number, program in enumerate(order.programs)]
        if isinstance(self._domain, Auditable):     # programs that know other scenes cannot be played here
            written = self._domain.audit_programs(self._options, seeds=(order.seed,))
            given += [(each.name, each.program.text) for each in written if each.options is None]
        tried = await self._all(order, given)
        breeder = Breeder(shelf_of(self._domain, self._options), [each.program for each in tried], seed=order.seed)
        left = order.tries
        while left > 0 and (batch := breeder.batch(left)):
            bred = await self._all(order, batch)
            breeder.judged([each.program for each in bred])
            tried += bred
            left -= len(batch)
        counted = [each.program.fitness for each in tried if each.program.counts]
        exploits = sorted(
            (each for each in tried if each.program.counts and each.program.fitness >= order.bar),
            key=lambda each: -each.program.fitness,
        )
        kept = exploits[:KEPT]
        for each in tried:
            if each not in kept and each.episode.trajectory is not None:
                trajectory_path(self._folder, each.episode.trajectory).unlink(missing_ok=True)
        count = AttackCount(tried=len(counted), found=len(exploits), best=max(counted, default=None))
        return EvaluatorAttacked(order=order.id, count=count, exploits=tuple(_exploit(order, each) for each in kept))

    async def _all(self, order: AttackEvaluator, programs: Sequence[tuple[str, str]]) -> list[_Tried]:
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._one(order, name, text)) for name, text in programs]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]

    async def _one(self, order: AttackEvaluator, name: str, text: str) -> _Tried:
        episode = await self._pool.roll(RollTask(
            order=f"{order.id}/{name}", program=Program(text), split=order.split, index=0, seed=order.seed
        ))
        fitness, faults = 0.0, int(episode.fault is not None)
        if episode.fault is None:
            score = await self._pool.score(order.evaluator, episode)
            fitness, faults = score.fitness, int(score.fault is not None)
        program = AuditedProgram(
            name=name, kind=BRED, text=text, fitnesses=(fitness,), successes=(episode.success,), faults=faults
        )
        return _Tried(program=program, episode=episode)


def _exploit(order: AttackEvaluator, tried: _Tried) -> Exploit:
    """The exploit with what its recording says, without what the machine measured."""
    episode = replace(tried.episode, wall_s=0.0, notes=EpisodeNotes(story=tried.episode.notes.story))
    probe = Probe(name=f"{order.id}: {tried.program.name}", episode=episode)
    return Exploit(probe=probe, program=Program(tried.program.text or ""), fitness=tried.program.fitness)


# The exploits that a user keeps: a folder of policies, one file each, with which later attacks begin.


NOTE: Final = "# An exploit: an evaluator liked this policy, which never did the task."
DOMAIN: Final = "# domain: "


def read_exploits(given: str | None, name: str, domain: Domain) -> tuple[Program, ...]:
    """The policies in the folder `given`, none for None, for the domain of this `name`.

    Raises UsageError with the file for one that is not a policy of this domain, and for a folder without policies.
    """
    if given is None:
        return ()
    folder = Path(given)
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder} of exploits: memento audit RUN --keep {folder} makes it")
    paths = sorted(path for path in folder.glob("*.py") if not path.name.startswith("."))
    if not paths:
        raise UsageError(f"the folder {folder} holds no exploit: memento audit RUN --keep {folder} adds those of a run")
    found: dict[str, Program] = {}
    for path in paths:
        program = read_program(path, domain.contract, role="policy")
        noted = [line.removeprefix(DOMAIN) for line in program.text.splitlines()[:2] if line.startswith(DOMAIN)]
        if noted not in ([], [name]):
            raise UsageError(f"the policy file {path} is an exploit of {noted[0]!r}, not of {name!r}: move it")
        found.setdefault(digest(program), program)
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptExploits:
    """How many files were added for the exploits of runs, and how many exploits the folder had."""

    added: int
    known: int


def keep_exploits(runs: Sequence[Path], folder: Path) -> KeptExploits:
    """Add the exploits that attacks in these runs found to a folder, which may be new. A file that is there stays.

    Raises UsageError for a run whose evaluators were not attacked, and for a folder that cannot be written.
    """
    texts: dict[str, str] = {}
    for run in runs:
        texts = {**_exploits_of(run), **texts}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        fresh = [name for name in texts if not (folder / name).exists()]
        for name in fresh:
            replace_file(folder / name, texts[name].encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None
    return KeptExploits(added=len(fresh), known=len(texts) - len(fresh))


def _exploits_of(run: Path) -> dict[str, str]:
    """The texts of the exploits in a run's log, each with where it came from, by the names of their files."""
    with RunStore.read(run) as store:
        started = next(iter(store.facts(only=(RunStarted,))), None)
        attacks = tuple(store.facts(only=(EvaluatorAttacked,)))
    if not isinstance(started, RunStarted) or not attacks:
        raise UsageError(
            f"no evaluator was attacked in the run {run.name!r}: exploits are kept of runs with evaluator_attacks"
        )
    domain = one_line(str(started.settings["domain"]), FOUND)
    texts: dict[str, str] = {}
    for fact in attacks:
        assert isinstance(fact, EvaluatorAttacked)
        for each in fact.exploits:
            found = one_line(f"run {run.name}, {each.probe.name}, f_e {each.fitness:.3f}", FOUND)
            note = f"{NOTE}\n{DOMAIN}{domain}\n# found: {found}\n"
            texts.setdefault(f"{digest(each.program)[:16]}.py", note + _unnoted(each.program.text))
    return texts


def _unnoted(text: str) -> str:
    """The text of a program without the note of the file that it was read from."""
    return text.split("\n", 3)[-1] if text.startswith(f"{NOTE}\n{DOMAIN}") else text
