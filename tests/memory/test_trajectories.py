import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from memento.core.errors import StoreError
from memento.core.recording import Recording
from memento.core.recording_file import read_recording, write_recording
from memento.memory.trajectories import Trajectories

from .strategies import PATIENT, any_text, json_values

names = st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=8)
dtypes = st.sampled_from([np.dtype(name) for name in ("f8", "f4", "i8", "u1", "?", "U5")])
arrays = hnp.arrays(dtypes, hnp.array_shapes(max_dims=3, max_side=4))
groups = st.dictionaries(names, arrays, max_size=3)
recordings = st.builds(
    Recording,
    states=st.dictionaries(names, arrays, min_size=1, max_size=3),
    actions=groups,
    constants=groups,
    info=st.dictionaries(any_text, json_values, max_size=3),
)


def same(one: Recording, two: Recording) -> bool:
    pairs = [(getattr(one, group), getattr(two, group)) for group in ("states", "actions", "constants")]
    return one.info == two.info and all(
        a.keys() == b.keys()
        and all(a[k].dtype == b[k].dtype and a[k].shape == b[k].shape and a[k].tobytes() == b[k].tobytes() for k in a)
        for a, b in pairs
    )


def small(value: float = 0.5) -> Recording:
    return Recording(states={"pos": np.full((4, 3), value)}, actions={"u": np.zeros((3, 7))}, info={"scene": "A"})


@settings(PATIENT, max_examples=60)
@given(recording=recordings)
def test_a_recording_comes_back_bit_for_bit(tmp_path_factory, recording):
    path = tmp_path_factory.mktemp("t") / "one.npz"
    write_recording(path, recording)
    assert same(read_recording(path), recording)
    assert [child.name for child in path.parent.iterdir()] == ["one.npz"]


def test_nothing_is_left_of_a_recording_that_cannot_be_written(tmp_path):
    write_recording(tmp_path / "a.npz", small())
    bad = [
        Recording(states={"o": np.array([object()])}, actions={}),
        Recording(states={"o": np.zeros(1)}, actions={}, info={"nan": float("nan")}),
    ]
    for recording in bad:
        with pytest.raises(ValueError, match=r"Python objects|not JSON compliant"):
            write_recording(tmp_path / "a.npz", recording)
    assert same(read_recording(tmp_path / "a.npz"), small())
    assert [child.name for child in tmp_path.iterdir()] == ["a.npz"]


@pytest.mark.parametrize("keep", [0, 1, 100, -1, -200])
def test_a_cut_off_recording_is_told(tmp_path, keep):
    trajectories = Trajectories(tmp_path)
    trajectories.save("t", small())
    path = trajectories.path("t")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(StoreError, match='the trajectory "t" cannot be read'):
        trajectories.load("t")


def test_a_flipped_byte_is_told(tmp_path):
    trajectories = Trajectories(tmp_path)
    trajectories.save("t", Recording(states={"pos": np.zeros((500, 3))}, actions={}))
    whole = bytearray(trajectories.path("t").read_bytes())
    whole[3000] ^= 1
    trajectories.path("t").write_bytes(whole)
    with pytest.raises(StoreError, match="cannot be read"):
        trajectories.load("t")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04\x95pickled", b"\x93NUMPY"])
def test_another_file_is_told(tmp_path, content):
    (tmp_path / "trajectories").mkdir()
    (tmp_path / "trajectories" / "t.npz").write_bytes(content)
    with pytest.raises(StoreError, match="cannot be read"):
        Trajectories(tmp_path).load("t")


def test_a_pickle_is_never_loaded(tmp_path):
    np.savez(tmp_path / "evil.npz", **{"states.x": np.array([object()], dtype=object), "info": np.zeros(1)})
    with pytest.raises(ValueError, match="allow_pickle"):
        read_recording(tmp_path / "evil.npz")


def test_an_archive_without_states_is_no_recording(tmp_path):
    np.savez(tmp_path / "a.npz", info=np.frombuffer(b"{}", dtype=np.uint8))
    with pytest.raises(ValueError, match="has no states"):
        read_recording(tmp_path / "a.npz")


def test_keys_sizes_delete(tmp_path):
    trajectories = Trajectories(tmp_path)
    assert list(trajectories.keys()) == []
    for key in ("g1/macro/7/e3", "t0_e0", "g1/hill/0/e0"):
        trajectories.save(key, small())
    assert list(trajectories.keys()) == ["g1/hill/0/e0", "g1/macro/7/e3", "t0_e0"]
    size = trajectories.sizes()["t0_e0"]
    assert size == (tmp_path / "trajectories" / "t0_e0.npz").stat().st_size
    assert trajectories.delete(["t0_e0", "absent"]) == size
    assert list(trajectories.keys()) == ["g1/hill/0/e0", "g1/macro/7/e3"]
    with pytest.raises(StoreError, match=r'"t0_e0" is not in .* dropped after its generation'):
        trajectories.load("t0_e0")


def test_what_a_killed_writer_leaves_is_no_recording(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from memento.core.recording import Recording\n"
        "from memento.core.recording_file import write_recording\n"
        "one = Recording(states={'x': np.ones(2_000_000)}, actions={})\n"
        "print('ready', flush=True)\n"
        "while True: write_recording(sys.argv[1] + '/trajectories/t.npz', one)\n"
    )
    for delay in (0.0, 0.03, 0.1):
        writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
        time.sleep(delay)
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=20)
        trajectories = Trajectories(tmp_path)
        assert list(trajectories.keys()) in ([], ["t"])
        if list(trajectories.keys()):
            assert trajectories.load("t").states["x"].sum() == 2_000_000


@pytest.mark.parametrize("key", ["", "../x", "a/../b", "/etc/passwd", "a//b", ".hidden", "a/", "a\0b", "a b"])
def test_a_key_cannot_leave_the_folder(tmp_path, key):
    with pytest.raises(StoreError, match="is no key"):
        Trajectories(tmp_path).load(key)
    with pytest.raises(StoreError, match="is no key"):
        Trajectories(tmp_path).save(key, small())
