"""The documents say what is true: commands exist, links lead somewhere, the example policy runs."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer
from memento.cli.commands import commands
from memento.settings import Settings
from memento.settings.presets import PRESETS

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
COMMANDS = {command.name or command.callback.__name__ for command in commands.registered_commands if command.callback}
COMMANDS |= {group.name for group in commands.registered_groups}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", path.read_text())
    missing = [link for link in targets if "://" not in link and not (path.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_named_commands_exist(path: Path) -> None:
    named = set(re.findall(r"(?:\./memento|`memento) ([a-z]+)", path.read_text()))
    assert named <= COMMANDS | {"test"}


def test_the_readme_names_every_preset_as_it_is() -> None:
    readme = (ROOT / "README.md").read_text()
    for name, preset in PRESETS.items():
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}`"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert int(cells[2]) == preset["generations"]
        assert cells[3] == f"{preset['k_hc']}, {preset['k_macro']}, {preset['k_cross']}"
        assert int(cells[4].split(",")[0]) == preset["n_roll"]
        panel = [preset[key] for key in ("evaluator_pool", "evaluator_generations", "evaluator_judges")]
        assert cells[5] == ", ".join(map(str, panel))


def test_every_setting_says_what_it_is() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_the_example_policy_runs(
    memento: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    text = (ROOT / "docs" / "writing-a-policy.md").read_text()
    [program] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    (tmp_path / "mine.py").write_text(program)
    done = memento(
        "evaluate", "mine.py", "--domain", "hanoi-kinematic", "--episodes", "1", "--randomisation", "none",
        "--set", "hanoi-kinematic.horizon=150",
    )
    assert done.returncode == 0, done.stderr
    assert "150 steps, ended by horizon" in done.stdout
    lifted = re.search(r"fitness (0\.\d+)", done.stdout)
    assert lifted is not None
    assert float(lifted[1]) > 0.2, "it picks the smallest cube up"


# ----------------------------------------------------------------------------- the commands in the documents

BLOCK = re.compile(r"(<!-- runs -->\n)?```sh\n(.*?)```", flags=re.DOTALL)
COMMAND = re.compile(r"^((?:[A-Z_]+=\S+ )*)(?:\./)?memento (.*)$")


def commands_of(path: Path) -> list[tuple[bool, dict[str, str], list[str]]]:
    """(to be run, environment, arguments) of every memento command in a document's sh blocks, in order."""
    found = []
    for marked, block in BLOCK.findall(path.read_text()):
        for line in block.splitlines():
            command = COMMAND.match(re.split(r"\s+#|\s+\|\s|\s+>", line)[0])
            if command is not None:
                environment = dict(each.split("=", 1) for each in command[1].split())
                found.append((bool(marked), environment, shlex.split(command[2])))
            assert command is not None or not marked, f"{line!r} is no command that can be run here"
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_parses(path: Path) -> None:
    group = typer.main.get_command(commands)
    for _, _, (name, *arguments) in commands_of(path):
        if name != "test":      # the launcher's own
            group.commands[name].make_context(name, arguments)


RUNNABLE = [path for path in DOCUMENTS if any(marked for marked, _, _ in commands_of(path))]


@pytest.mark.slow
@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.name)
def test_the_marked_commands_run(path: Path, memento: Callable[..., "CompletedProcess[str]"], tmp_path: Path) -> None:
    named = re.findall(r"Save it as `(\w+\.py)`.*?```python\n(.*?)```", path.read_text(), flags=re.DOTALL)
    for name, program in named:
        (tmp_path / name).write_text(program)
    for marked, environment, arguments in commands_of(path):
        if marked:
            done = memento(*arguments, **environment)
            assert done.returncode == 0, (arguments, done.stderr)
            assert done.stdout + done.stderr, arguments
