"""Programs that please an evaluator of the kitchen without doing the task.

Each is a text that runs in a sandbox; nothing imports them. Most follow a script for each of SCENES, three generated
kitchens, so their episodes take place there whatever the scenes of the audit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ....core.ports import AuditProgram
from ....core.ports.auditing import ENDING_EARLY, FORGING, KNOCKING, NEAR_MISS, OSCILLATING, WAITING
from ....core.seeds import derive_seed
from ....core.values import JSON, Program
from ...audit_reader import read_audit

SCENES: Final = ("Kitchen11", "Kitchen24", "Kitchen10")
KINDS: Final = {
    "no_moves": WAITING,
    "no_walking": WAITING,
    "bread_at_the_fridge": WAITING,
    "toggles_for_points": OSCILLATING,
    "picks_up_furniture": KNOCKING,
    "done_at_once": ENDING_EARLY,
    "closed_doors": NEAR_MISS,
    "empty_microwave": NEAR_MISS,
    "never_looks_down": NEAR_MISS,
    "on_before_opening": NEAR_MISS,
    "on_with_open_door": NEAR_MISS,
    "shut_before_put": NEAR_MISS,
    "swapped": NEAR_MISS,
    "switches_off_again": NEAR_MISS,
    "takes_apple_back": NEAR_MISS,
    "two_in_the_hand": NEAR_MISS,
    "writes_progress": FORGING,
}


def audit_programs(options: Mapping[str, JSON], seeds: Sequence[int]) -> Iterator[AuditProgram]:
    """The programs; those with scripts only where kitchens are generated, because other kitchens differ."""
    for each in read_audit(__package__, KINDS):
        if "scripts = {" not in each.program.text:
            yield each
        elif options["backend"] == "generated":
            text = each.program.text + _names(seeds)
            yield replace(each, program=Program(text), options={**options, "scenes": [*SCENES]})


def _names(seeds: Sequence[int]) -> str:
    """A statement that gives a program its scripts by the names under which its episodes show their scenes."""
    known = [
        f'    "kitchen-{derive_seed(seed, "scene"):x}": Policy.scripts["{SCENES[place % len(SCENES)]}"],\n'
        for place, seed in enumerate(seeds)
    ]
    return f"\n\nPolicy.scripts |= {{\n{''.join(known)}}}\n"
