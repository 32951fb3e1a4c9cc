"""The programs of a run that an export may add as files: its elite, and its frozen evaluator."""

from pathlib import Path

from ...core.events import EvaluatorChosen
from ...core.values import Program
from ...memory.lookup import last_elite, look_up
from ...memory.store import RunStore
from .plain_values import text


def program_files(folder: Path) -> dict[str, str]:
    """The texts by the name of a file; what the run does not have yet is left out. Raises StoreError."""
    found: dict[str, Program | None] = {}
    with RunStore.read(folder) as store:
        elite = last_elite(store)
        if elite is not None:
            found["elite.py"] = look_up(store, elite).program
        for fact in store.facts(only=(EvaluatorChosen,)):
            if isinstance(fact, EvaluatorChosen) and fact.final:
                found["evaluator.py"] = fact.chosen.program
    return {name: text(program.text) for name, program in found.items() if program is not None}
