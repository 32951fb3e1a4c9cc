"""Tokens planted where a run has secrets, and looked for in everything that others get: the table of SECURITY.md."""

import json
import lzma
import re
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.domains.hanoi import DOMAIN
from memento.mcp_server.reading import ReadingTools
from memento.memory.lookup import list_policies
from memento.memory.store import RunStore

from ..support.language_server import KEY, policy, serving
from .conftest import Runs
from .served import SHORT, call

SALT = "5a17" * 8
RUN = ["run", "hanoi-kinematic", *SHORT, "--name", "one", "--set", "k_macro=2", "--set", f"salt={SALT}",
       "--set", "evaluator_pool=2", "--set", "evaluator_generations=1", "--set", "evaluator_judges=1"]
LOOKS = (       # at all that a program can reach: its frames, its environment, its arguments
    "        import os, sys\n        frame, found = sys._getframe(), []\n        while frame is not None:\n"
    "            found.append(repr(frame.f_locals))\n            frame = frame.f_back\n"
    "        print('looked', dict(os.environ), sys.argv, ' '.join(found)[-1500:])\n"
)


def curious() -> str:
    """A policy that prints what it can reach, at its first step."""
    text, count = re.subn(r"(    def reset\(self\)[^\n]*:\n)", rf"\1{LOOKS}", policy(1), count=1)
    assert count == 1
    return text


def asked_of(tools: ReadingTools, folder: Path) -> str:
    """All that an agent can read of the run."""
    with RunStore.read(folder) as store:
        names = [*list_policies(store), "eval/g0/0", "eval/g0/judge/0"]
    answers: list[object] = [tools.list_runs(), tools.show_run("one"), tools.list_candidates("one")]
    answers += [tools.show_candidate("one", name) for name in names]
    answers += [tools.read_candidate("one", names[0], part="code"), tools.report(["one"])]
    return json.dumps(answers, default=str)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_planted_tokens_are_where_the_table_says(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(curious())
    async with serving() as service:
        await call(runs, *RUN, "--model", service.model, "--initial", str(tmp_path / "mine.py"))
    assert service.keys == {KEY}, "the service got it"
    files = {"page": tmp_path / "p.html", "export": tmp_path / "e.py", "tape": tmp_path / "t.tape.xz"}
    where = ["--runs", str(runs.folder)]
    assert exit_code(["report", "one", "--out", str(files["page"]), "--no-pictures", *where]) == 0
    assert exit_code(["export", "one", "--out", str(files["export"]), *where]) == 0
    assert exit_code(["export", "one", "--to", "tape", "--out", str(files["tape"]), *where]) == 0
    assert exit_code(["show", "one", *where]) == exit_code(["show", "one", "init/0", *where]) == 0
    log = json.dumps([str(row) for row in runs.facts("one")])
    assert "looked" in log, "the program printed what it can reach"
    seen = {
        "prompts": "\n".join(service.prompts), "page": files["page"].read_text(), "export": files["export"].read_text(),
        "tape": lzma.decompress(files["tape"].read_bytes()).decode(), "screen": capsys.readouterr().out,
        "agents": asked_of(ReadingTools(runs.folder, {}), runs.folder / "one"), "log": log,
    }
    assert [name for name, text in seen.items() if KEY in text] == []
    assert [name for name, text in seen.items() if SALT in text] == ["page", "tape", "log"], "whoever repeats it"
    assert [name for name, text in seen.items() if str(tmp_path / "mine.py") in text] == ["agents", "log"]
    printed = re.search(r"looked.{0,3000}", log)
    assert printed is not None and SALT not in printed.group() and KEY not in printed.group()
    of_policies = [prompt for prompt in service.prompts if f"class {DOMAIN.contract.class_name}" in prompt]
    assert of_policies and not [prompt for prompt in of_policies if "success_rate" in prompt]
