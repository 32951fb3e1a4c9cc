"""The package as people install it: an sdist, the wheel made from it, and an environment with what the wheel requires.

Nothing is downloaded: the packages that the wheel requires are linked from the environment of the tests.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePath

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
BUILD = """
import sys
from setuptools import build_meta
print(getattr(build_meta, f"build_{sys.argv[1]}")(sys.argv[2]))
"""


def tracked(root: Path = ROOT) -> list[Path]:
    """The files under version control, and new ones that are not ignored; relative."""
    done = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True, timeout=150,
    )
    return [Path(name) for name in done.stdout.split("\0") if name and (root / name).is_file()]


def build(folder: Path) -> tuple[Path, Path]:
    """Build an sdist of this checkout, and from its contents a wheel; returns both files."""
    source = folder / "checkout"
    for name in tracked():
        if name.parts[0] != "tests":
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    sdist = _built("sdist", source, folder)
    shutil.unpack_archive(sdist, folder / "unpacked", filter="data")
    [unpacked] = (folder / "unpacked").iterdir()
    return sdist, _built("wheel", unpacked, folder)


def _built(kind: str, source: Path, folder: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-c", BUILD, kind, str(folder)], cwd=source, capture_output=True, text=True, check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / done.stdout.splitlines()[-1]


def install(wheel: Path, folder: Path) -> Path:
    """Make an environment of this wheel and of what it requires without extras; returns its folder of programs."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=150)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet", "--no-deps",
         "--no-index", wheel],
        check=True, timeout=100, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    [site] = (folder / "lib").glob("python3.*/site-packages")
    [metadata] = site.glob("memento_evolve-*.dist-info/METADATA")
    lines = metadata.read_text(encoding="utf-8").splitlines()
    wanted = [Requirement(line.partition(": ")[2]) for line in lines if line.startswith("Requires-Dist: ")]
    for name in sorted(_closure(wanted)):
        _link(name, site)
    return folder / "bin"


def _closure(wanted: list[Requirement]) -> set[str]:
    """The names of all distributions that these requirements need here, directly or not."""
    found: set[tuple[str, str]] = set()
    left = list(_applying(wanted, ""))
    while left:
        name, extra = left.pop()
        if (name, extra) in found:
            continue
        found.add((name, extra))
        left += _applying([Requirement(text) for text in distribution(name).requires or ()], extra)
    return {name for name, _ in found}


def _applying(wanted: list[Requirement], extra: str) -> Iterator[tuple[str, str]]:
    for each in wanted:
        if each.marker is None or each.marker.evaluate({"extra": extra}):
            name = canonicalize_name(each.name)
            yield from ((name, more) for more in ("", *sorted(each.extras)))


def _link(name: str, site: Path) -> None:
    """Link the packages and files of a distribution, not the folders that it shares with others."""
    found = distribution(name)
    for part in {_linked(found, file) for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
        source = Path(str(found.locate_file(part)))
        if source.exists() and not (site / part).exists():
            (site / part).parent.mkdir(parents=True, exist_ok=True)
            (site / part).symlink_to(source)


def _linked(found: Distribution, file: PurePath) -> PurePath:
    """The outermost package that a file is in, or the file itself."""
    for depth in range(1, len(file.parts)):
        folder = PurePath(*file.parts[:depth])
        if Path(str(found.locate_file(folder / "__init__.py"))).exists():
            return folder
    return PurePath(file)
