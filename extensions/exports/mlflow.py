"""Writes the series of a run to MLflow: a tracking server, or a database on this machine.

Imports mlflow when it is made.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ...core.errors import MementoError
from ...core.extras import require
from ...core.text import one_line
from ...memory.store import Entry
from .plain_values import column, text, without_user
from .points import Series, SeriesPoint
from .program_files import program_files
from .sink import ExportedRun, Texts

PLACE: Final = "sqlite:///mlflow.db"    # without --out and MLFLOW_TRACKING_URI, as in MLflow itself
EXPERIMENT: Final = "memento"           # without MLFLOW_EXPERIMENT_NAME
IDENTITY: Final = "memento.identity"    # the tag by which a later export finds the run
LONGEST: Final = 500                    # characters of a parameter: older servers take no more
BATCH: Final = 1000                     # metrics in one request; a server takes no more
QUIET: Final = {
    "MLFLOW_DISABLE_TELEMETRY": "true",             # it goes to its makers, over the network
    "MLFLOW_LOGGING_LEVEL": "WARNING",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",            # seconds; otherwise a server that is gone takes many minutes
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}
"""Variables for mlflow, unless the user set them."""
ENDS: Final = {"done": "FINISHED", "budget": "FINISHED", "failed": "FAILED"}


class MlflowSink:
    """One run of MLflow. A later export finds it by a tag, and adds the steps that each series lacks."""

    def __init__(self, source: ExportedRun, uri: str | None, texts: Texts) -> None:
        require("mlflow", "memento export --to mlflow")
        for variable, value in QUIET.items():
            os.environ.setdefault(variable, value)
        from mlflow.exceptions import MlflowException
        from mlflow.tracking import MlflowClient

        self._source, self._texts, self._error = source, texts, MlflowException
        self._uri = uri or os.environ.get("MLFLOW_TRACKING_URI") or PLACE
        self._series = Series()
        self._points: list[SeriesPoint] = []
        self._described = False
        with self._problems():
            self._client: Any = MlflowClient(tracking_uri=self._uri)
            self._id, self._known = self._find()

    @property
    def place(self) -> str:
        """The run's id and the tracking URI."""
        return f"run {self._id} of {without_user(self._uri)}"

    def take(self, entries: Sequence[Entry]) -> None:
        """Keep the points of these facts."""
        for entry in entries:
            point = self._series.apply(entry)
            if point is not None:
                self._points.append(point)

    def flush(self) -> None:
        """Send the points, and at first the parameters. Raises MementoError."""
        with self._problems():
            self._send()

    def close(self, *, complete: bool) -> None:
        """Send what is left; a run that ended is marked so. Raises MementoError."""
        status = self._series.status
        with self._problems():
            self._send()
            if not complete:
                return
            if self._texts.programs:
                for name, program in program_files(self._source.folder).items():
                    self._client.log_text(self._id, program, name)
            self._client.set_tag(self._id, "memento.status", status.status)
            self._client.set_terminated(
                self._id, ENDS.get(status.status, "KILLED"), end_time=_milliseconds(status.last or 0.0)
            )

    # --------------------------------------------------------------------------------------- private

    def _find(self) -> tuple[str, dict[str, set[int]]]:
        """The run of an earlier export with the steps of each of its series, or a new run."""
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", EXPERIMENT)
        experiment = self._client.get_experiment_by_name(name)
        place = self._client.create_experiment(name) if experiment is None else experiment.experiment_id
        found = self._client.search_runs([place], filter_string=f"tags.`{IDENTITY}` = '{self._source.identity}'")
        if not found:
            made = self._client.create_run(
                place, run_name=self._source.name, tags={IDENTITY: self._source.identity}
            )
            return made.info.run_id, {}
        run = found[0]
        self._client.update_run(run.info.run_id, status="RUNNING")
        return run.info.run_id, {
            key: {metric.step for metric in self._client.get_metric_history(run.info.run_id, key)}
            for key in run.data.metrics
        }

    def _send(self) -> None:
        from mlflow.entities import Metric, Param

        if not self._described and self._series.settings:
            params = [Param(column(key), _shown(value)) for key, value in self._series.settings.items()]
            for first in range(0, len(params), 100):    # a server takes no more at once
                self._client.log_batch(self._id, params=params[first : first + 100])
            self._described = True
        metrics = [
            Metric(name, value, _milliseconds(point.at), point.step)
            for point in self._points for name, value in point.values.items()
            if point.step not in self._known.get(name, ())
        ]
        for first in range(0, len(metrics), BATCH):
            self._client.log_batch(self._id, metrics=metrics[first : first + BATCH])
        self._points = []

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Failures of MLflow as MementoError."""
        try:
            yield
        except (self._error, OSError) as error:
            shown = without_user(self._uri)
            raise MementoError(
                f"MLflow at {shown} fails: {one_line(str(error).replace(self._uri, shown), 300)}"
            ) from None


def _shown(value: object) -> str:
    return text(value if isinstance(value, str) else json.dumps(value))[:LONGEST]


def _milliseconds(at: float) -> int:
    return round(at * 1000)
