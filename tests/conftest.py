"""For every test."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings

from .support import quick
from .support.nightly import is_sampled
from .support.processes import end_started
from .support.progress import Progress
from .support.surroundings import clear_surroundings, empty_working_folder, remove_home

# Before numpy is imported, which the modules above must not do.
clear_surroundings()

# Machines are slow at times. How long one example takes says nothing about it. No examples of earlier sessions.
settings.register_profile("memento", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memento")

# A script's background job ignores SIGINT, one of nohup SIGHUP, and so would all that the tests start and stop.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def _nowhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("nowhere")
    with empty_working_folder(folder):
        yield folder


@pytest.fixture(autouse=True)
def _nothing_is_left_in_the_working_folder(_nowhere: Path) -> Iterator[None]:
    """Relative paths of a test lead nowhere, not into the checkout, and it writes to none of them."""
    yield
    left = list(_nowhere.iterdir())
    for path in left:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert not left, f"the test wrote {[path.name for path in left]} to where it was started"


@pytest.fixture(autouse=True)
def _no_test_configures_the_log_of_the_next() -> Iterator[None]:
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _processes_end_with_their_test() -> Iterator[None]:
    yield
    end_started()


def pytest_addoption(parser: pytest.Parser) -> None:
    quick.add_options(parser)
    parser.addoption("--nightly", action="store_true", help="run every nightly test, not only a sample of them")
    parser.addoption("--progress", action="store_true", help="show a line on how far the tests are, instead of dots")


class _PlainRoot:
    """The checkout is the package `memento` itself; for pytest it is a folder, which may have any name."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        return pytest.Dir.from_parent(parent, path=path) if path == parent.config.rootpath else None


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_PlainRoot(), "memento-root")
    if config.getoption("--progress") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config), "memento-progress")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        remove_home()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return True if collection_path.suffix == ".py" and quick.is_left_out(collection_path, config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the nightly tests, which repeat others with other values, keep a sample that changes with every commit."""
    kept = [item for item in items if quick.is_asked_for(item, config)]
    if not config.getoption("--nightly"):
        sample = [item for item in kept if is_sampled(item)]
        kept = sample or kept       # a test that was asked for alone runs
    gone = {id(item) for item in items} - {id(item) for item in kept}
    if gone:
        config.hook.pytest_deselected(items=[item for item in items if id(item) in gone])
        items[:] = kept
