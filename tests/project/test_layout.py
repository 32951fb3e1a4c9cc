"""The checkout is consistent: modules lie in packages, imports have one name, no file names a machine."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OUTSIDE = {"tests", "docs", "setup.py"}


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


TRACKED = tracked()
SOURCES = [path for path in TRACKED if path.suffix == ".py"]
IN_PACKAGE = [path for path in SOURCES if path.relative_to(ROOT).parts[0] not in OUTSIDE]


def test_every_module_lies_in_a_package() -> None:
    lost = [path for path in IN_PACKAGE if not (path.parent / "__init__.py").exists()]
    assert not lost, f"no __init__.py next to {lost}"


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


def test_every_package_lists_its_modules_in_a_line_each() -> None:
    wrong = []
    for path in IN_PACKAGE:
        folder = path.parent
        if path.name != "__init__.py" or folder == ROOT:
            continue
        modules = {each.stem for each in folder.glob("*.py")} - {"__init__", "__main__"}
        text = ast.get_docstring(ast.parse(path.read_text()), clean=False) or ""
        listed = set(re.findall(r"^    (\w+)  +\S", text, re.MULTILINE))
        wrong += [f"{folder.relative_to(ROOT)}: {sorted(modules ^ listed)}"] if modules != listed else []
    assert not wrong


def test_a_class_name_has_one_meaning() -> None:
    """Outside domains and extensions, each of which has words of its own."""
    homes: dict[str, list[str]] = {}
    for path in IN_PACKAGE:
        if path.relative_to(ROOT).parts[0] in ("domains", "extensions"):
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: found for name, found in homes.items() if len(found) > 1}


def absolute_imports(path: Path) -> set[str]:
    """The first words of what a file imports absolutely."""
    words = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            words |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            words.add((node.module or "").partition(".")[0])
    return words


@pytest.mark.slow
def test_no_module_is_imported_under_a_second_name() -> None:
    """From the root `import agents` would load a second copy of memento.agents."""
    own = {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in IN_PACKAGE} - {"__init__"}
    assert {"agents", "core", "settings"} <= own
    assert not {str(path): found for path in SOURCES if (found := absolute_imports(path) & own)}


@pytest.mark.slow
def test_the_package_imports_itself_relatively() -> None:
    assert not [path for path in IN_PACKAGE if "memento" in absolute_imports(path)]


# ----------------------------------------------------------------------------------------- the layout of the tests

TESTS = [path for path in SOURCES if path.relative_to(ROOT).parts[0] == "tests"]
WITHOUT_MIRROR = {"benchmarks", "conformance", "integrity", "project", "reference_policies", "support"}


def test_the_folders_of_tests_mirror_the_package() -> None:
    folders = {path.parent.relative_to(ROOT / "tests") for path in TESTS} - {Path()}
    mirrors = {folder for folder in folders if folder.parts[0] not in WITHOUT_MIRROR}
    assert {Path("core"), Path("models")} <= mirrors
    assert not [str(folder) for folder in mirrors if not (ROOT / folder / "__init__.py").exists()]
    on_path = Path("support/on_path")       # whose modules are found through PYTHONPATH, as a user's are
    programs = {folder for folder in folders if folder.parts[0] == "integrity" and len(folder.parts) > 1}
    own = folders - programs - {on_path}
    assert not [str(each) for each in own if not (ROOT / "tests" / each / "__init__.py").exists()]


def imports_of(path: Path) -> set[str]:
    """The modules, and names in them, that a file imports, in full: `memento.tests.support.program.memento`."""
    package = ["memento", *path.relative_to(ROOT).parent.parts]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            home = package[: len(package) + 1 - node.level] if node.level else []
            module = [*home, *(node.module or "").split(".")]
            found |= {".".join(filter(None, [*module, alias.name])) for alias in node.names}
    return found


def test_no_test_module_is_imported() -> None:
    modules = {".".join(["memento", *path.relative_to(ROOT).with_suffix("").parts]) for path in TESTS}
    tests = {module for module in modules if module.rpartition(".")[2].startswith("test_")}
    assert len(tests) > 50
    for path in TESTS:
        assert not {name for name in imports_of(path) if name in tests or name.rpartition(".")[0] in tests}, path
        in_strings = re.findall(r"(?:from|import) (?:memento\.)?tests\.[\w.]*test_\w+", path.read_text())
        assert not in_strings, f"{path}: {in_strings}"


@pytest.mark.slow
def test_tests_import_the_product_absolutely_and_one_another_relatively() -> None:
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                within = len(path.relative_to(ROOT).parent.parts)
                assert node.level <= within, f"{path}: a relative import of the product, line {node.lineno}"
                assert node.level or not (node.module or "").startswith(("memento.tests", "tests")), path


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


def test_a_checkout_in_a_folder_of_any_name_can_be_tested(request: pytest.FixtureRequest) -> None:
    """Otherwise pytest imports the root as a package by the folder's name, which fails for a name with a hyphen."""
    [root] = [node for node in request.node.listchain() if node.path == ROOT and not isinstance(node, pytest.Session)]
    assert type(root) is pytest.Dir
