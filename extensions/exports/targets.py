"""The targets of `memento export --to`: each opens the sink of one tool, imports its package only then."""

from collections.abc import Callable
from pathlib import Path

from ...core.errors import UsageError
from .following import follow, source_of
from .sink import ExportedRun, Sink, Texts


class SinkExport:
    """A core.ports.RunExport: the log of a run, and the sink that takes it."""

    def __init__(self, source: ExportedRun, sink: Sink, texts: Texts) -> None:
        self._source, self._sink, self._texts = source, sink, texts

    @property
    def place(self) -> str:
        """Where the sink writes to."""
        return self._sink.place

    def follow(self, stopped: Callable[[], bool]) -> bool:
        """Hand all facts to the sink; see `sink.follow`."""
        return follow(self._source, self._sink, texts=self._texts.prompts, stopped=stopped)

    def close(self, *, complete: bool) -> None:
        """Close the sink."""
        self._sink.close(complete=complete)


def parquet(folder: Path, out: str | None, *, programs: bool, prompts: bool) -> SinkExport:
    """Files of tables in the folder `out`."""
    from .parquet import ParquetSink

    if out is None:
        raise UsageError("give --out DIR for the Parquet files")
    source, texts = source_of(folder), Texts(programs=programs, prompts=prompts)
    return SinkExport(source, ParquetSink(source, Path(out), texts), texts)


def wandb(folder: Path, out: str | None, *, programs: bool, prompts: bool) -> SinkExport:
    """An offline run of Weights & Biases in the folder `out`, by default this one."""
    from .wandb import WandbSink

    _refuse_prompts(prompts, "wandb")
    source, texts = source_of(folder), Texts(programs=programs)
    return SinkExport(source, WandbSink(source, Path(out or "."), texts), texts)


def mlflow(folder: Path, out: str | None, *, programs: bool, prompts: bool) -> SinkExport:
    """A run of MLflow at the tracking URI `out`."""
    from .mlflow import MlflowSink

    _refuse_prompts(prompts, "mlflow")
    source, texts = source_of(folder), Texts(programs=programs)
    return SinkExport(source, MlflowSink(source, out, texts), texts)


def otel(folder: Path, out: str | None, *, programs: bool, prompts: bool) -> SinkExport:
    """A trace for the collector at the URL `out`."""
    from .otel import OtelSink

    if programs:
        raise UsageError("--with-programs has no effect with --to otel: a trace has no programs; omit it")
    source, texts = source_of(folder), Texts(prompts=prompts)
    return SinkExport(source, OtelSink(source, out, texts), texts)


def _refuse_prompts(prompts: bool, target: str) -> None:
    if prompts:
        raise UsageError(f"--with-prompts has no effect with --to {target}: use --to parquet or --to otel, or omit it")
