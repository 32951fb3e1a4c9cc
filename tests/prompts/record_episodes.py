"""Records what the golden prompts of the real domains are made of: mature programs, their episodes and evaluators.

    python -m memento.tests.prompts.record_episodes [DOMAIN ...]

The reference policies stand in for mature programs, with horizons that some episodes exceed. Two revisions of the
reference evaluator by the offline model compete with it in the pool of the judges. Run it again after a change of a
story, a reference policy or a reference evaluator; the files are checked in, because rollouts are slow.
"""

import asyncio
import gzip
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from memento.agents.rollout_agents import Examiner, ProbeAgent
from memento.core.events import (
    EpisodeEnded,
    EpisodeScored,
    EvaluatorExamined,
    Examine,
    Fact,
    ProbesRecorded,
    ProposeEvaluator,
    RecordProbes,
)
from memento.core.ports import Domain, RollTask
from memento.core.provenance import GIVEN
from memento.core.values import CallTimes, Episode, EvaluatorCandidate, Probe, Program, Score
from memento.domains import import_string, load
from memento.memory.codec import decode, encode, references, revive
from memento.models.offline.evaluators import write_evaluator
from memento.runtime.rollouts.pool import ProcessPool

from ..reference_policies import policy_program

FOLDER = Path(__file__).parent / "recorded"
EPISODES = 10
CUT = 2  # the first episodes, whose beginnings are probes: the prompts at two episodes have them as well
REVISIONS = 2
OPTIONS = {
    "hanoi": {"horizon": 2_000, "randomisation": "hard"},
    "hanoi-kinematic": {"horizon": 700, "randomisation": "hard"},
    "kitchen": {"horizon": 60},
}
TIMES = CallTimes(median_ms=0.3, p99_ms=0.9, most_ms=12.0, start_ms=60.0)  # the measured ones differ between runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The episodes of a domain's reference policy with their scores, the probes, and a pool of evaluators."""

    episodes: tuple[Episode, ...]
    scores: tuple[Score, ...]
    probes: tuple[Probe, ...]
    pool: tuple[EvaluatorCandidate, ...]


async def record(domain: str) -> list[Fact]:
    """The facts that a recording consists of."""
    loaded = load(domain, GIVEN)
    options = loaded.options(OPTIONS[domain], preset="smoke")
    with tempfile.TemporaryDirectory() as folder:
        async with ProcessPool(
            domain=import_string(domain), splits={"search": options}, workers=2, trajectories=Path(folder),
        ) as pool:
            tasks = [
                RollTask(order=f"e{index}", program=policy_program(domain), split="search", index=index,
                         seed=100 + index)
                for index in range(EPISODES)
            ]
            episodes = await asyncio.gather(*map(pool.roll, tasks))
            facts: list[Fact] = [EpisodeEnded(episode=_plain(episode)) for episode in episodes]
            found = await ProbeAgent(pool=pool).carry_out(
                RecordProbes(id="probes", split="search", seed=7, episodes=tuple(episodes[:CUT]))
            )
            facts.append(replace(found, probes=tuple(
                replace(probe, episode=_plain(probe.episode)) for probe in found.probes)))
            for number, evaluator in enumerate(evaluators(loaded)):
                order = Examine(id=f"x{number}", evaluator=evaluator, episodes=tuple(episodes), probes=found.probes)
                facts.append(await Examiner(pool=pool).carry_out(order))
                if number == 0:
                    facts += [
                        EpisodeScored(score=episode.counted(await pool.score(evaluator, episode)))
                        for episode in episodes
                    ]
    return facts


def evaluators(domain: Domain) -> list[Program]:
    """The reference evaluator, and revisions of it by the offline model."""
    return [program for program, _ in _pool(domain)]


def _pool(domain: Domain) -> list[tuple[Program, str]]:
    reference, shelf = domain.reference_evaluator(), domain.shelf()
    assert reference is not None and shelf is not None
    parent = EvaluatorCandidate(id="eval/g0/0", generation=0, slot=0, program=reference)
    made = [(reference, "The reference evaluator")]
    for slot in range(1, REVISIONS + 1):
        order = ProposeEvaluator(
            id=f"eval/g1/{slot}", generation=1, slot=slot, parent=parent, episodes=(), success_rate=0.0
        )
        text, summary = write_evaluator(order, shelf.evaluators, random.Random(slot))
        made.append((Program(text), summary))
    return made


def _plain(episode: Episode) -> Episode:
    """The episode without what differs between recordings, and without the domain's draws."""
    rule = {key: value for key, value in episode.info.items() if key == "broken_rule" and value}
    notes = replace(episode.notes, times=TIMES)
    return replace(episode, trajectory=None, wall_s=0.0, info=rule, notes=notes)


@cache
def recorded(domain: str) -> Recorded:
    """The recording of a domain."""
    with gzip.open(FOLDER / f"{domain}.json.gz", "rt", encoding="utf-8") as file:
        rows = json.load(file)
    blobs = {name: revive(name, content) for name, content in rows["blobs"].items()}
    facts = [decode(kind, None, body, {name: blobs[name] for name in references(body)}) for kind, body in rows["facts"]]
    examined = [fact.examination for fact in facts if isinstance(fact, EvaluatorExamined)]
    pool = [
        EvaluatorCandidate(
            id=f"eval/g1/{slot}", generation=1, slot=slot, program=program, summary=summary, examination=examination
        )
        for slot, ((program, summary), examination) in enumerate(zip(_pool(load(domain, GIVEN)), examined, strict=True))
    ]
    return Recorded(
        episodes=tuple(fact.episode for fact in facts if isinstance(fact, EpisodeEnded)),
        scores=tuple(fact.score for fact in facts if isinstance(fact, EpisodeScored)),
        probes=next(fact.probes for fact in facts if isinstance(fact, ProbesRecorded)),
        pool=tuple(pool),
    )


def write(domain: str, facts: Sequence[Fact]) -> None:
    """Store a recording: the same facts give the same bytes."""
    rows, blobs = [], {}
    for fact in facts:
        encoded = encode(fact)
        rows.append([encoded.kind, encoded.body])
        blobs |= {name: blob.content for name, blob in encoded.blobs.items()}
    text = json.dumps({"facts": rows, "blobs": blobs}, ensure_ascii=False)
    (FOLDER / f"{domain}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main() -> None:
    """Record the domains that are named, or all."""
    for domain in sys.argv[1:] or OPTIONS:
        write(domain, asyncio.run(record(domain)))


if __name__ == "__main__":
    main()
