"""Runs long work: serves its status, ends it cleanly on a signal, and prints a run's result."""

import asyncio
import os
import shlex
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeVar

import typer

from ..app import StatusAddress
from ..app.results import RunResult
from ..core.errors import UsageError
from ..core.ports import Display
from ..tui.display import open_display
from .output import print_json_line, print_note, print_text, say
from .result_text import describe_run

T = TypeVar("T")
ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


def run_until_signalled(work: Coroutine[Any, Any, T], *, at_once: Callable[[], NoReturn] | None = None) -> T:
    """Run to the end. A SIGTERM, and a SIGHUP of a terminal that is gone, raises KeyboardInterrupt after the work has
    cleaned up, as a Ctrl-C does.

    A SIGTERM also works if SIGINT is ignored, as in a shell's background jobs. A second one ends the
    process at once; a second Ctrl-C, while the work still cleans up, calls `at_once`, which must end the process.
    """
    return asyncio.run(_until_signalled(work, at_once))


async def _until_signalled(work: Coroutine[Any, Any, T], at_once: Callable[[], NoReturn] | None) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    terminated = False

    def terminate(number: int) -> None:
        nonlocal terminated
        terminated = True
        loop.remove_signal_handler(number)      # from now on it ends the process
        task.cancel()

    def interrupt(*_: object) -> None:
        nonlocal terminated
        if terminated and at_once is not None:
            at_once()
        terminated = True
        loop.call_soon_threadsafe(task.cancel)

    before = signal.getsignal(signal.SIGINT)
    if at_once is not None and before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)         # not the loop's handler: it must work while the loop is busy
    ending = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]    # nohup ignores SIGHUP
    for number in ending:
        loop.add_signal_handler(number, terminate, number)
    try:
        return await work
    except asyncio.CancelledError:
        if terminated:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number in ending:
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, before)


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether a SIGINT, SIGTERM or SIGHUP arrived; a second one ends the process at once."""
    arrived = False

    def note(number: int, _: object) -> None:
        nonlocal arrived
        arrived = True
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield lambda: arrived
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


INTERRUPTED: Final = 130       # the exit code


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusOptions:
    """The address for a run's status as given; None for an option that was not given."""

    port: int | None
    host: str | None

    def address(self) -> StatusAddress | None:
        """The address to serve at; None for nowhere. Raises UsageError for a host without a port."""
        if self.port is None:
            if self.host is not None:
                raise UsageError("--status-host has no effect without --status-port: give both, or neither")
            return None
        return StatusAddress(
            host=self.host or "127.0.0.1", port=self.port, tell=lambda url: say(f"status at {url}/status")
        )


def open_screen(kind: str) -> Display:
    """The display of this kind, on stderr."""
    return open_display(kind, sys.stderr, environment=os.environ)


def execute(work: Coroutine[Any, Any, T], screen: Display | None = None, *, again: str = "") -> T:
    """Run to the end. After a Ctrl-C or a SIGTERM, print how to go on and raise typer.Exit(130).

    `again` says how, for work without a screen that keeps what it did.

    A second Ctrl-C does not wait for the clean-up of the first one: workers end with this process.
    """
    def end_at_once() -> NoReturn:
        try:
            if screen is not None:
                screen.close()
            _say_interrupted(screen, again)
        finally:
            os._exit(INTERRUPTED)

    try:
        try:
            return run_until_signalled(work, at_once=end_at_once)
        finally:
            if screen is not None:
                screen.close()
    except KeyboardInterrupt:
        _say_interrupted(screen, again)
        raise typer.Exit(INTERRUPTED) from None


def print_run(result: RunResult, *, as_json: bool, onward: bool = True) -> None:
    """Print a run's result, and how to continue a run that spent its budget; with `onward` also what to do next."""
    if as_json:
        print_json_line(result.line())
    else:
        print_text(describe_run(result))
    if result.status == "budget":
        say(f"to continue with a larger budget: memento resume {shlex.quote(result.run)} --budget-…")
    elif not as_json and onward:
        print_note("\n".join(next_commands(result)))


def next_commands(result: RunResult) -> Iterator[str]:
    """What a person may do next with a run that ended."""
    name = shlex.quote(result.run)
    film = [(f"memento render {name} --out elite.gif", "a film of the best program")] if result.elite else []
    commands = [
        (f"memento show {name}", "what happened, candidate by candidate"), *film,
        (f"memento report {name} --out run.html", "one page to show to others"),
    ]
    yield "what next:"
    for command, what in commands:
        yield f"  {command:<{max(len(each) for each, _ in commands)}}   {what}"


def _say_interrupted(screen: Display | None, again: str) -> None:
    folder = screen.folder if screen is not None else None
    again = f"continue with: memento resume {folder}" if folder else again
    say(f"interrupted, nothing is lost; {again}" if again else "interrupted")
