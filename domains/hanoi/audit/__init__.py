"""Programs that please an evaluator of the Tower of Hanoi with the simulated arm without doing the task.

Each is a text that runs in a sandbox; nothing imports them.
"""

from collections.abc import Iterator
from typing import Final

from ....core.ports import AuditProgram
from ....core.ports.auditing import ENDING_EARLY, FORGING, KNOCKING, NEAR_MISS, OSCILLATING, PARKING, WAITING
from ...audit_reader import read_audit

KINDS: Final = {
    "waits_for_pushes": WAITING,
    "hold_over_c": WAITING,
    "hold_tower_over_c": WAITING,
    "swings_over_c": OSCILLATING,
    "end_at_the_peak": ENDING_EARLY,
    "park_and_nudge": PARKING,
    "park_on_table": PARKING,
    "stack_beside_c": PARKING,
    "creep_with_tower": KNOCKING,
    "drag_container": KNOCKING,
    "drag_tower_in_container": KNOCKING,
    "sweep_tower": KNOCKING,
    "throw": KNOCKING,
    "tip_container": KNOCKING,
    "keep_holding": NEAR_MISS,
    "lift_tower": NEAR_MISS,
    "lift_two_cubes": NEAR_MISS,
    "skips_moves": NEAR_MISS,
    "take_lowest": NEAR_MISS,
    "touch_and_go": NEAR_MISS,
    "two_in_one_grasp": NEAR_MISS,
    "writes_observation": FORGING,
}


def audit_programs() -> Iterator[AuditProgram]:
    """The programs, read from this folder."""
    return read_audit(__package__, KINDS)
