"""Trajectories on disk: safe names, exact arrays, never half a file."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.core.errors import StoreError
from memento.core.recording import Recording
from memento.runtime.trajectories import load_recording, save_recording, trajectory_key, trajectory_path

ORDERS = st.lists(st.text(st.sampled_from("ab1_./\\- é\0"), min_size=0, max_size=4), max_size=4).map("/".join)


def recording() -> Recording:
    return Recording(
        states={"x": np.arange(12.0).reshape(4, 3), "on": np.array([True, False, True, False])},
        actions={"name": np.array(["go", "stay", "pick up"]), "n": np.arange(3, dtype=np.int32)},
        constants={"goal": np.array(1.5)}, info={"scene": "FloorPlan1", "mass": [1.0, 2.0]},
    )


def test_a_recording_comes_back_as_it_was(tmp_path):
    save_recording(tmp_path / "a.npz", recording())
    back = load_recording(tmp_path / "a.npz")
    assert back.info == recording().info and back.steps == 3
    for group in ("states", "actions", "constants"):
        ours, theirs = getattr(recording(), group), getattr(back, group)
        assert list(ours) == list(theirs)
        for name in ours:
            assert ours[name].dtype == theirs[name].dtype and np.array_equal(ours[name], theirs[name])
    with np.load(tmp_path / "a.npz", allow_pickle=False) as plain:  # readable without this project
        assert np.array_equal(plain["states/x"], recording().states["x"])


def test_objects_are_refused_and_leave_no_file(tmp_path):
    odd = Recording(states={"x": np.array([object(), None])}, actions={})
    with pytest.raises(TypeError, match="dtype object"):
        save_recording(tmp_path / "a.npz", odd)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [None, b"", b"PK\3\4 nonsense", b"x" * 1000])
def test_a_missing_or_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "t0_e3.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(StoreError, match=r"t0_e3\.npz"):
        load_recording(path)


def test_a_truncated_file_is_named(tmp_path):
    path = tmp_path / "a.npz"
    save_recording(path, recording())
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(StoreError):
        load_recording(path)


def test_keys_read_as_the_order_does():
    assert trajectory_key("g1/macro/3/e2") == "g1_macro_3_e2"
    assert trajectory_key("t0/e3") == "t0_e3"


@given(ORDERS, ORDERS)
def test_keys_are_safe_file_names_and_distinct(one, other):
    for order in (one, other):
        key = trajectory_key(order)
        assert re.fullmatch(r"[A-Za-z0-9_.-]{1,120}", key) and not key.startswith(".")
    assert (trajectory_key(one) == trajectory_key(other)) == (one == other)


@pytest.mark.parametrize("key", ["../x", "a/b", "", ".hidden", "a\0b", "/etc/passwd"])
def test_a_key_that_is_a_path_is_refused(tmp_path, key):
    with pytest.raises(StoreError):
        trajectory_path(tmp_path, key)
