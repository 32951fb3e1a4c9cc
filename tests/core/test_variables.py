"""Which environment variables simulators get."""

from collections.abc import Iterator

import pytest
from memento.core import variables
from memento.core.errors import UsageError
from memento.core.variables import hint, pass_also, passed_variables


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(variables, "_also", set())
    yield


def test_simulators_get_their_own_variables_and_no_secret() -> None:
    """Reported for SUMO, CARLA and ROS, whose packages read where they are installed."""
    theirs = {
        "SUMO_HOME": "/usr/share/sumo", "CARLA_ROOT": "/somewhere/carla", "ROS_DISTRO": "humble",
        "GZ_SIM_RESOURCE_PATH": "/w",
        "XLA_FLAGS": "--xla_gpu=1", "MUJOCO_GL": "egl", "ROS_MASTER_URI": "http://robot:11311", "MJKEY_PATH": "/k.txt",
    }
    others = {
        "ROS_API_KEY": "k", "CARLA_TOKEN": "t", "GZ_PASSWORD": "p", "CUDA_BASE_URL": "http://service",
        "SUMO_DATABASE": "postgres://me:pw@host/db", "EDITOR": "vi", "DB_URL": "postgres://me:pw@host",
    }
    assert passed_variables({**theirs, **others}) == theirs


def test_further_variables_are_passed_by_name() -> None:
    given = {"MY_SIM": "/somewhere/sim", "OTHER_SIM": "x", "MEMENTO_ENV": "OTHER_SIM, MY_KEY", "MY_KEY": "k",
             "MY_DB": "https://me:pw@host"}
    assert passed_variables(given) == {"OTHER_SIM": "x"}
    pass_also(["MY_SIM", "MY_DB"])
    assert passed_variables(given) == {"MY_SIM": "/somewhere/sim", "OTHER_SIM": "x"}, "nor is a password in a value"


@pytest.mark.parametrize(("name", "said"), [
    ("OPENAI_API_KEY", "never passed"), ("A=b", "without values"), ("", "no name"),
])
def test_what_is_never_passed_is_refused(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        pass_also([name], origin="--env")


def test_an_error_that_names_a_variable_says_how_to_pass_it() -> None:
    given = {"MY_SIM_HOME": "/somewhere/sim", "SUMO_HOME": "/s", "MY_SIM_KEY": "k"}
    assert hint("KeyError: 'MY_SIM_HOME'", given).endswith("add --env MY_SIM_HOME)")
    assert hint("set SUMO_HOME and MY_SIM_KEY and NOT_THERE", given) == ""


@pytest.mark.parametrize("said", [
    "NoSuchDisplayException: Cannot connect to \"None\"",
    "ImportError: Unable to load EGL library, OpenGL platform library",
    "GLFWError: (65550) b'X11: The DISPLAY environment variable is missing'",
    "error: XDG_RUNTIME_DIR not set; No available video device",
    "OSError: libGL.so.1: cannot open shared object file",
    "RuntimeError: Failed to initialize OpenGL",
])
def test_a_missing_display_has_its_fix(said: str) -> None:
    found = hint(said, {})
    assert "MUJOCO_GL=egl" in found and "PYOPENGL_PLATFORM=egl" in found and "xvfb-run" in found
    assert hint("KeyError: 'display_name'", {}) == "" and hint("no display", {}) == ""
