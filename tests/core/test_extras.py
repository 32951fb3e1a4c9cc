"""A missing optional package is one sentence with the command that installs it."""

import pytest
from memento.core import extras
from memento.core.errors import UsageError

ABSENT = extras.Extra(gives="a test", modules=("json", "no_such_module_here"))


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "EXTRAS", {"x": ABSENT})
    with pytest.raises(UsageError, match=r"films needs no_such_module_here, which is not installed: .*x"):
        extras.require("x", "films")
    assert extras.missing_modules("x") == ("no_such_module_here",)


def test_without_a_lock_file_the_command_is_pips(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(extras, "_ROOT", tmp_path)
    assert extras.install_command("video") == "pip install 'memento-evolve[video]'"


def test_only_missing_packages_of_extras_are_explained() -> None:
    known = extras.explain(ModuleNotFoundError("…", name="scipy.stats"))
    assert known is not None and "needs scipy" in str(known)
    assert extras.explain(ModuleNotFoundError("…", name="memento.no_such")) is None
    assert extras.explain(ImportError("libGL.so.1", name="cv2")) is None


def test_a_misspelt_extra_is_our_mistake() -> None:
    with pytest.raises(UsageError, match="robosuite"):
        extras.require("robosuit", "it")
