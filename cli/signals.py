"""Ends what is under way in good order when the program is asked to end."""

import asyncio
import signal
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")


def run_until_told(work: Coroutine[Any, Any, T], *, at_once: Callable[[], NoReturn] | None = None) -> T:
    """Run to the end. A SIGTERM raises KeyboardInterrupt once the work is cleaned up, as a Ctrl-C does.

    It does so too where SIGINT is ignored, as a shell makes it for what is started in the background. A second
    SIGTERM ends the program at once; a second Ctrl-C calls `at_once`, which must, while the work still cleans up.
    """
    return asyncio.run(_told(work, at_once))


async def _told(work: Coroutine[Any, Any, T], at_once: Callable[[], NoReturn] | None) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        loop.remove_signal_handler(signal.SIGTERM)      # from now on it does what it always does
        task.cancel()

    def interrupt(*_: object) -> None:
        nonlocal terminated
        if terminated and at_once is not None:
            at_once()
        terminated = True
        loop.call_soon_threadsafe(task.cancel)

    before = signal.getsignal(signal.SIGINT)
    if at_once is not None and before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)         # not the loop's: it must be heard where the loop is busy
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
