"""Trajectories on disk: safe names, exact arrays, never half a file."""

import os
import re
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from memento.core.errors import StoreError
from memento.core.recording import Recording
from memento.core.recording_file import load_recording, save_recording, trajectory_key, trajectory_path

from ..support.memory_use import refusal_of
from ..support.processes import start_process
from ..support.strategies import PATIENT, any_text, json_values

pytestmark = pytest.mark.quick

NAMES = st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=8)
DTYPES = st.sampled_from([np.dtype(name) for name in ("f8", "f4", "i8", "u1", "?", "U5")])
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(max_dims=3, max_side=4))
GROUPS = st.dictionaries(NAMES, ARRAYS, max_size=3)
RECORDINGS = st.builds(
    Recording,
    states=st.dictionaries(NAMES, ARRAYS, min_size=1, max_size=3),
    actions=GROUPS,
    constants=GROUPS,
    info=st.dictionaries(any_text, json_values, max_size=3),
)
ORDERS = st.lists(st.text(st.sampled_from("ab1_./\\- é\0"), min_size=0, max_size=4), max_size=4).map("/".join)


def recording() -> Recording:
    return Recording(
        states={"x": np.arange(12.0).reshape(4, 3), "on": np.array([True, False, True, False])},
        actions={"name": np.array(["go", "stay", "pick up"]), "n": np.arange(3, dtype=np.int32)},
        constants={"goal": np.array(1.5)}, info={"scene": "FloorPlan1", "mass": [1.0, 2.0]},
    )


def same(one: Recording, two: Recording) -> bool:
    pairs = [(getattr(one, group), getattr(two, group)) for group in ("states", "actions", "constants")]
    return one.info == two.info and all(
        list(a) == list(b)
        and all(a[k].dtype == b[k].dtype and a[k].shape == b[k].shape and a[k].tobytes() == b[k].tobytes() for k in a)
        for a, b in pairs
    )


@settings(PATIENT, max_examples=60)
@given(made=RECORDINGS)
def test_a_recording_comes_back_bit_for_bit(tmp_path_factory, made):
    path = tmp_path_factory.mktemp("t") / "one.npz"
    save_recording(path, made)
    assert same(load_recording(path), made)
    assert [child.name for child in path.parent.iterdir()] == ["one.npz"]


def test_numpy_alone_reads_it(tmp_path):
    save_recording(tmp_path / "a.npz", recording())
    with np.load(tmp_path / "a.npz", allow_pickle=False) as plain:
        assert np.array_equal(plain["states/x"], recording().states["x"])


def test_what_cannot_be_written_leaves_what_was_there(tmp_path):
    save_recording(tmp_path / "a.npz", recording())
    with pytest.raises(TypeError, match="dtype object"):
        save_recording(tmp_path / "a.npz", Recording(states={"x": np.array([object(), None])}, actions={}))
    with pytest.raises(ValueError, match="not JSON compliant"):
        save_recording(tmp_path / "a.npz", Recording(states={"x": np.zeros(1)}, actions={}, info={"n": float("nan")}))
    assert same(load_recording(tmp_path / "a.npz"), recording())
    assert [child.name for child in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("content", [None, b"", b"PK\3\4 nonsense", b"x" * 1000])
def test_a_missing_or_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "t0_e3.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError, match=r"t0_e3\.npz"):
        load_recording(path)


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -50, -200])
def test_a_truncated_file_is_named(tmp_path, keep):
    path = tmp_path / "a.npz"
    save_recording(path, recording())
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StoreError, match=r"a\.npz cannot be read"):
        load_recording(path)


def test_a_changed_byte_is_told_or_harmless(tmp_path):
    save_recording(tmp_path / "a.npz", recording())
    whole = (tmp_path / "a.npz").read_bytes()
    for place in range(len(whole)):
        (tmp_path / "b.npz").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            back = load_recording(tmp_path / "b.npz")
        except StoreError:
            continue
        assert all(np.array_equal(back.states[name], array) for name, array in recording().states.items()
                   if name in back.states)


def test_a_pickle_is_never_loaded(tmp_path):
    np.savez(tmp_path / "evil.npz", **{"states/x": np.array([object()], dtype=object)})
    with zipfile.ZipFile(tmp_path / "evil.npz", "a") as archive:
        archive.writestr("info.json", "{}")
    with pytest.raises(StoreError, match="allow_pickle"):
        load_recording(tmp_path / "evil.npz")


