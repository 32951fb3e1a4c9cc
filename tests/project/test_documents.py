"""The documents are true: commands, links, files and modules exist, the example policy runs."""

import importlib
import re
import runpy
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest
import typer
from memento.cli.commands import commands
from memento.settings import Settings
from memento.settings.presets import PRESETS

from ..support.guide import commands_of

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*ROOT.glob("*.md"), *sorted((ROOT / "docs").rglob("*.md"))]
GROUP = typer.main.get_command(commands)
COMMANDS = {*GROUP.list_commands(None)}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)", path.read_text())
    missing = [link for link in targets if "://" not in link and not (path.parent / link).exists()]
    assert not missing


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_named_commands_exist(path: Path) -> None:
    named = set(re.findall(r"(?:\./memento|`memento) ([a-z]+(?:-[a-z]+)*)", path.read_text()))
    assert named <= COMMANDS | {"test"}


def test_the_guide_names_every_preset_as_it_is() -> None:
    guide = (ROOT / "docs" / "first-ten-minutes.md").read_text()
    for name, preset in PRESETS.items():
        row = next(line for line in guide.splitlines() if line.startswith(f"| `{name}`"))
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert int(cells[2]) == preset["generations"]
        assert cells[3] == f"{preset['k_hc']}, {preset['k_macro']}, {preset['k_cross']}"
        assert int(cells[4].split(",")[0]) == preset["n_roll"]
        panel = [preset[key] for key in ("evaluator_pool", "evaluator_generations", "evaluator_judges")]
        assert cells[5] == ", ".join(map(str, panel))


def test_the_newcomers_path_is_short_and_in_order() -> None:
    """At most eight pages and 8,000 words, the README first; each page leads to the next."""
    readme = (ROOT / "README.md").read_text()
    listed = re.findall(r"\]\((docs/[^)]+)\)", readme.partition("## The way in")[2].partition("\n## ")[0])
    pages = [readme, *((ROOT / name).read_text() for name in listed)]
    assert len(pages) <= 8
    assert sum(len(page.split()) for page in pages) <= 8_000
    for page, after in zip(pages[1:], listed[1:], strict=False):
        assert f"({Path(after).name})" in page.rstrip().splitlines()[-1]


def test_every_setting_says_what_it_is() -> None:
    assert all(field.description for field in Settings.model_fields.values())


@pytest.mark.slow
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
    assert float(lifted[1]) > 0.2, "it picks up the smallest cube"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_parses(path: Path) -> None:
    for command in commands_of(path.read_text(encoding="utf-8")):
        name, *arguments = command.arguments
        if name != "test":      # the launcher's own
            GROUP.get_command(None, name).make_context(name, arguments)


# ----------------------------------------------------------------------------- paths, modules and folders

SPAN = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"```.*?```", flags=re.DOTALL)
FILE = re.compile(r"[\w.*-]+(?:/[\w.*-]+)*/?")
ENDINGS = (".py", ".md", ".toml", ".tcss", ".css", ".html", ".lock", "/")
MADE = {    # by readers
    "runs/", "trajectories/", "elite.py", "mine.py", "cart.py", "test_cart.py", "buoy.py",
    "simplify.py", "annealing.py", "map_elites.py", "test_methods.py",
}
PACKAGES = "agents|app|cli|core|domains|envs|evidence|extensions|memory|models|runtime|search|settings|tui"
MODULE = re.compile(rf"(?:memento\.)?((?:{PACKAGES})\.[\w.]+)")


def tracked(*patterns: str) -> list[Path]:
    """The files under version control."""
    done = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / line for line in done.stdout.splitlines()]


def named_paths(text: str) -> Iterator[str]:
    """The code-marked words that read as a file or a folder of this repository."""
    for span in SPAN.findall(FENCE.sub("", text)):
        if FILE.fullmatch(span) and span.endswith(ENDINGS) and span not in MADE:
            yield span


def test_named_files_exist() -> None:
    documents = tracked("*.md")
    there = {part for each in tracked() for part in each.relative_to(ROOT).parts}

    def found(named: str, document: Path) -> bool:
        """A path from the root or from the document; a bare name is that of any file or folder."""
        bare = named.rstrip("/")
        return bare in there if "/" not in bare else any(any(home.glob(bare)) for home in (ROOT, document.parent))

    assert len(documents) > 100
    missing = {
        str(path.relative_to(ROOT)): lost for path in documents
        if (lost := [named for named in named_paths(path.read_text(encoding="utf-8")) if not found(named, path)])
    }
    assert not missing


def exists(dotted: str) -> bool:
    """Whether `a.b.c` is a module of the package, or an attribute of one."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        home = ROOT.joinpath(*parts[:count])
        if home.is_dir() or home.with_suffix(".py").exists():
            found = importlib.import_module(".".join(["memento", *parts[:count]]))
            return all((found := getattr(found, name, None)) is not None for name in parts[count:])
    return False


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_named_modules_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = {found[1] for span in SPAN.findall(FENCE.sub("", text)) if (found := MODULE.fullmatch(span))}
    named |= {each.rstrip(".") for each in re.findall(r"python -m memento\.([\w.]+)", text)}
    assert not [each for each in named if not each.endswith((*ENDINGS, ".NAME")) and not exists(each)]


def test_the_architecture_has_a_row_for_every_folder() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    newcomers = "\n".join(text.splitlines()[:42])      # what a person reads before looking for a file
    rows = {
        folder for row in re.findall(r"^\| (`[^|]+/`) \|", newcomers, flags=re.MULTILINE)
        for folder in re.findall(r"`(\w+)/`", row)
    }
    folders = {path.relative_to(ROOT).parts[0] for path in tracked() if path.parent != ROOT}
    assert {folder for folder in folders if not folder.startswith(".")} <= rows


def test_the_first_screen_names_the_papers_agents_with_their_files() -> None:
    screen = "\n".join((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()[:35])
    for name in ("HillClimber", "Mutator", "Crosser", "JudgePanel", "EvaluatorEvolver", "EventBus", "EliteKeeper"):
        [row] = [line for line in screen.splitlines() if f"`{name}`" in line]
        files = [ROOT / found for found in re.findall(r"`([\w/]+\.py)`", row)]
        assert any(f"class {name}" in path.read_text(encoding="utf-8") for path in files), name


def test_the_architecture_draws_the_layers_that_are_checked() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    picture = text.split("```")[1]
    drawn = [names for line in picture.splitlines() if (names := re.findall(r"(\w+)/", line))]
    [contract] = [
        each for each in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers"
    ]
    assert drawn == [[name.strip() for name in layer.split("|")] for layer in contract["layers"] if layer != "__main__"]


def test_the_program_that_draws_the_pictures_uses_names_that_exist() -> None:
    assert callable(runpy.run_path(str(ROOT / "docs" / "pictures" / "make.py"))["draw_all"])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_wrap(path: Path) -> None:
    lines = FENCE.sub("", path.read_text(encoding="utf-8")).splitlines()
    assert not [line for line in lines if len(line) > 120 and not line.startswith("|") and "](" not in line]
