"""Each layer alone: the filter's verdict on every call, the report of a missing layer, what fails closed."""

import errno
import json
import os
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.app import isolation
from memento.app.results import EvaluateResult
from memento.cli import exit_code
from memento.cli.result_text import describe_evaluation
from memento.runtime.rollouts import sandbox
from memento.runtime.rollouts.sandbox import landlock, probing, seccomp
from memento.tui.lines import isolation as told
from memento.tui.words import GUARDS

pytestmark = pytest.mark.quick

linux = pytest.mark.skipif(sys.platform != "linux", reason="the layers are Linux's")
x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the filter is written for x86-64")

X86_64, I386, ARM64 = 0xC000003E, 0x40000003, 0xC00000B7
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
CODE = list(struct.iter_unpack("<HBBI", seccomp.filter_program()))


def verdict(number: int, *arguments: int, machine: int = X86_64) -> int:
    """The kernel's verdict on a call: the filter run as the kernel runs it."""
    data = struct.pack("<IIQ6Q", number, machine, 0, *arguments, *[0] * (6 - len(arguments)))
    place = accumulator = 0
    while True:
        operation, if_true, if_false, value = CODE[place]
        place += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif operation == 0x54:
            accumulator &= value
        elif operation in (0x15, 0x35):
            holds = accumulator == value if operation == 0x15 else accumulator >= value
            place += if_true if holds else if_false
        else:
            assert operation == 0x06
            return value


words = st.integers(0, 2**64 - 1)


@given(st.integers(0, 2**32 - 1), st.sampled_from([I386, ARM64]), words)
def test_every_call_of_a_foreign_machine_kills(number, machine, argument) -> None:
    assert verdict(number, argument, machine=machine) == KILL


@given(st.integers(0x40000000, 2**32 - 1))
def test_every_call_of_x32_kills(number) -> None:
    assert verdict(number) == KILL


@pytest.mark.slow
@given(st.lists(words, min_size=6, max_size=6))
def test_what_is_not_on_the_list_is_refused_whatever_its_arguments(arguments) -> None:
    listed = {*seccomp.ALLOWED.values(), *(number for _, number in (*seccomp.CONDITIONAL, *seccomp.REFUSED))}
    assert {verdict(number, *arguments) for number in range(1024) if number not in listed} == {ERRNO | errno.EPERM}
    assert {verdict(number, *arguments) for number in seccomp.ALLOWED.values()} == {ALLOW}
    assert verdict(16, *arguments) == ERRNO | errno.ENOTTY
    assert verdict(435, *arguments) == ERRNO | errno.ENOSYS


@given(words)
def test_files_open_to_be_read_alone(flags) -> None:
    harmless = os.O_NONBLOCK | os.O_CLOEXEC | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NOCTTY | 0o100000
    wanted = ALLOW if (flags & 0xFFFFFFFF) & ~harmless == 0 else ERRNO | errno.EPERM
    assert verdict(257, 2**64 - 100, 12345, flags) == wanted
    assert verdict(2, 12345, flags) == wanted


WRITING = [os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, os.O_APPEND, 0o10000000, 0o20200000]  # O_PATH, O_TMPFILE


@pytest.mark.parametrize("flags", WRITING)
def test_no_way_of_writing_is_left(flags) -> None:
    assert verdict(257, 0, 0, flags) == ERRNO | errno.EPERM


@given(words, words, words)
def test_a_channel_sends_to_nobody_else(flags, address, command) -> None:
    quiet = ALLOW if (flags & 0xFFFFFFFF, address) == (0, 0) else ERRNO | errno.EPERM
    assert verdict(44, 3, 0, 8, flags, address, 0) == quiet
    assert verdict(45, 3, 0, 8, flags, address, 0) == quiet
    own = ALLOW if (address & 0xFFFFFFFF, command) == (0, 0) else ERRNO | errno.EPERM
    assert verdict(302, address, 0, command, 0) == own


@given(st.integers(0, 2000))
def test_fcntl_moves_descriptors_and_nothing_else(command) -> None:
    assert verdict(72, 3, command, 1) == (ALLOW if command in (0, 1, 2, 3, 1030) else ERRNO | errno.EPERM)


@given(words)
def test_clocks_are_those_of_the_machine_and_of_the_program(clock) -> None:
    wanted = ALLOW if (clock & 0xFFFFFFFF) < 12 else ERRNO | errno.EPERM
    assert verdict(228, clock, 4096) == verdict(229, clock, 4096) == wanted


def test_the_filter_fits_the_kernel() -> None:
    assert len(CODE) <= 4096 and all(code[0] in (0x20, 0x54, 0x15, 0x35, 0x06) for code in CODE)
    assert len(set(seccomp.ALLOWED.values())) == len(seccomp.ALLOWED)


# ------------------------------------------------------------------------------------------ missing layers


def test_the_layers_that_a_run_warns_of_are_layers() -> None:
    assert set(GUARDS) == set(isolation.ISOLATING) <= set(probing.NAMES)


