"""Writes the series of a run for Weights & Biases, offline unless WANDB_MODE says otherwise.

Imports wandb when it is made. An offline export writes the whole run again into a separate folder, under the same id:
what a killed process had written cannot be known, and `wandb sync` replaces a run of the same id.
"""

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ...core.errors import MementoError, UsageError, os_problem
from ...core.extras import require
from ...core.text import one_line
from ...memory.store import Entry
from .plain_values import column
from .points import SERIES, Series, SeriesPoint
from .program_files import program_files
from .sink import ExportedRun, Texts

PROJECT: Final = "memento"      # without WANDB_PROJECT
MODES: Final = ("offline", "online")


class WandbSink:
    """One run of Weights & Biases, whose id follows from the identity of ours. Its steps are the places of facts."""

    def __init__(self, source: ExportedRun, folder: Path, texts: Texts) -> None:
        require("wandb", "memento export --to wandb")
        self._mode = os.environ.get("WANDB_MODE", "offline")
        if self._mode not in MODES:
            raise UsageError(f"WANDB_MODE is {self._mode!r}; an export knows offline, the default, and online")
        os.environ.setdefault("WANDB_ERROR_REPORTING", "false")     # to its makers, over the network
        import wandb

        self._source, self._texts, self._wandb = source, texts, wandb
        self._folder = folder
        self._series = Series()
        self._id = f"memento-{source.identity[:16]}"
        self._run: Any = None
        self._from = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot write into {folder}: {os_problem(error)}") from None

    @property
    def place(self) -> str:
        """The folder of the run, or its address."""
        if self._run is None:
            return str(self._folder)
        return str(self._run.url) if self._mode == "online" else str(self._own())

    def take(self, entries: Sequence[Entry]) -> None:
        """Log the points of these facts. Raises MementoError."""
        for entry in entries:
            point = self._series.apply(entry)
            if self._run is None:
                self._begin(entry.at)
            if point is not None and entry.seq >= self._from:
                self._log(point)

    def flush(self) -> None:
        """wandb writes in a separate process."""

    def close(self, *, complete: bool) -> None:
        """End the run. If the export is complete, remove what earlier, killed exports of this run left here."""
        if self._run is None:
            return
        own = self._own()
        self._run.summary["status"] = self._series.status.status
        if complete and self._texts.programs:
            self._add_programs()
        self._run.finish()
        if complete and self._mode == "offline":
            self._remove_earlier(own)

    # --------------------------------------------------------------------------------------- private

    def _begin(self, at: float) -> None:
        wandb = self._wandb
        settings = wandb.Settings(
            silent=True, console="off", host="", disable_git=True, disable_code=True, save_code=False,
            x_disable_stats=True, x_disable_meta=True, x_disable_machine_info=True, x_save_requirements=False,
        )
        try:
            self._run = wandb.init(
                project=os.environ.get("WANDB_PROJECT", PROJECT), id=self._id, name=self._source.name,
                dir=str(self._folder), mode=self._mode, resume="allow" if self._mode == "online" else None,
                config={column(key): value for key, value in self._series.settings.items()}, settings=settings,
            )
        except (wandb.Error, OSError) as error:
            raise MementoError(f"wandb does not start: {one_line(str(error), 300)}") from None
        self._from = self._run.step     # steps below it are there already; 0 for a run that is not resumed
        for group, axis in SERIES.items():
            self._run.define_metric(f"{group}/*", step_metric=axis)

    def _log(self, point: SeriesPoint) -> None:
        values = {**point.values, point.axis: point.step, "_timestamp": point.at}
        try:
            self._run.log(values, step=point.seq)
        except self._wandb.Error as error:
            raise MementoError(f"wandb takes no more values: {one_line(str(error), 300)}") from None

    def _add_programs(self) -> None:
        folder = Path(self._run.dir)
        for name, program in program_files(self._source.folder).items():
            (folder / name).write_text(program, encoding="utf-8")
            self._run.save(str(folder / name), base_path=str(folder), policy="now")

    def _own(self) -> Path:
        """The folder of the offline run."""
        return Path(self._run.settings.sync_dir)

    def _remove_earlier(self, own: Path) -> None:
        """Remove other offline runs of this id that nobody has synced."""
        for other in own.parent.glob(f"offline-run-*-{self._id}"):
            known = re.fullmatch(rf"offline-run-[0-9_]+-{re.escape(self._id)}", other.name)
            if known and other.name != own.name and not other.is_symlink() and not [*other.glob("*.synced")]:
                with suppress(OSError):
                    shutil.rmtree(other)
