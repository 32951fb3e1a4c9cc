"""Ends work cleanly when the process gets a signal to end."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


def run_until_signalled(work: Coroutine[Any, Any, T], *, at_once: Callable[[], NoReturn] | None = None) -> T:
    """Run to the end. A SIGTERM raises KeyboardInterrupt after the work has cleaned up, as a Ctrl-C does.

    A SIGTERM also works if SIGINT is ignored, as in a shell's background jobs. A second SIGTERM ends the
    process at once; a second Ctrl-C, while the work still cleans up, calls `at_once`, which must end the process.
    """
    return asyncio.run(_until_signalled(work, at_once))


async def _until_signalled(work: Coroutine[Any, Any, T], at_once: Callable[[], NoReturn] | None) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        loop.remove_signal_handler(signal.SIGTERM)      # from now on a SIGTERM ends the process
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
    loop.add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await work
    except asyncio.CancelledError:
        if terminated:
            raise KeyboardInterrupt from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGINT, before)


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether a SIGINT or SIGTERM arrived; a second one ends the process at once."""
    arrived = False

    def note(number: int, _: object) -> None:
        nonlocal arrived
        arrived = True
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, note)
    try:
        yield lambda: arrived
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