@linux
def test_layers_are_the_same_for_an_ordinary_user() -> None:
    if os.getuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    script = (
        "import os\nfrom memento.runtime.rollouts.sandbox import kernel, trials\n"
        "os.setgroups([])\nos.setgid(65534)\nos.setuid(65534)\n"
        "kernel.prctl(kernel.PR_SET_DUMPABLE, 1)\n"     # as a process has it that was started as this user
        "trials.main()\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=150).stdout
    assert {name: live for name, (live, _) in json.loads(out).items()} == {
        name: layer.live for name, layer in sandbox.layers().items()
    }


def test_where_trying_fails_nothing_is_called_live(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho no such luck >&2\nexit 3\n")
    broken.chmod(0o700)
    monkeypatch.setattr(probing.sys, "executable", str(broken))
    found = probing.layers.__wrapped__()
    assert list(found) == list(probing.NAMES)
    assert not any(layer.live for layer in found.values())
    assert "no such luck" in found["seccomp"].found


@linux
def test_another_machine_has_no_filter_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    uname = os.uname()
    other = os.uname_result((uname.sysname, uname.nodename, uname.release, uname.version, "aarch64"))
    monkeypatch.setattr(os, "uname", lambda: other)
    assert "aarch64" in seccomp.why_missing()
    assert sandbox.prepare([]).filter is None


@linux
@pytest.mark.parametrize(("error", "words"), [
    (errno.ENOSYS, "older than 5.13"), (errno.EOPNOTSUPP, "lsm="), (errno.EPERM, "container"),
])
def test_a_kernel_without_landlock_says_why(monkeypatch: pytest.MonkeyPatch, error, words) -> None:
    def refuse(*_):
        raise OSError(error, "no")

    monkeypatch.setattr(landlock, "syscall", refuse)
    assert words in landlock.why_missing()
    assert landlock.abi() == 0
    assert sandbox.prepare([]).ruleset is None


def test_a_run_without_layers_says_so_loudly() -> None:
    words = told(("rlimits", "no_new_privs"))
    assert "NOT ISOLATED" in words and "files" in words and "network" in words
    assert "NOT ISOLATED" not in told(probing.NAMES)


def test_a_run_that_requires_the_sandbox_does_not_start_without_it(monkeypatch, capsys, tmp_path: Path) -> None:
    monkeypatch.setattr("memento.app.cluster.live_layers", lambda: ("rlimits", "landlock"))
    arguments = ["run", "hanoi-kinematic", "--preset", "smoke", "--require-sandbox", "--runs", str(tmp_path / "runs")]
    assert exit_code(arguments) == 2
    complaint = capsys.readouterr().err
    assert "--require-sandbox" in complaint and "seccomp missing" in complaint and "memento doctor" in complaint
    assert not (tmp_path / "runs").exists(), "refused before anything is made"


def test_a_result_without_isolation_says_so_as_loudly_as_the_start() -> None:
    result = EvaluateResult(
        policy="p.py", domain="toy", variant=None, randomisation=None, episodes=0, seed=0, success_rate=0.0,
        fitness=0.0, return_mean=None, steps_per_s=0.0, wall_s=0.0, salt="none", sandbox=("rlimits",), per_episode=(),
    )
    assert "NOT ISOLATED" in describe_evaluation(result)


HARDEN = """
import os, sys
from memento.runtime.rollouts import sandbox
bounds = sandbox.ResourceLimits(address_bytes=1 << 30, cpu_s=5, open_files=16)
prepared = sandbox.prepare([])
{change}
print(" ".join(sandbox.harden(prepared, bounds)), flush=True)
"""


def harden(change: str) -> "subprocess.CompletedProcess[str]":
    script = HARDEN.format(change=change)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=False)


@linux
@x86_64
def test_a_layer_that_cannot_be_put_on_stops_the_program() -> None:
    assert harden("").stdout.split() == list(probing.NAMES)
    broken = harden("os.close(prepared.ruleset)")
    assert (broken.stdout, broken.returncode) == ("", 1)
    assert "OSError" in broken.stderr


@linux
def test_a_machine_without_a_layer_goes_on_without_it() -> None:
    live = harden("prepared = sandbox.Prepared(ruleset=None, filter=None)").stdout.split()
    assert set(live) == set(probing.NAMES) - {"landlock", "seccomp"}


@linux
def test_a_program_dies_first_and_has_no_capability_to_regain() -> None:
    change = "prepared = sandbox.Prepared(ruleset=None, filter=None)"
    looks = "print(open('/proc/self/oom_score_adj').read(), open('/proc/self/status').read())"
    script = HARDEN.format(change=change) + looks
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=150, check=True).stdout
    assert out.splitlines()[1] == "1000"
    status = dict(line.split(":", 1) for line in out.splitlines() if ":" in line)
    for kept in ("CapInh", "CapPrm", "CapEff", "CapAmb", *(["CapBnd"] if os.getuid() == 0 else [])):
        assert int(status[kept], 16) == 0, kept


@linux
def test_the_ruleset_is_out_of_the_way_of_a_fork() -> None:
    if not landlock.abi():
        pytest.skip("no Landlock here")
    ruleset = landlock.make_ruleset([Path(os.__file__)])
    try:
        assert ruleset > 3 and not os.get_inheritable(ruleset)
    finally:
        os.close(ruleset)
