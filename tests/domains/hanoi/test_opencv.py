"""robosuite is imported without OpenCV, which it needs only for a window that MEMENTO never opens."""

import sys

import pytest
from memento.domains.arm.simulator import AbsentOpenCV, import_opencv


def test_an_opencv_that_cannot_be_loaded_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "cv2.py").write_text("raise ImportError('libGL.so.1: cannot open shared object file')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cv2", raising=False)
    found = import_opencv()
    monkeypatch.setitem(sys.modules, "cv2", found)      # so that it is removed after the test
    assert isinstance(found, AbsentOpenCV)
    with pytest.raises(ImportError, match=r"cv2\.imshow is not available: libGL"):
        found.imshow("window", None)


def test_an_opencv_that_works_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "cv2.py").write_text("imshow = len\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "cv2", raising=False)
    found = import_opencv()
    monkeypatch.setitem(sys.modules, "cv2", found)
    assert found.imshow is len
