"""What the benchmark of evaluators adds to the parts of a run that it uses: its memory of rollouts, and its table."""

from pathlib import Path

from memento.core.examined import AttackCount
from memento.core.ports import RollTask
from memento.core.recording_file import trajectory_key, trajectory_path
from memento.core.values import Episode, Program

from .evaluators import Line, Remembering, read, table


class Pool:
    """Writes a file for each rollout; it scores nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.orders = folder, []

    async def roll(self, task: RollTask) -> Episode:
        self.orders.append(task.order)
        key = trajectory_key(task.order)
        trajectory_path(self.folder, key).write_text(task.program.text)
        return Episode(index=0, seed=task.seed, steps=1, ended_by="horizon", success=False, trajectory=key)


async def test_a_program_is_rolled_out_once_a_seed_and_its_recording_is_there_each_time(tmp_path: Path) -> None:
    pool = Pool(tmp_path)
    remembering = Remembering(pool, tmp_path)

    async def roll(order: str, text: str, seed: int) -> str:
        task = RollTask(order=order, program=Program(text), split="search", index=0, seed=seed)
        path = trajectory_path(tmp_path, str((await remembering.roll(task)).trajectory))
        content = path.read_text()
        path.unlink()       # as an attack does
        return content

    assert [await roll("a", "one", 1), await roll("b", "one", 1), await roll("a", "one", 1)] == ["one"] * 3
    assert len(pool.orders) == 1
    assert [await roll("a", "one", 2), await roll("a", "two", 1)] == ["one", "two"]
    assert len(pool.orders) == 3


def test_the_table_has_a_row_for_each_origin_and_counts_valid_evaluators_alone(tmp_path: Path) -> None:
    (before, after), whole = (AttackCount(tried=10, found=found, best=0.95) for found in (4, 0)), {"pairs": 8}
    lines = [
        Line(domain="d", origin="shipped", name="0", problem="it raises"),
        Line(domain="d", origin="shipped", name="1", inversions=2, changes=3, moved=1, before=before, after=after,
             attacks=2, revised=1, seen=3, unseen=2, lost=1, **whole),
        Line(domain="d", origin="shipped", name="2", inversions=5, changes=3, before=after, after=after, attacks=1,
             **whole),
        Line(domain="d", origin="fresh", name="0", problem="it raises"),
    ]
    rows = table(lines).splitlines()[2:]
    assert rows[0] == "| `d` | shipped 3 | 2 | 8 | 2 to 5 | 1 of 6 | 4 of 20 | 0 of 20 | 1 | 1 of 5 |"
    assert rows[1].startswith("| `d` | fresh 1 | 0 |") and len(rows) == 2
    assert read(tmp_path / "none.jsonl") == []