def test_an_archive_without_states_is_no_recording(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("info.json", "{}")
    with pytest.raises(StoreError, match="no states"):
        load_recording(tmp_path / "a.npz")


def npy(descr: str, shape: str, data: bytes = b"") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


HOSTILE = {
    "a shape without end": npy("'<f8'", "(10**15,)".replace("10**15", "1000000000000000")),
    "a negative shape": npy("'<f8'", "(-1,)", bytes(8)),
    "two negative sides": npy("'<f8'", "(-2, -4)", bytes(64)),
    "no rows": npy("'<f8'", "()", bytes(8)),
    "rows of nothing": npy("'<f8'", "(1000000000, 0)"),
    "less data": npy("'<f8'", "(3,)", bytes(8)),
    "records": npy("[('a', '<f8')]", "(1,)", bytes(8)),
    "a text for a shape": npy("'<f8'", "'x'", bytes(8)),
    "a header that is nested deep": npy("(" * 3000 + ")" * 3000, "(1,)"),
    "a dtype that is none": npy("'<q99999999'", "(1,)", bytes(8)),
    "void": npy("'|V8'", "(1,)", bytes(8)),
    "no array": b"no array",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_array_is_one_sentence(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("info.json", "{}")
        archive.writestr("states/x.npy", HOSTILE[name])
    if name == "rows of nothing":       # no data, so no memory
        assert load_recording(tmp_path / "a.npz").states["x"].nbytes == 0
        return
    with pytest.raises(StoreError, match=r"a\.npz cannot be read: .") as caught:
        load_recording(tmp_path / "a.npz")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("info", ["[" * 100_000, '{"a":' * 100_000, "[]", "3", "nan", '"x"', "\xff"])
def test_hostile_info_is_one_sentence(tmp_path, info):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("info.json", info)
        archive.writestr("states/x.npy", npy("'<f8'", "(1,)", bytes(8)))
    with pytest.raises(StoreError, match=r"a\.npz cannot be read: ."):
        load_recording(tmp_path / "a.npz")


@pytest.mark.slow
@pytest.mark.parametrize("member", ["states/x.npy", "info.json"])
def test_a_file_that_unpacks_to_a_gigabyte_costs_no_memory(tmp_path, member):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        if member != "info.json":
            archive.writestr("info.json", "{}")
        with archive.open(member, "w", force_zip64=True) as stream:
            stream.write(npy("'|u1'", f"({2**30},)"))
            for _ in range(64):
                stream.write(bytes(2**24))
    kilobytes, sentence = refusal_of("memento.core.recording_file:load_recording", tmp_path / "a.npz")
    assert "would unpack to more than 512 MiB" in sentence
    assert kilobytes < 50_000


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    named = []
    flush = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (named.append((tmp_path / "a.npz").exists()), flush(number)))
    save_recording(tmp_path / "a.npz", recording())
    assert named == [False]


def test_a_killed_writer_leaves_all_or_nothing(tmp_path):
    code = (
        "import sys, numpy as np, pathlib\n"
        "from memento.core.recording import Recording\n"
        "from memento.core.recording_file import save_recording\n"
        "one = Recording(states={'x': np.ones(2_000_000)}, actions={})\n"
        "print('ready', flush=True)\n"
        "while True: save_recording(pathlib.Path(sys.argv[1]), one)\n"
    )
    path = tmp_path / "t.npz"
    for delay in (0.0, 0.05, 0.15):
        writer = start_process([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=20)
        assert not path.exists() or load_recording(path).states["x"].sum() == 2_000_000


def test_keys_read_as_the_order_does():
    assert trajectory_key("g1/macro/3/e2") == "g1_macro_3_e2"
    assert trajectory_key("t0/e3") == "t0_e3"


@given(ORDERS, ORDERS)
def test_keys_are_safe_file_names_and_distinct(one, other):
    for order in (one, other):
        key = trajectory_key(order)
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,120}", key) and not key.startswith(".")
    assert (trajectory_key(one) == trajectory_key(other)) == (one == other)


@pytest.mark.parametrize("key", ["../x", "a/../b", "a/b", "", ".hidden", "a\0b", "a b", "/etc/passwd"])
def test_a_key_that_is_a_path_is_refused(tmp_path, key):
    with pytest.raises(StoreError):
        trajectory_path(tmp_path, key)
