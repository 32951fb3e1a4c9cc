"""Draws the README's pictures of the terminal program from a real run, as SVG.

    python docs/pictures/make.py RUN_FOLDER

The run is watched by the program itself, without a terminal; the pictures are what it would show.
"""

import asyncio
import sys
from pathlib import Path

from memento.cli.terminal_ui import CliControls
from memento.tui.watch.app import WatchApp
from textual.pilot import Pilot

PICTURES: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "watch-run": ((124, 37), ()),
    "watch-diff": ((110, 32), ("4", "end", "enter", "f")),
}
HERE = Path(__file__).parent
ENOUGH_S = 60.0


async def draw(folder: Path, name: str) -> None:
    """One picture."""
    size, keys = PICTURES[name]
    app = WatchApp(folder=folder, runs_dir=folder.parent, controls=CliControls())
    async with app.run_test(size=size) as pilot:
        await _settled(app, pilot)
        for key in keys:
            await pilot.press(key)
            await _settled(app, pilot)
        (HERE / f"{name}.svg").write_text(app.export_screenshot(title=f"memento watch {folder.name}"), encoding="utf-8")


async def _settled(app: WatchApp, pilot: Pilot[None]) -> None:
    """Wait until nothing is being read any more."""
    await pilot.pause()
    async with asyncio.timeout(ENOUGH_S):
        while app.snapshot is None or app.snapshot.reading or any(  # noqa: ASYNC110 - what is waited for has no event
            not worker.is_finished for worker in app.workers if worker.group != "follow"
        ):
            await asyncio.sleep(0.02)
    await pilot.pause()


async def draw_all(folder: Path) -> None:
    """Every picture."""
    for name in PICTURES:
        await draw(folder, name)


if __name__ == "__main__":
    asyncio.run(draw_all(Path(sys.argv[1])))
