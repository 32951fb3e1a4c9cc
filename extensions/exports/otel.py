"""Sends the trace of a run to an OpenTelemetry collector, with OTLP over HTTP.

Imports the OpenTelemetry SDK when it is made. A collector only takes and never tells what it has, so a small file
of this user notes up to which fact it accepted the spans.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ...core.errors import MementoError, UsageError, os_problem
from ...core.extras import require
from ...core.files import replace_file
from ...core.version import __version__
from ...memory.origin import state_folder
from ...memory.store import Entry
from .plain_values import without_user
from .sink import ExportedRun, Texts
from .spans import Span, Spans, span_id, trace_id

PLACE: Final = "http://localhost:4318"      # without --out and OpenTelemetry's own variables
TRACES: Final = "/v1/traces"
BATCH: Final = 200                          # spans in one request, and those of the last fact of it
PATIENCE_S: Final = 60.0                    # with a collector that answered before


class OtelSink:
    """Sends every span once; after a kill at most one batch again, with the same ids."""

    def __init__(self, source: ExportedRun, url: str | None, texts: Texts) -> None:
        require("otel", "memento export --to otel")
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        self._source = source
        self._url = endpoint(url, os.environ)
        self._exporter: Any = OTLPSpanExporter(endpoint=self._url)
        self._spans = Spans(texts)
        self._cursor = _Cursor(source, self._url)
        self._waiting: list[tuple[int, Span]] = []      # with the place of the fact
        self._make = _Maker(source)
        self._last = 0                                  # the last fact that was taken
        self._answered: float | None = None             # when the collector last took something

    @property
    def place(self) -> str:
        """The trace and the collector."""
        return f"trace {trace_id(self._source):032x} at {without_user(self._url)}"

    def take(self, entries: Sequence[Entry]) -> None:
        """Send the spans that end with these facts, in batches of whole facts. Raises MementoError."""
        for entry in entries:
            spans = [*self._spans.apply(entry)]
            self._last = entry.seq
            if entry.seq > self._cursor.seq:
                self._waiting += [(entry.seq, span) for span in spans]
                if len(self._waiting) >= BATCH:
                    self._send()

    def flush(self) -> None:
        """Send what waits. Raises MementoError after a minute without an answer."""
        if self._waiting:
            self._send()

    def close(self, *, complete: bool) -> None:
        """Send what waits, and at the end of the run its root. Raises MementoError."""
        if complete and self._cursor.root != self._last:
            self._waiting.append((self._last, self._spans.end()))
        try:
            while self._waiting:
                self._send()
                if self._waiting:
                    time.sleep(1.0)
            if complete:
                self._cursor.write(self._last, root=self._last)
        finally:
            self._exporter.shutdown()

    def _send(self) -> None:
        """Send what waits in one request. A failure is raised unless the collector answered a moment ago."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        accepted = self._exporter.export([self._make(span) for _, span in self._waiting]) is SpanExportResult.SUCCESS
        now = time.monotonic()
        if accepted:
            self._cursor.write(self._waiting[-1][0], root=self._cursor.root)
            self._waiting, self._answered = [], now
        elif self._answered is None or now > self._answered + PATIENCE_S:
            self._waiting = []
            raise MementoError(f"the collector did not take the {self.place}; the same command continues")


class _Maker:
    """Makes the SDK's spans."""

    def __init__(self, source: ExportedRun) -> None:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._source = source
        self._scope = InstrumentationScope("memento", __version__)
        self._resource = Resource.create({
            "service.name": "memento", "service.version": __version__, "service.instance.id": source.identity[:16],
            "memento.run": source.name,
        })

    def __call__(self, span: Span) -> Any:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import SpanKind, Status, StatusCode

        failed = {} if span.error is None else {"error.type": span.error}
        return ReadableSpan(
            name=span.name, context=self._context(span.key),
            parent=None if span.parent is None else self._context(span.parent), resource=self._resource,
            attributes={**span.attributes, **failed}, kind=SpanKind.CLIENT if span.is_call else SpanKind.INTERNAL,
            status=Status(StatusCode.UNSET) if span.error is None else Status(StatusCode.ERROR, span.error),
            start_time=_nanoseconds(span.began), end_time=_nanoseconds(span.ended), instrumentation_scope=self._scope,
        )

    def _context(self, key: str) -> Any:
        from opentelemetry.trace import SpanContext, TraceFlags

        return SpanContext(
            trace_id(self._source), span_id(self._source, key), is_remote=False,
            trace_flags=TraceFlags(TraceFlags.SAMPLED),
        )


class _Cursor:
    """Up to which fact a collector accepted the spans of a run, and the length of the log when it got the root."""

    def __init__(self, source: ExportedRun, url: str) -> None:
        name = f"{source.identity[:16]}-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"
        try:
            self.path: Path = state_folder() / "exports" / name
            self.path.parent.mkdir(parents=True, exist_ok=True)
            known = json.loads(self.path.read_text(encoding="utf-8"))
            self.seq, self.root = int(known["seq"]), int(known["root"])
        except FileNotFoundError:
            self.seq = self.root = 0
        except (ValueError, KeyError, TypeError):
            raise UsageError(f"{self.path} is damaged: remove it, and the spans are sent again") from None
        except (OSError, RuntimeError) as error:
            raise UsageError(f"cannot note what was sent: {error}; set XDG_STATE_HOME to a folder") from None

    def write(self, seq: int, *, root: int) -> None:
        """Note it. Raises MementoError."""
        try:
            replace_file(self.path, json.dumps({"seq": seq, "root": root}))
        except OSError as error:
            raise MementoError(f"cannot write {self.path}: {os_problem(error)}") from None
        self.seq, self.root = seq, root


def endpoint(given: str | None, environ: Mapping[str, str]) -> str:
    """The URL for traces: as given, or from OpenTelemetry's own variables. Raises UsageError."""
    if given is None and environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        url = environ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]    # is used as it is
    else:
        url = given or environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or PLACE
        if not url.rstrip("/").endswith(TRACES):
            url = url.rstrip("/") + TRACES
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise UsageError("the URL of the collector must be http://HOST… or https://HOST…, such as " + PLACE)
    return url


def _nanoseconds(at: float) -> int:
    return round(at * 1_000_000) * 1000
