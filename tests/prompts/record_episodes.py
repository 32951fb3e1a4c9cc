"""Records the episodes and scores of mature programs, from which the golden feedback of the real domains is made.

    python -m memento.tests.prompts.record_episodes [DOMAIN ...]

The reference policies stand in for mature programs, with horizons that some episodes exceed. Run it again after a
change of a story, a reference policy or a reference evaluator; the files are checked in, because rollouts are slow.
"""

import asyncio
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from memento.core.ports import RollTask
from memento.core.values import CallTimes, Episode, Score
from memento.domains import import_string, load
from memento.runtime.rollouts.pool import ProcessPool
from memento.runtime.rollouts.worker_messages import episode_message, episode_of, score_message, score_of

from ..reference_policies import policy_program

FOLDER = Path(__file__).parent / "recorded"
EPISODES = 10
OPTIONS = {
    "hanoi-kinematic": {"horizon": 700, "randomisation": "hard"},
    "kitchen": {"horizon": 60},
}
TIMES = CallTimes(median_ms=0.3, p99_ms=0.9, most_ms=12.0, start_ms=60.0)  # the measured ones differ between runs


async def record(domain: str) -> list[tuple[Episode, Score]]:
    """Ten episodes of the domain's reference policy with their scores under the reference evaluator."""
    loaded = load(domain)
    options = loaded.options(OPTIONS[domain], preset="smoke")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        async with ProcessPool(
            domain=import_string(domain), splits={"search": options}, workers=2, trajectories=Path(folder),
        ) as pool:
            for index in range(EPISODES):
                task = RollTask(
                    order=f"e{index}", program=policy_program(domain), split="search", index=index, seed=100 + index
                )
                episode = await pool.roll(task)
                score = await pool.score(loaded.reference_evaluator(), episode)
                rule = {key: value for key, value in episode.info.items() if key == "broken_rule" and value}
                plain = replace(episode, trajectory=None, wall_s=0.0, info=rule)
                found.append((replace(plain, notes=replace(episode.notes, times=TIMES)), score))
    return found


def recorded(domain: str) -> list[tuple[Episode, Score]]:
    """The recorded episodes of a domain with their scores."""
    rows = json.loads((FOLDER / f"{domain}.json").read_text(encoding="utf-8"))
    return [(episode_of(row["episode"]), score_of(row["score"])) for row in rows]


def main() -> None:
    """Record the domains that are named, or all."""
    for domain in sys.argv[1:] or OPTIONS:
        rows = [
            json.dumps({"episode": episode_message(episode), "score": score_message(score)})
            for episode, score in asyncio.run(record(domain))
        ]
        (FOLDER / f"{domain}.json").write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
