"""Runs asynchronous work to its end from ordinary code, also where an event loop runs already, as in a notebook."""

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final, TypeVar

import structlog

from ...core.errors import MementoError, first_of
from ...core.extras import explain
from ..log import log_to_stderr

T = TypeVar("T")
CLEAN_UP_S: Final = 60.0        # for work that was interrupted


def finish(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run `work()` to its end and return its result.

    An interrupt (Ctrl-C, the stop button of a notebook) ends the work cleanly and raises KeyboardInterrupt.
    Raises what the work raises; a MementoError in a group of errors is raised alone, and a package that is not
    installed is a UsageError with the command that installs it.
    """
    if not structlog.is_configured():
        log_to_stderr()             # without it, log lines would go to stdout
    try:
        return _run(work)
    except (ImportError, BaseExceptionGroup) as error:
        missing = first_of(error, ImportError)
        known = first_of(error, MementoError) or (None if missing is None else explain(missing))
        if known is None:
            raise
        raise known from error
    finally:
        gc.unfreeze()               # a run takes what is loaded out of garbage collection; the caller lives on


def apart(call: Callable[[], T]) -> T:
    """`call()`, in a thread without an event loop if this one has one: for code that starts a separate loop."""
    if not _has_loop():
        return call()
    outcome: Future[T] = Future()
    thread = threading.Thread(target=_settle, args=(outcome, call), name="memento", daemon=True)
    thread.start()
    return outcome.result()


def _has_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    if not _has_loop():
        return asyncio.run(work())
    cancel: list[Callable[[], object]] = []
    interrupted = threading.Event()

    async def watched() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        cancel.append(lambda: loop.call_soon_threadsafe(task.cancel))
        if interrupted.is_set():        # before there was a task to cancel
            raise asyncio.CancelledError
        return await work()

    outcome: Future[T] = Future()
    thread = threading.Thread(
        target=_settle, args=(outcome, lambda: asyncio.run(watched())), name="memento", daemon=True
    )
    thread.start()
    with _interruptible():
        try:
            return outcome.result()
        except KeyboardInterrupt:
            interrupted.set()
            for end in cancel:
                end()
            thread.join(CLEAN_UP_S)
            raise


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let a Ctrl-C raise KeyboardInterrupt here. The handler of a running loop only cancels a task, and that task
    waits for this thread."""
    before = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(before):        # another thread, or ignored: an interrupt does not come here
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _settle(outcome: "Future[T]", call: Callable[[], T]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
        outcome.set_exception(error)
