"""The terminal program in a test: started, waited for, looked at."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from memento.core.errors import UsageError
from memento.tui.watch.actions import RunControls
from memento.tui.watch.app import WatchApp
from textual.pilot import Pilot

ENOUGH_S = 60.0        # a busy machine is no failure
GOLDEN = Path(__file__).parent / "golden"


class Recorded:
    """Does nothing and records every call."""

    def __init__(self, command: list[str] | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.exported: list[tuple[str, Path]] = []
        self.command = command or []
        self.refusal = ""

    def request(self, folder: Path, kind: str) -> None:
        self.asked.append((folder.name, kind))

    def check_hint(self, folder: Path) -> None:
        if self.refusal:
            raise UsageError(self.refusal)

    def hint(self, folder: Path, text: str) -> None:
        self.asked.append((folder.name, text))

    def export(self, folder: Path, candidate: str, out: Path) -> None:
        self.exported.append((candidate, out))

    def rendering(self, folder: Path, candidate: str, out: Path) -> list[str]:
        return self.command


@asynccontextmanager
async def watching(
    folder: Path | None, *, runs: Path | None = None, size: tuple[int, int] = (80, 24),
    controls: RunControls | None = None, now: float = 1_800_000_100.0,
) -> AsyncIterator[Pilot[None]]:
    """The UI on a run, after it has read all of it."""
    runs_dir = runs if runs is not None else folder.parent if folder is not None else Path()
    app = WatchApp(folder=folder, runs_dir=runs_dir, controls=controls or Recorded(), clock=lambda: now)
    async with app.run_test(size=size, notifications=True) as pilot:
        await until(pilot, lambda: folder is None or (app.snapshot is not None and not app.snapshot.reading))
        await settled(pilot)
        yield pilot


def the(pilot: Pilot[None]) -> WatchApp:
    app = pilot.app
    assert isinstance(app, WatchApp)
    return app


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    try:
        async with asyncio.timeout(ENOUGH_S):
            while not holds():  # noqa: ASYNC110 - what is waited for has no event
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"in vain waited for, with this on the screen:\n{text_of(pilot)}") from None
    await pilot.pause()


async def settled(pilot: Pilot[None]) -> None:
    """Wait until nothing is being read for a screen any more."""
    await pilot.pause()
    await until(pilot, lambda: all(worker.is_finished for worker in pilot.app.workers if worker.group != "follow"))
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    for key in keys:
        await pilot.press(key)
        await settled(pilot)


def text_of(pilot: Pilot[None]) -> str:
    """The words on the screen, line by line."""
    width, _ = pilot.app.size
    lines = pilot.app.screen._compositor.render_strips()
    return "\n".join(strip.text[:width].rstrip() for strip in lines)


def same_picture(pilot: Pilot[None], name: str, folder: Path) -> None:
    """Compare the screen with the kept picture; MEMENTO_GOLDEN=write replaces it."""
    picture = pilot.app.export_screenshot(title="MEMENTO")
    golden = GOLDEN / f"{name}.svg"
    if os.environ.get("MEMENTO_GOLDEN") == "write":
        golden.write_text(picture, encoding="utf-8")
    actual = folder / golden.name
    actual.write_text(picture, encoding="utf-8")
    assert picture == golden.read_text(encoding="utf-8"), f"compare {golden} with {actual}:\n{text_of(pilot)}"
