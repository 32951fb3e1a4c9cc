"""The launcher, without a network: a fake uv in the PATH records how it was called.

CI proves that a bare machine can be set up, since it begins with this launcher.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from ..support.processes import start_process

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]

UV = """#!/bin/sh
# Replaces uv: records its calls; installs a `memento` that prints its arguments.
echo "$@" >>"{log}"
case "$1" in --version) exit 0 ;; esac
[ ! -e "{broken}" ] || exit 1
case "$*" in
    *--editable*)
        sleep {slow_s}
        printf '#!/bin/sh\\necho "memento got $# arguments: $*"\\n' >"{root}/.venv/bin/memento"
        for tool in pytest ruff mypy lint-imports; do
            printf '#!/bin/sh\\necho "%s got $*"\\n[ ! -e "{root}/%s-fails" ]\\n' $tool $tool >"{root}/.venv/bin/$tool"
        done
        chmod +x "{root}"/.venv/bin/* ;;
esac
"""


class Checkout:
    """A checkout with only the launcher and the files that it reads; calls have an empty environment."""

    def __init__(self, folder: Path, *, slow_s: float = 0.0) -> None:
        self.root = folder / "a check out"
        self.tools = folder / "bin"
        self.log = folder / "uv.log"
        self.broken = folder / "broken"
        self.home = folder / "home"
        for made in (self.root, self.tools, self.home):
            made.mkdir()
        shutil.copy(ROOT / "memento", self.root)
        (self.root / "requirements.lock").write_text("# nothing\n")
        (self.root / "pyproject.toml").write_text("[project]\nname = 'x'\n")
        self.install_uv(slow_s)
        (self.tools / "python3").symlink_to(sys.executable)

    def install_uv(self, slow_s: float) -> None:
        uv = self.tools / "uv"
        uv.write_text(UV.format(log=self.log, broken=self.broken, root=self.root, slow_s=slow_s))
        uv.chmod(0o755)

    def start(self, *arguments: str, program: Path | None = None, cwd: Path | None = None,
              path: str | None = None, **variables: str) -> "subprocess.Popen[str]":
        environment = {"PATH": path or f"{self.tools}:/usr/bin:/bin", "HOME": str(self.home)} | variables
        return start_process(
            [program or self.root / "memento", *arguments], cwd=cwd or self.home, env=environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )

    def call(self, *arguments: str, program: Path | None = None, cwd: Path | None = None,
             path: str | None = None, **variables: str) -> tuple[int, str, str]:
        process = self.start(*arguments, program=program, cwd=cwd, path=path, **variables)
        out, errors = process.communicate(timeout=150)
        return process.returncode, out, errors

    def syncs(self) -> int:
        return self.log.read_text().count("pip sync") if self.log.exists() else 0


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_first_use_sets_up_and_hands_its_arguments_over(checkout: Checkout) -> None:
    status, out, errors = checkout.call("run", "a b", "--set", "x=*")
    assert (status, out) == (0, "memento got 4 arguments: run a b --set x=*\n"), errors
    assert "to download" in errors and "on disk" in errors
    assert re.search(r"memento: ready after \d+ s; ./memento alone lists first commands", errors)
    assert "Terminated" not in errors
    assert "--require-hashes" in checkout.log.read_text()
    assert "--no-deps --no-build-isolation --editable" in checkout.log.read_text()


def test_the_second_use_only_starts(checkout: Checkout) -> None:
    checkout.call("x")
    before = checkout.log.read_text()
    assert checkout.call("x") == (0, "memento got 1 arguments: x\n", "")
    assert checkout.log.read_text() == before


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml"])
def test_a_changed_lock_is_installed_anew(checkout: Checkout, name: str) -> None:
    checkout.call("x")
    (checkout.root / name).write_text("# changed\n")
    assert checkout.call("x")[0] == 0
    assert checkout.syncs() == 2
    assert checkout.call("x")[2] == ""
    assert checkout.syncs() == 2


@pytest.mark.slow
def test_a_user_who_may_not_set_up_learns_who_has_to() -> None:
    """Also after an update by another one: a checkout for everybody belongs to one user."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)       # pytest's own folders are closed to others
        checkout = Checkout(Path(folder))
        checkout.root.chmod(0o555)
        other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = subprocess.run([*other, checkout.root / "memento", "show"], env={"PATH": "/usr/bin:/bin"}, timeout=150,
                              capture_output=True, text=True, check=False)
        checkout.root.chmod(0o755)
    assert done.returncode == 3 and done.stdout == ""
    assert re.fullmatch(rf"memento: {re.escape(str(checkout.root))} is not set up for this version, .* this user may "
                        r"not change it: \S+ has to call .*/memento --version once\n", done.stderr)


def test_a_set_up_that_was_killed_is_begun_again(checkout: Checkout) -> None:
    checkout.broken.touch()
    status, _, errors = checkout.call("x")
    assert status == 3
    assert "continuing with pip" in errors
    assert errors.splitlines()[-1].startswith("memento: could not install")
    left = checkout.root / ".venv" / "left-over"
    left.touch()
    checkout.broken.unlink()
    assert checkout.call("x")[0] == 0
    assert not left.exists(), "an incomplete environment is made from the start"


