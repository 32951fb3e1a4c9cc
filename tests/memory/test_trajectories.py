import numpy as np
import pytest
from memento.app.retention import Trajectories
from memento.core.errors import StoreError
from memento.core.recording import Recording
from memento.core.recording_file import save_recording


def test_keys_sizes_delete(tmp_path):
    trajectories = Trajectories(tmp_path)
    assert list(trajectories.keys()) == []
    trajectories.folder.mkdir()
    for key in ("g1_macro_7_e3", "t0_e0", "g1_hill_0_e0"):
        save_recording(trajectories.path(key), Recording(states={"pos": np.zeros((4, 3))}, actions={}))
    (trajectories.folder / ".t0_e1.npz.7.partial").write_bytes(b"half")
    assert list(trajectories.keys()) == ["g1_hill_0_e0", "g1_macro_7_e3", "t0_e0"]
    assert trajectories.sizes()["t0_e0"] == (tmp_path / "trajectories" / "t0_e0.npz").stat().st_size
    assert trajectories.sizes(["absent"]) == {}
    trajectories.delete(["t0_e0", "absent"])
    assert list(trajectories.keys()) == ["g1_hill_0_e0", "g1_macro_7_e3"]


def test_a_disk_that_refuses_is_reported(tmp_path):
    trajectories = Trajectories(tmp_path)
    (trajectories.folder / "t.npz").mkdir(parents=True)
    with pytest.raises(StoreError, match="'t' cannot be deleted"):
        trajectories.delete(["t"])


def test_a_key_cannot_leave_the_folder(tmp_path):
    with pytest.raises(StoreError, match="is not a valid trajectory key"):
        Trajectories(tmp_path).delete(["../x"])
