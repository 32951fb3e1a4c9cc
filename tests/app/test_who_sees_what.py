"""Tokens planted where a run has secrets, and looked for in everything that others get: the table of SECURITY.md."""

import json
import lzma
import os
import re
from pathlib import Path

import pytest
from memento.cli import exit_code
from memento.core.events import EpisodeEnded, ToolAnswered
from memento.domains.hanoi import DOMAIN
from memento.extensions.mcp.reading import ReadingTools
from memento.memory.lookup import list_policies
from memento.memory.store import RunStore

from ..support import ON_PATH
from ..support.language_server import KEY, policy, program_reply, serving
from ..support.services import Act
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


# S itself: a number that nothing else is, where an environment says how an episode went.
SAID = re.compile(r"7351942|7\.35\d*e")
EVALUATOR = (
    "import sys\nimport numpy as np\n\n\nclass Evaluator:\n    def evaluate(self, arrays):\n"
    "        numbers = [float(np.max(each)) for each in arrays.values() if each.dtype.kind in 'fiub' and each.size]\n"
    "        frame, found = sys._getframe(), []\n        while frame is not None:\n"
    "            found.append(repr(frame.f_locals))\n            frame = frame.f_back\n"
    "        row = next(iter(arrays.values()))\n"
    "        return 1.0 / (2 + len(row)), {'most': max(numbers), 'frames': '73519' + '42' in ' '.join(found)}\n"
)
LOOKER = (
    "import re\nimport sys\n\n\nclass Policy:\n    def reset(self):\n        pass\n\n"
    "    def compute_action(self, obs):\n"
    "        frame, found = sys._getframe(), []\n        while frame is not None:\n"
    "            found.append(repr(frame.f_locals))\n            frame = frame.f_back\n"
    "        print('looked', re.findall('73519' + '42.*', ' '.join(found)))\n        return ACTION\n"
)
CODE = (
    "numbers = [each for each in arrays.values() if each.dtype.kind in 'fiub' and each.size]\n"
    "print('the largest', max(float(np.max(each)) for each in numbers))\n"
    "import sys\nframe = sys._getframe()\nwhile frame is not None:\n"
    "    print(sorted(map(repr, frame.f_locals.values()))[:9])\n    frame = frame.f_back\n"
)
PLANTED = {     # domain, an action, the settings, and where S is seen as the environment says it
    "info of Gymnasium": (
        "gym:memento.tests.support.toy_environments:ToyPlanted-v0", "[2, 0.0, 0.0]", [], set[str](),
    ),
    "info of Gymnasium, shown": (
        "gym:memento.tests.support.toy_environments:ToyPlanted-v0", "[2, 0.0, 0.0]",
        ["--set", "gym.success_info=shown"], {"prompts", "log", "computed", "screen"},
    ),
    "an array `success`": (
        "toy_domain:DOMAIN", "[0.2, 0.2, 0.2]", ["--set", "toy.trap=planted success"],
        {"log", "prompts", "screen"},       # as the metric that an evaluator made of it
    ),
}


def replying(number: int, prompt: str, action: str, asked: list[str]) -> Act:
    """Evaluators and policies that look everywhere, and once a computation over a recording."""
    if '"choice"' in prompt:
        return Act(text='{"reason": "It tells failures apart.", "choice": "A"}')
    if "class `Evaluator`" in prompt:
        return Act(text=program_reply(f"{EVALUATOR}\n\nNUMBER = {number}\n", "looks"))
    if "look_closer" in prompt and not asked:
        asked.append(prompt)
        return Act(text=f"Tool: compute\nRecording: parent 0\n\n```python\n{CODE}```\n")
    return Act(text=program_reply(f"{LOOKER.replace('ACTION', action)}\n\nNUMBER = {number}\n", "looks"))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("where", PLANTED)
async def test_success_is_seen_where_the_table_says(
    where: str, runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    domain, action, more, seen_in = PLANTED[where]
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)
    asked: list[str] = []
    settings = ["--set", "k_hc=1", "--set", "k_macro=1", "--set", "proposer_turns=2", "--set", "evaluator_pool=1",
                "--set", "evaluator_generations=1", "--set", "evaluator_judges=1", *more]
    async with serving(lambda number, prompt: replying(number, prompt, action, asked)) as service:
        await call(runs, "run", domain, "--preset", "smoke", "--seed", "5", "--workers", "1", "--name", "one",
                   *settings, "--model", service.model)
    assert asked, "a writer computed over a recording"
    facts = runs.facts("one")
    computed = [fact.answer.text for fact in facts if isinstance(fact, ToolAnswered)]
    assert computed and all("the largest" in text for text in computed)
    printed = [fact.episode.notes.printed for fact in facts if isinstance(fact, EpisodeEnded)]
    assert printed and all("looked" in text for text in printed), "the programs printed what they can reach"
    pages = tmp_path / "p.html", tmp_path / "e.py"
    at = ["--runs", str(runs.folder)]
    assert exit_code(["report", "one", "--out", str(pages[0]), "--no-pictures", *at]) == 0
    assert exit_code(["export", "one", "--out", str(pages[1]), *at]) == 0
    assert exit_code(["show", "one", *at]) == exit_code(["show", "one", "init/0", *at]) == 0
    found = {
        "prompts": "\n".join(service.prompts), "page": pages[0].read_text(), "export": pages[1].read_text(),
        "agents": asked_of(ReadingTools(runs.folder, {}), runs.folder / "one"), "computed": "\n".join(computed),
        "programs": "\n".join(printed), "log": json.dumps([str(fact) for fact in facts]),
        "screen": capsys.readouterr().out,
    }
    assert {name for name, text in found.items() if SAID.search(text)} == seen_in


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
