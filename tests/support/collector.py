"""A collector of traces on this machine: takes OTLP over HTTP, and keeps the decoded spans."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Collector:
    """`requests` holds the spans of each request; from request number `silent_from` on it takes them, but does not
    answer before `released`."""

    def __init__(self) -> None:
        self.requests: list[list[Any]] = []
        self.resources: list[dict[str, str]] = []
        self.silent_from: int | None = None
        self.silent = threading.Event()         # a request waits for its answer
        self.released = threading.Event()
        self.url = ""

    @property
    def spans(self) -> list[Any]:
        return [span for request in self.requests for span in request]

    def take(self, body: bytes) -> bytes:
        """The answer to a request."""
        from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as messages

        request = messages.ExportTraceServiceRequest.FromString(body)
        self.requests.append([
            span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans
        ])
        self.resources += [attributes_of(each.resource) for each in request.resource_spans]
        if self.silent_from is not None and len(self.requests) >= self.silent_from:
            self.silent.set()
            self.released.wait(60)
        return messages.ExportTraceServiceResponse().SerializeToString()


def attributes_of(thing: Any) -> dict[str, Any]:
    """The attributes of a span or a resource; lists as tuples."""
    found: dict[str, Any] = {}
    for pair in thing.attributes:
        kind = pair.value.WhichOneof("value")
        value = getattr(pair.value, kind)
        found[pair.key] = tuple(each.string_value for each in value.values) if kind == "array_value" else value
    return found


@contextmanager
def open_collector() -> Iterator[Collector]:
    """A collector on a free port of this machine."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            answer = collector.take(body)
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)
            except OSError:     # the sender was killed
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield collector
    finally:
        collector.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