def test_a_working_environment_is_kept_when_the_lock_changes(checkout: Checkout) -> None:
    checkout.call("x")
    kept = checkout.root / ".venv" / "kept"
    kept.touch()
    (checkout.root / "requirements.lock").write_text("# changed\n")
    checkout.call("x")
    assert kept.exists()


@pytest.mark.slow
def test_two_first_uses_at_once_set_up_once(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path, slow_s=2.0)
    both = [checkout.start("x") for _ in range(2)]
    outputs = [process.communicate(timeout=150) for process in both]
    assert [process.returncode for process in both] == [0, 0], outputs
    assert checkout.syncs() == 1
    assert sum("waiting for it" in errors for _, errors in outputs) == 1


def test_a_killed_set_up_leaves_no_lock(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path, slow_s=30.0)
    first = checkout.start("x")
    assert first.stderr is not None
    while "setting up" not in first.stderr.readline():
        pass
    first.kill()
    first.communicate(timeout=150)
    subprocess.run(["rm", "-f", checkout.tools / "uv"], check=True)
    checkout.install_uv(0.0)
    status, out, errors = checkout.call("x")
    assert status == 0, errors
    assert out == "memento got 1 arguments: x\n"


def test_through_links_and_from_anywhere(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    first = tmp_path / "far" / "link"
    first.symlink_to("../a check out/memento")
    second = tmp_path / "second"
    second.symlink_to(first)
    assert checkout.call("x", program=second, cwd=tmp_path / "far")[:2] == (0, "memento got 1 arguments: x\n")
    assert (checkout.root / ".venv").is_dir()


def test_arguments_of_test_go_to_pytest(checkout: Checkout) -> None:
    assert checkout.call("test", "-k", "a or b")[1] == "pytest got -k a or b\n"


PYTEST = "pytest got -n 3 --dist worksteal --progress"
CHECKS = {"ruff": "lint", "lint-imports": "contracts", "mypy": "types", "pytest": "tests"}


@pytest.mark.parametrize(("arguments", "out", "checks"), [
    (["test"], f"{PYTEST} --quick\n", {"lint", "contracts", "tests"}),
    (["test", "--rest", "-x"], f"{PYTEST} --rest -x\n", {"types", "tests"}),
    (["test", "--all"], f"{PYTEST}\n", {"lint", "contracts", "types", "tests"}),
])
def test_each_check_can_fail_and_the_others_are_made_all_the_same(
    checkout: Checkout, arguments: list[str], out: str, checks: set[str]
) -> None:
    assert checkout.call(*arguments)[:2] == (0, out)
    for tool, check in CHECKS.items():
        failing = checkout.root / f"{tool}-fails"
        failing.touch()
        status, printed, errors = checkout.call(*arguments)
        assert (status, printed) == (int(check in checks), out)
        if check in checks:
            assert errors.splitlines()[-1] == f"memento: FAILED: {check}"
            assert {each for each in CHECKS if f"{each} got" in errors} == {tool} - {"pytest"}
        failing.unlink()


def test_what_acts_before_the_first_line_of_a_test_is_cleared(checkout: Checkout) -> None:
    """tests/conftest.py clears the rest."""
    checkout.call("x")
    (checkout.root / ".venv" / "bin" / "pytest").write_text("#!/bin/sh\nenv\numask\n")
    hostile = {"PYTHONPATH": "/x", "PYTHONWARNINGS": "error", "PYTEST_ADDOPTS": "--nope", "COLUMNS": "7", "LANG": "C"}
    hostile |= {"MYPYPATH": "/x", "RUFF_CONFIG": "/x", "LC_NUMERIC": "de_DE.UTF-8"}
    before = os.umask(0o077)
    try:
        status, out, errors = checkout.call("test", **hostile)
    finally:
        os.umask(before)
    assert status == 0, errors
    lines = out.split()
    assert not {line.partition("=")[0] for line in lines} & hostile.keys()
    assert "LC_ALL=C.UTF-8" in lines and lines[-1] == "0022"


def test_without_a_fitting_python_it_says_so(checkout: Checkout, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for tool in ("sh", "cksum", "dirname", "readlink", "cat"):
        (bare / tool).symlink_to(shutil.which(tool) or "")
    old = bare / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    status, out, errors = checkout.call("x", path=str(bare))
    assert (status, out) == (3, "")
    assert errors.startswith("memento: needs Python 3.11 or 3.12 and found neither")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("shell", ["dash", "bash", "busybox", "zsh", "ksh"])
def test_shells_understand_it(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"no {shell} on this machine")
    options = [program, "sh", "-n"] if shell == "busybox" else [program, "-n"]
    subprocess.run([*options, ROOT / "memento"], check=True, timeout=20)


def test_both_programs_are_executable() -> None:
    assert os.access(ROOT / "memento", os.X_OK)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
