"""The work of `memento export --to`: hands the log of a run to a sink, and follows it until the run ends."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import typer

from ..core.errors import UsageError
from ..exports.follow import follow, source_of
from ..exports.sink import Sink, Source, Texts
from ..memory.lock import is_locked
from ..memory.runs import find_run
from .execution import INTERRUPTED
from .output import say
from .signals import stop_requests


def export_run(run: str, to: str, out: str | None, *, runs_dir: Path, texts: Texts) -> None:
    """Export a run. Raises UsageError, StoreError and MementoError; after a signal typer.Exit(130)."""
    if texts.programs and to == "otel":
        raise UsageError("--with-programs has no effect with --to otel: a trace has no programs; omit it")
    if texts.prompts and to in ("wandb", "mlflow"):
        raise UsageError(f"--with-prompts has no effect with --to {to}: use --to parquet or --to otel, or omit it")
    source = source_of(find_run(runs_dir, run))
    with stop_requests() as stopped:
        sink = SINKS[to](source, out, texts)
        complete = False
        try:
            if is_locked(source.folder):
                say(f"following {source.name} until it ends; Ctrl-C ends the export, not the run")
            complete = follow(source, sink, texts=texts.prompts, stopped=stopped)
        finally:
            sink.close(complete=complete)
    say(f"{source.name} is in {sink.place}" if complete else f"{sink.place} has a part of {source.name}: stopped")
    if not complete:
        say("the same command continues")
        raise typer.Exit(INTERRUPTED)


def export_tape_of(run: str, out: str | None, *, runs_dir: Path) -> None:
    """Write the tape of a finished run, which `memento run --replay FILE` repeats. Raises UsageError, StoreError."""
    from ..app.replay import export_tape

    if out is None:
        raise UsageError("give --out FILE.tape.xz for the tape")
    folder = find_run(runs_dir, run)
    size = export_tape(folder, Path(out))
    say(f"the tape of {folder.name} is {out}, {size / 1e3:,.0f} kB; repeat it with: memento run --replay {out}")


def _parquet(source: Source, out: str | None, texts: Texts) -> Sink:
    from ..exports.parquet import ParquetSink

    if out is None:
        raise UsageError("give --out DIR for the Parquet files")
    return ParquetSink(source, Path(out), texts)


def _wandb(source: Source, out: str | None, texts: Texts) -> Sink:
    from ..exports.wandb import WandbSink

    return WandbSink(source, Path(out or "."), texts)


def _mlflow(source: Source, out: str | None, texts: Texts) -> Sink:
    from ..exports.mlflow import MlflowSink

    return MlflowSink(source, out, texts)


def _otel(source: Source, out: str | None, texts: Texts) -> Sink:
    from ..exports.otel import OtelSink

    return OtelSink(source, out, texts)


SINKS: Final[Mapping[str, Callable[[Source, str | None, Texts], Sink]]] = {
    "parquet": _parquet, "wandb": _wandb, "mlflow": _mlflow, "otel": _otel,
}
"""Opens the sink of each target."""
