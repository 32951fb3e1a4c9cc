"""Ends what is under way in good order when the program is asked to end."""

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_until_told(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end. A SIGTERM raises KeyboardInterrupt once the work is cleaned up, as a Ctrl-C does.

    It does so too where SIGINT is ignored, as a shell makes it for what is started in the background. A second
    SIGTERM ends the program at once.
    """
    return asyncio.run(_told(work))


async def _told(work: Coroutine[Any, Any, T]) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    terminated = False

    def terminate() -> None:
        nonlocal terminated
        terminated = True
        loop.remove_signal_handler(signal.SIGTERM)      # from now on it does what it always does
        task.cancel()

    loop.add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await work
    except asyncio.CancelledError:
        if terminated:
            raise KeyboardInterrupt from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
