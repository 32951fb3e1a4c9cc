"""Draws the sheet that a critic sees of an episode, and prints the prompt that goes with it.

    python docs/pictures/critic.py DOMAIN OUT.jpg [KEY=VALUE …]

The policy is the first one of the offline model. The worst of a few episodes is drawn as in a run, under the reference
evaluator of the domain; KEY=VALUE are options of the domain. The prompt goes to stdout.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from memento.agents.critic import Critic
from memento.agents.critic_sheets import DrawnSheets
from memento.core.events import Criticise
from memento.core.ports import Ask, Reply, RollTask, shelf_of
from memento.core.seeds import derive_seed
from memento.domains import import_string
from memento.domains import load as load_domain
from memento.runtime.prompts import PromptFolder
from memento.runtime.rollouts.pool import ProcessPool
from memento.settings.evaluate import given_options
from PIL import Image

EPISODES = 3
WIDTH = 900  # of the picture in pixels; a critic sees it larger


class Printer:
    """A model that prints what it is asked."""

    name = "printer"

    async def complete(self, ask: Ask) -> Reply:
        """An empty answer."""
        sys.stdout.write(ask.prompt)
        return Reply(text="", model=self.name)


async def draw(name: str, out: Path, assignments: list[str]) -> None:
    """Roll the episodes out, and draw the worst."""
    domain = load_domain(name)
    options = domain.options(given_options(domain.name, flags={}, assignments=assignments), preset="quick")
    evaluator, shelf = domain.reference_evaluator(), shelf_of(domain, options)
    if evaluator is None or shelf is None:
        raise SystemExit(f"{name} has no reference evaluator, or no first program")
    program = shelf.initial
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        async with ProcessPool(
            domain=import_string(name), splits={"search": options}, workers=2, trajectories=folder
        ) as pool:
            episodes = await asyncio.gather(*(
                pool.roll(RollTask(
                    order=f"g1/hill/0/e{e}", program=program, split="search", index=e, seed=derive_seed(7, "search", e),
                )) for e in range(EPISODES)
            ))
            scores = await asyncio.gather(*(pool.score(evaluator, episode) for episode in episodes))
            score, episode = min(zip(scores, episodes, strict=True), key=lambda pair: pair[0].fitness)
            brief = domain.brief(options)
            look = Criticise(
                id=f"g1/hill/0/look{episode.index}", candidate="g1/hill/0", episode=episode, score=score,
                fitness=brief.reference_fitness,
            )
            sheets = DrawnSheets(artist=pool, trajectories=folder, sheets=folder / "sheets")
            critic = Critic(model=Printer(), prompts=PromptFolder(), brief=brief, sheets=sheets)
            fact = await critic.carry_out(look)
            if fact.sheet is None:
                raise SystemExit(fact.problem)
            _smaller(folder / "sheets" / fact.sheet.file, out)


def _smaller(sheet: Path, out: Path) -> None:
    """The sheet in a size for a page."""
    with Image.open(sheet) as picture:
        height = round(picture.height * WIDTH / picture.width)
        picture.resize((WIDTH, height), Image.Resampling.LANCZOS).save(out, format="JPEG", quality=80, optimize=True)


if __name__ == "__main__":
    asyncio.run(draw(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
