"""`memento bench` runs what the source checkout holds."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from memento.cli import bench, exit_code

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", bench.BENCHMARKS)
def test_every_benchmark_measures(name: str) -> None:
    assert callable(import_module(f"memento.benchmarks.{name}").measure)


def test_an_unknown_benchmark_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["bench", "step"]) == 2
    assert capsys.readouterr().err == "memento: unknown benchmark 'step': did you mean 'steps'?\n"


def test_figures_are_printed_as_lines_or_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = SimpleNamespace(measure=lambda: {"steps": {"per_s": 3.5}, "cpus": 2})
    monkeypatch.setattr("importlib.import_module", lambda name: module)
    assert exit_code(["bench", "steps"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["steps"], ["per_s", "3.5"], ["cpus", "2"]]
    assert exit_code(["bench", "steps", "--json"]) == 0
    assert capsys.readouterr().out == '{"steps": {"per_s": 3.5}, "cpus": 2}\n'
