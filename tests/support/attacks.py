"""Programs that try to score without doing the task: how they are rolled out, and what must become of each."""

import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Self

import pytest
from memento.core.ports import RollTask
from memento.core.provenance import GIVEN
from memento.core.recording import Recording
from memento.core.recording_file import load_recording
from memento.core.seeds import salted_seed
from memento.core.values import JSON, Episode, Program
from memento.domains import audit_reader, import_string
from memento.domains import load as load_domain
from memento.runtime.rollouts.pool import ProcessPool

WORKERS = 2
SALT = "5eed" * 8       # seeds are salted as in a run


@dataclass(frozen=True, slots=True)
class Attack:
    """One program, the options it plays under, and the outcome that it must have.

    An outcome is what ended the episode, with the broken rule or the kind of fault: "horizon", "illegal: parking",
    "fault: crashed", or "success" where the rules permit what the program does; alternatives as "a or b".
    """

    name: str                               # as in `text_of`
    ends: str
    at_most: float = 1.0                    # bound on the fitness that the reference evaluator gives
    options: Mapping[str, JSON] = field(default_factory=dict)
    finding: str | None = None              # why it still gets through: the test is a strict xfail


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one episode."""

    episode: Episode
    fitness: float

    @property
    def text(self) -> str:
        """As in `Attack.ends`."""
        episode = self.episode
        detail = episode.info.get("broken_rule") if episode.fault is None else episode.fault.kind.value
        assert episode.success or episode.ended_by != "success"
        if episode.success and episode.ended_by != "success":
            return f"{episode.ended_by}, success"       # where an environment's own word for success is hidden
        return f"{episode.ended_by}: {detail}" if detail else episode.ended_by


class Arena:
    """A domain's worker pool, kept for all tests of a module."""

    def __init__(self, domain: str, choices: Sequence[Mapping[str, JSON]]) -> None:
        """`choices` are all options that episodes will have."""
        known = load_domain(domain, GIVEN)
        evaluator = known.reference_evaluator()
        assert evaluator is not None
        self._evaluator = evaluator
        self._runner = asyncio.Runner()
        self._folder = tempfile.TemporaryDirectory(prefix="memento-attacks-")
        self._pool = ProcessPool(
            domain=import_string(domain), workers=WORKERS, trajectories=Path(self._folder.name),
            splits={_split_of(options): known.options(options, preset="paper") for options in choices},
        )

    def __enter__(self) -> Self:
        self._runner.run(self._pool.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._pool.__aexit__(None, None, None))
        self._runner.close()
        self._folder.cleanup()

    def recording(self, episode: Episode) -> Recording | None:
        """The true states of a played episode; None where its program failed."""
        return load_recording(Path(self._folder.name) / f"{episode.trajectory}.npz") if episode.trajectory else None

    def play(
        self, text: str, options: Mapping[str, JSON], seeds: Sequence[int], names: Mapping[str, str] | None = None,
    ) -> list[Outcome]:
        """Episodes 0, 1, … with these seeds; the fitness is the reference evaluator's, 0 where the program failed.

        `names` in the program are replaced: what it knows about an episode beforehand.
        """
        for name, other in (names or {}).items():
            text = text.replace(f'"{name}"', f'"{other}"')
        salted = [salted_seed(seed, SALT) for seed in seeds]
        return self._runner.run(self._play(Program(text), _split_of(options), salted))

    async def _play(self, program: Program, split: str, seeds: Sequence[int]) -> list[Outcome]:
        tasks = [
            RollTask(order=f"attack/e{k}", program=program, split=split, index=k, seed=seed)
            for k, seed in enumerate(seeds)
        ]
        return list(await asyncio.gather(*(self._one(task) for task in tasks)))

    async def _one(self, task: RollTask) -> Outcome:
        episode = await self._pool.roll(task)
        if episode.fault is not None:
            return Outcome(episode=episode, fitness=0.0)
        return Outcome(episode=episode, fitness=(await self._pool.score(self._evaluator, episode)).fitness)


def text_of(name: str, folder: Path) -> str:
    """A program's text: a file in a folder of tests, or else one of the programs of the domain's audit.

    A file has what it shares with the domain's programs in place of its import, since a program is one text.
    """
    own = folder / f"{name}.py"
    if not own.exists():
        return _shipped(folder)[name]
    audit = _audit(folder)
    return own.read_text(encoding="utf-8").replace(
        f"from {audit.__name__} import Scripted\n", audit_reader.shared_text(audit)
    )


def _audit(folder: Path) -> ModuleType:
    return import_module(f"memento.domains.{folder.name}.audit")


def _shipped(folder: Path) -> dict[str, str]:
    """The texts of the programs of a domain's audit by their names."""
    name = {"kitchen": "Policy"}.get(folder.name, "FrankaPolicy")
    return {each.name: each.program.text for each in audit_reader.read_audit(_audit(folder), name)}


def _split_of(options: Mapping[str, JSON]) -> str:
    return json.dumps(options, sort_keys=True)


def arena(domain: str, choices: Sequence[Mapping[str, JSON]]) -> Iterator[Arena]:
    """For a fixture of a module."""
    with Arena(domain, choices) as made:
        yield made


def cases(attacks: Sequence[Attack]) -> list[object]:
    """Parameters of a test, one for each attack."""
    return [
        pytest.param(
            attack, id=attack.name,
            marks=[pytest.mark.xfail(strict=True, reason=attack.finding)] if attack.finding else [],
        )
        for attack in attacks
    ]


def check(attack: Attack, outcomes: Sequence[Outcome]) -> None:
    """Every episode ended as the table says."""
    for outcome in outcomes:
        assert outcome.text in attack.ends.split(" or "), (outcome.text, outcome.episode.fault)
        assert outcome.fitness <= attack.at_most, outcome.fitness


def complete(attacks: Sequence[Attack], folder: Path) -> bool:
    """Whether the table has every program of a folder and of the domain's audit, each once."""
    found = {*(path.stem for path in folder.glob("*.py")), *_shipped(folder)}
    return sorted(attack.name for attack in attacks) == sorted(found)
