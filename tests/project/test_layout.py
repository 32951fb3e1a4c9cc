"""The checkout is consistent: packages are declared, imports have one name, no file names a machine."""

import ast
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OUTSIDE = {"tests", "benchmarks", "docs"}


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


TRACKED = tracked()
SOURCES = [path for path in TRACKED if path.suffix == ".py"]
IN_PACKAGE = [path for path in SOURCES if path.relative_to(ROOT).parts[0] not in OUTSIDE]


def test_every_package_is_declared() -> None:
    found = {
        ".".join(["memento", *path.parent.relative_to(ROOT).parts])
        for path in IN_PACKAGE
        if path.name == "__init__.py"
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == found


def test_every_module_lies_in_a_package() -> None:
    lost = [path for path in IN_PACKAGE if not (path.parent / "__init__.py").exists()]
    assert not lost, f"no __init__.py beside {lost}"


def test_data_files_of_packages_are_shipped() -> None:
    patterns = PROJECT["tool"]["setuptools"]["package-data"]["*"]
    packages = {path.parent for path in IN_PACKAGE if path.parent != ROOT}
    missing = []
    for path in TRACKED:
        home = next((folder for folder in path.parents if folder in packages), None)
        if path.suffix == ".py" or home is None or path.relative_to(ROOT).parts[0] in OUTSIDE:
            continue
        # As globs do, and fnmatch does not: a star does not reach into folders.
        within = path.relative_to(home)
        if not any(len(Path(pattern).parts) == len(within.parts) and within.match(pattern) for pattern in patterns):
            missing.append(str(path.relative_to(ROOT)))
    assert not missing, f"add a pattern to package-data for {missing}"


def absolute_imports(path: Path) -> set[str]:
    """The first words of what a file imports absolutely."""
    words = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            words |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            words.add((node.module or "").partition(".")[0])
    return words


def test_no_module_is_imported_under_a_second_name() -> None:
    """From the root `import agents` would load a second copy of memento.agents."""
    own = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in IN_PACKAGE} - {"__init__"}
    assert {"agents", "core", "settings"} <= own
    assert not {str(path): found for path in SOURCES if (found := absolute_imports(path) & own)}


def test_the_package_imports_itself_relatively() -> None:
    assert not [path for path in IN_PACKAGE if "memento" in absolute_imports(path)]


def test_no_file_knows_a_machine() -> None:
    """No path of a home or a work folder, no host name of a package registry."""
    forbidden = ["/" + "work/", "/" + "home/", "/" + "root/", "pypi" + ".org", "/" + "opt/"]
    found = []
    for path in TRACKED:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {word}" for word in forbidden if word in text]
    assert not found
