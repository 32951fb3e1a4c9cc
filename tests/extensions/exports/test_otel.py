"""`memento export --to otel`, the real program, against a collector on this machine."""

import os
import signal
import sqlite3
import sys
from collections import Counter
from pathlib import Path

import pytest

from ...cli.conftest import Finished
from ...support.collector import attributes_of, open_collector
from ...support.processes import start_process
from ...support.program import DEADLINE_S, Call

pytestmark = pytest.mark.slow

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otel is not installed")

SMALL = "import memento.extensions.exports.otel as otel; otel.BATCH = 5; from memento.cli import main; main()"


def counted(finished: Finished, kind: str) -> int:
    database = finished.runs / "one" / "run.sqlite"
    with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
        return connection.execute("SELECT count(*) FROM facts WHERE kind = ?", [kind]).fetchone()[0]


def test_a_collector_gets_the_trace_of_a_run_once(finished: Finished, memento: Call, tmp_path: Path) -> None:
    with open_collector() as collector:
        for _ in range(2):      # the second time there is nothing new
            done = memento(
                "export", "one", "--to", "otel", "--out", collector.url, "--runs", finished.runs,
                XDG_STATE_HOME=str(tmp_path / "state"),
            )
            assert done.returncode == 0, done.stderr
    spans = collector.spans
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans) and len({span.trace_id for span in spans}) == 1
    [root] = [span for span in spans if not span.parent_span_id]
    assert root.name == "run hanoi-kinematic" and attributes_of(root)["memento.run.status"] == "done"
    assert all(span.parent_span_id in by_id for span in spans if span is not root)
    names = Counter(span.name.partition(" ")[0] for span in spans)
    assert names["episode"] == counted(finished, "EpisodeEnded")
    assert names["candidate"] == counted(finished, "CandidateScored") + 1
    assert names["generation"] == 1
    calls = [span for span in spans if span.name == "chat offline"]
    assert calls and all(span.kind == span.SPAN_KIND_CLIENT for span in calls)
    found = attributes_of(calls[0])
    assert found["gen_ai.operation.name"] == "chat" and found["gen_ai.request.model"] == "offline"
    assert found["gen_ai.response.finish_reasons"] == ("stop",) and found["gen_ai.usage.input_tokens"] == 0
    assert not any("messages" in name for span in spans for name in attributes_of(span))
    assert all(root.start_time_unix_nano <= span.end_time_unix_nano <= root.end_time_unix_nano for span in spans)
    assert collector.resources[0]["service.name"] == "memento"


def test_after_a_kill_only_the_request_without_an_answer_is_sent_again(finished: Finished, tmp_path: Path) -> None:
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")}
    with open_collector() as collector:
        command = [sys.executable, "-c", SMALL, "export", "one", "--to", "otel", "--out", collector.url,
                   "--runs", str(finished.runs)]
        collector.silent_from = 3
        killed = start_process(command, env=environment)
        assert collector.silent.wait(DEADLINE_S)
        killed.send_signal(signal.SIGKILL)
        killed.wait(DEADLINE_S)
        first = [span.span_id for span in collector.spans]
        unanswered = {span.span_id for span in collector.requests[2]}
        collector.silent_from = None
        collector.released.set()
        again = start_process(command, env=environment)
        assert again.wait(DEADLINE_S) == 0
    times = Counter(span.span_id for span in collector.spans)
    assert len(first) < len(times), "it was killed in the middle"
    assert {identity for identity, number in times.items() if number == 2} == unanswered
    assert max(times.values()) == 2
    episodes = {span.span_id for span in collector.spans if span.name == "episode"}
    assert len(episodes) == counted(finished, "EpisodeEnded")


def test_a_collector_that_does_not_answer_is_one_sentence(finished: Finished, memento: Call, tmp_path: Path) -> None:
    with open_collector() as collector:
        url = collector.url
    done = memento("export", "one", "--to", "otel", "--out", url, "--runs", finished.runs,
                   XDG_STATE_HOME=str(tmp_path / "state"), OTEL_EXPORTER_OTLP_TIMEOUT="1")
    assert done.returncode == 3
    assert "the collector did not take the trace" in done.stderr.splitlines()[-1]
    wrong = memento("export", "one", "--to", "otel", "--out", "localhost:4318", "--runs", finished.runs,
                    XDG_STATE_HOME=str(tmp_path / "state"))
    assert wrong.returncode == 2 and "must be http://HOST" in wrong.stderr
