"""Shell completion, as a shell calls it, and the examples in the help."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer
from memento.cli.commands import commands
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock

from ..support.story import STORY

pytestmark = pytest.mark.quick

Call = Callable[..., "CompletedProcess[str]"]


@pytest.fixture
def a_run(tmp_path: Path) -> None:
    with RunStore.create(tmp_path / "runs" / "first", clock=SystemClock()) as store:
        store.append(STORY)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("memento sh", "show"),
        ("memento run hanoi-", "hanoi-kinematic"),
        ("memento run hanoi --preset sm", "smoke"),
        ("memento show f", "first"),
        ("memento show first init/", "init/0 init/1"),
        ("memento show nothing init/", ""),
    ],
)
@pytest.mark.usefixtures("a_run")
def test_a_shell_is_offered_names(words: str, offered: str, memento: Call) -> None:
    request = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_MEMENTO_COMPLETE": "complete_bash"}
    answer = memento(**request)
    assert answer.stdout.split() == offered.split(), answer.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str, memento: Call) -> None:
    script = memento("completion", shell)
    assert script.returncode == 0
    assert f"complete_{shell}" in script.stdout


def test_every_command_has_an_example_of_itself_that_parses() -> None:
    group = typer.main.get_command(commands)
    for name, command in group.commands.items():
        example = re.fullmatch(r"Example: memento (\S+)(.*)", command.epilog or "")
        assert example is not None, name
        assert example[1] == name
        arguments = shlex.split(example[2].partition(">>")[0])
        command.make_context(name, arguments, resilient_parsing=False)
