"""`memento tour`: a first search, explained, with a film at its end. It needs no key and costs nothing."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..core.errors import UsageError
from . import flags

if TYPE_CHECKING:
    from ..app.results import RunResult

EXAMPLE: Final = "memento tour"
DOMAIN: Final = "hanoi-kinematic"
PRESET: Final = "quick"
SEED: Final = 3         # of whose search the elite solves the task
SIZE: Final = "320x240" # of the film: without a graphics card a larger picture takes a second
SPEED: Final = 25.0     # times real time: some 60 pictures
BEFORE: Final = """\
The tour: a Tower of Hanoi without physics, searched by the offline model, which is no language model. It takes about
80 seconds of CPU time, shared by two processes. Below, an evaluator is a program that scores episodes, F is the fitness
that it gives, p_0 is the first policy, and the elite is the best one so far. The search sees the same few episodes
again and again; held-out episodes come from seeds that it never used, so only they say how good the elite is.
"""


def tour(runs: flags.Runs = flags.RUNS, display: flags.Display = flags.DisplayKind.RICH) -> None:
    """Evolve a policy for a small task, film it, and say what to do next."""
    from .execution import StatusOptions, next_commands
    from .new_run import Place, RunArguments, Showing, start
    from .output import print_note, print_text, say

    print_note(BEFORE)
    result = start(
        RunArguments(flags={"domain": DOMAIN, "preset": PRESET, "seed": SEED}, assignments=["salt=none"], config=None),
        replay=None, loosely=False, trust=False, place=Place(runs_dir=runs, name=None),
        showing=Showing(
            display=display, status=StatusOptions(port=None, host=None), as_json=False, command_line=None, onward=False
        ),
    )
    assert result is not None
    if result.elite is not None:
        try:
            print_text(f"  film             {_film(result)}")
        except UsageError as error:     # a machine that cannot draw has searched all the same
            say(f"no film: {error}")
    print_note("\n".join(next_commands(result)))


def _film(result: "RunResult") -> Path:
    """A film of the elite in the run's folder: of a held-out episode that it solved, if there is one."""
    from .drawing import DomainChoice, EpisodeChoice, draw, wanted_episode
    from .look import Look

    out = Path(result.run) / "elite.gif"
    index = _solved_episode(Path(result.run))
    wanted = wanted_episode(
        result.run, None if index is None else "final/elite",
        task=DomainChoice(name=None, options={}, assignments=()), episode=EpisodeChoice(index=index or 0, given=None),
        runs_dir=Path(result.run).parent,
    )
    draw(wanted, Look(out=out, camera=None, size=SIZE, speed=SPEED, every=None, at=None))
    return out


def _solved_episode(folder: Path) -> int | None:
    """The first held-out episode in which the elite succeeded."""
    from ..core.events import EpisodeEnded
    from ..memory.store import RunStore

    with RunStore.read(folder) as store:
        ended = [fact for fact in store.facts(only=(EpisodeEnded,)) if isinstance(fact, EpisodeEnded)]
    of_elite = (fact.episode for fact in ended if (fact.order or "").startswith("final/elite"))
    return next((episode.index for episode in of_elite if episode.success), None)
