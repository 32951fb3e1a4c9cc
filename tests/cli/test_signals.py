"""A program that gets a signal ends cleanly, also where a shell started it in the background."""

import os
import signal
import subprocess
import sys

import pytest

from ..support.processes import start_process
from ..support.program import PROGRAM as MEMENTO

pytestmark = pytest.mark.quick

DEADLINE_S = 150
PROGRAM = """
import asyncio, signal, sys
from memento.cli.execution import run_until_signalled
signal.signal(signal.SIGINT, signal.{handler})

async def work():
    print("ready", flush=True)
    try:
        await asyncio.sleep(60)
    finally:
        if "{cleaning}":
            await asyncio.sleep(60)
        print("cleaned up", flush=True)

try:
    run_until_signalled(work())
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def started(*, handler: str, cleaning: str = "") -> "subprocess.Popen[str]":
    program = PROGRAM.format(handler=handler, cleaning=cleaning)
    process = start_process([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("handler", ["SIG_IGN", "default_int_handler"], ids=["background", "terminal"])
def test_a_sigterm_ends_cleanly(handler: str) -> None:
    process = started(handler=handler)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=DEADLINE_S)
    assert out == "cleaned up\ninterrupted\n"
    assert process.returncode == 0


@pytest.mark.slow
def test_in_the_background_a_sigint_is_for_others() -> None:
    process = started(handler="SIG_IGN")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=DEADLINE_S)[0] == "cleaned up\ninterrupted\n"


@pytest.mark.slow
def test_a_second_sigterm_ends_at_once() -> None:
    process = started(handler="default_int_handler", cleaning="slow")
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    assert process.returncode == -signal.SIGTERM
    assert process.communicate()[0] == ""


def test_a_terminal_that_is_gone_stops_a_run_as_a_sigterm_does() -> None:
    process = started(handler="default_int_handler")
    process.send_signal(signal.SIGHUP)
    assert process.communicate(timeout=DEADLINE_S)[0] == "cleaned up\ninterrupted\n"


def test_under_nohup_a_sighup_is_ignored() -> None:
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + PROGRAM.format(
        handler="default_int_handler", cleaning=""
    )
    process = start_process([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=DEADLINE_S)[0] == "cleaned up\ninterrupted\n"


def test_a_terminal_that_was_closed_is_no_error_of_a_command() -> None:
    ours, theirs = os.openpty()
    process = start_process([*MEMENTO, "methods"], stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.close(ours)
    assert process.wait(timeout=DEADLINE_S) == 0
