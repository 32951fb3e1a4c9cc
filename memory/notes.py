"""What a reader has to know of a run before its figures are believed, in a sentence each. Pure."""

from collections.abc import Iterator, Mapping

from ..core.text import plural
from .run_status import RunStatus

REPEATING = 0.5     # of the proposals, from which on a model counts as one that repeats itself
FEWEST = 3          # proposals of which that can be said
EARLY = "rolled out before the run found that its environment keeps something of earlier episodes"


def notes_of(status: RunStatus) -> tuple[str, ...]:
    """The notes on a run, the most important first; none for most runs."""
    return tuple(_notes(status))


def _notes(status: RunStatus) -> Iterator[str]:
    if status.remembers:
        whose = " and ".join(dict.fromkeys(each.candidate for each in (status.first_elite, status.elite)
                                           if each is not None and each.candidate in status.early))
        yield status.remembers + (f", F of {whose} in the search among them; memento rank measures all again"
                                  if whose else "")
    options = status.settings.get("options")
    low, high = (options.get(name) for name in ("low", "high")) if isinstance(options, Mapping) else (None, None)
    if status.returns is not None and isinstance(low, int | float):
        least, most = status.returns
        if least == most == low and not status.succeeded:
            yield (f"there is nothing to search by: all {plural(status.episodes, 'episode')} had a return of {most:.4g}"
                   ", which is that of random actions, and none succeeded")
    guessed = isinstance(options, Mapping) and options.get("high_is_guess") and options.get("measure") != "success"
    if guessed and isinstance(high, int | float):   # a success is measured by its time
        best = None if status.elite is None else status.elite.mean_return
        if best is not None and best > high:
            yield (f"F is scaled by a guess, gym.high = {high:.4g}, which the elite's return of {best:.4g} passed: F "
                   "grows more slowly above it, so compare the returns, or begin a run with "
                   f"gym.high={best:.4g}")
    if status.candidates >= FEWEST and status.duplicates >= REPEATING * status.candidates:
        yield (f"the model repeats itself: {status.duplicates} of {plural(status.candidates, 'candidate')} were "
               "programs that the run had already")
