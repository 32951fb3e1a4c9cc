"""The dead-man's switch stops the arm by itself, from its own thread."""

import threading

from memento.extensions.cell.dead_man import DeadMan


def test_silence_stops_the_arm_once() -> None:
    stopped = threading.Event()
    switch = DeadMan(stopped.set, limit_s=0.05)
    assert not switch.fired
    switch.watch()
    assert stopped.wait(30.0) and switch.fired
    switch.rest()
    assert not switch.fired, "the next trial begins without it"
    switch.close()


def test_actions_put_it_off_and_rest_ends_it() -> None:
    now, calls = [0.0], []
    switch = DeadMan(lambda: calls.append(now[0]), limit_s=1e9, clock=lambda: now[0])
    switch.watch()
    for _ in range(5):
        now[0] += 0.9e9
        switch.watch()
    switch.rest()
    now[0] += 1e12
    switch.watch()
    switch.close()
    assert not calls and not switch.fired
