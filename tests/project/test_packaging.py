"""The wheel: what is in it, and that it works in an environment with what it requires and nothing else."""

import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from memento import __version__
from memento.core.extras import DISTRIBUTION, EXTRAS, install_command
from packaging.metadata import Metadata
from packaging.requirements import Requirement

from ..support.installed import ROOT, build, install, tracked

pytestmark = pytest.mark.quick

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_every_extra_is_known_and_all_has_them_all() -> None:
    declared = PROJECT["optional-dependencies"]
    assert set(declared) == {*EXTRAS, "all"}
    [everything] = map(Requirement, declared["all"])
    assert everything.name == PROJECT["name"] == DISTRIBUTION
    assert everything.extras == set(EXTRAS) - {"rl", "cluster", "franka"}     # large, or for few


def test_the_lock_holds_the_extras_that_a_checkout_installs() -> None:
    command = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()[1]
    named = set(re.findall(r"--extra (\w+)", command))
    assert named == set(EXTRAS) - {
        "suites", "rl", "browser", "plots", "parquet", "wandb", "mlflow", "otel", "cluster", "franka",
    }


def wrong_tags(tags: list[str], version: str) -> list[str]:
    """The tags of a release that are not that of this version."""
    return [tag for tag in tags if re.match(r"v\d", tag) and tag != f"v{version}"]


def test_the_tag_of_a_release_is_its_version() -> None:
    assert wrong_tags(["v0.2.0", "v0.3.0rc1", "paper", "vision"], "0.2.0") == ["v0.3.0rc1"]
    command = ["git", "tag", "--points-at", "HEAD"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20, check=False)
    assert wrong_tags(done.stdout.split(), __version__) == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("built"))


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    sdist, wheel = built
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        data = sum(each.compress_size for each in archive.infolist() if not each.filename.endswith(".py"))
        [metadata] = [archive.read(name) for name in archive.namelist() if name.endswith("METADATA")]
    package = {
        str("memento" / name) for name in tracked()
        if name.suffix == ".py" and name.parts[0] not in ("setup.py", "tests", "docs")
    }
    assert {name for name in names if name.endswith(".py")} == package
    assert "memento/py.typed" in names
    assert not {name.split("/")[1] for name in names} & {"tests", "docs", "README.md"}
    found = Metadata.from_email(metadata, validate=True)
    assert (found.name, str(found.version)) == (DISTRIBUTION, __version__)
    assert found.description_content_type == "text/markdown"
    assert sdist.stat().st_size < 3_000_000 and data < 300_000     # none slipped in besides prompts and the gallery
    with tarfile.open(sdist) as archive:
        inside = {Path(name).name for name in archive.getnames()}
    assert {"CHANGELOG.md", "requirements.lock", "pyproject.toml", "LICENSE"} <= inside


NEEDS = {       # a command line: the extra, and the words that the error begins with
    "run hanoi": ("robosuite", "the domain hanoi needs robosuite"),
    "evaluate x.py --domain robosuite:Lift": ("robosuite", "the domain robosuite:Lift needs robosuite"),
    "compare main --domain hanoi-kinematic": ("compare", "memento compare needs scipy"),
    "render first --out a.mp4": ("video", "a film in MP4 needs av"),
    "export first --to parquet --out a": ("parquet", "memento export --to parquet needs pyarrow"),
    "export first --to otel": ("otel", "memento export --to otel needs opentelemetry.exporter.otlp.proto.http"),
    "run kitchen --set kitchen.backend=unity": ("unity", "kitchen.backend=unity needs ai2thor"),
}
FROM_PYTHON = """
import sys
import gymnasium, memento, memento.envs
from memento.cli import exit_code
assert memento.load("runs/first").name == "first"
gymnasium.make("memento/HanoiKinematic-v0").reset(seed=1)
for line in sys.argv[1:]:
    assert exit_code(line.split()) == 2
"""


@pytest.mark.slow
@pytest.mark.timeout(400)       # it starts a new installation, in which nothing is compiled yet
def test_the_base_installation_runs_and_names_what_is_missing(built: tuple[Path, Path], tmp_path: Path) -> None:
    programs = install(built[1], tmp_path / "env")

    def call(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [programs / program, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    ran = call("memento", "run", "hanoi-kinematic", "--preset", "smoke", "--name", "first", "--display", "none")
    assert "done after 1 generation" in ran.stdout
    assert call("memento-tui", "--help").stdout.startswith("Usage: memento watch")
    said = call("python", "-c", FROM_PYTHON, *NEEDS).stderr.splitlines()
    for line, (extra, words) in zip(said, NEEDS.values(), strict=True):
        assert line.startswith(f"memento: {words}") and line.endswith(f"pip install '{built[1]}[{extra}]'")
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["first"]
    doctor = call("memento", "doctor").stdout
    assert [extra for extra in EXTRAS if f"pip install '{built[1]}[{extra}]'" not in doctor] == [], doctor


def test_in_a_checkout_the_command_installs_into_its_environment() -> None:
    assert install_command("suites").endswith("-r pyproject.toml --extra suites")
