"""Environments of another Python: workers and helpers run under it, and it needs numpy and gymnasium only."""

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.core.ports import RollTask, interpreter_of
from memento.core.provenance import GIVEN, UNKNOWN
from memento.core.values import Program
from memento.domains import import_string, load
from memento.runtime.rollouts.pool import ProcessPool

NEEDED = ("numpy", "numpy.libs", "gymnasium", "cloudpickle", "farama_notifications", "typing_extensions.py")
TASK = "gym:other_suite:Other-v0"
SUITE = """
import sys
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

try:
    import structlog
except ImportError:
    pass
else:
    raise RuntimeError("this is the Python of MEMENTO")


class Other(CartPoleEnv):
    '''A pole on a cart.'''


gymnasium.register("Other-v0", entry_point=Other, max_episode_steps=50)
"""
POLICY = Program("""
class Policy:
    def reset(self):
        pass

    def compute_action(self, obs):
        return 1
""")


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with numpy, gymnasium, and a suite of environments that MEMENTO does not have."""
    folder = tmp_path_factory.mktemp("other")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=120)
    library = folder / "library"
    library.mkdir()
    installed = Path(str(importlib.util.find_spec("numpy").origin)).parents[1]
    for name in NEEDED:
        if (installed / name).exists():
            (library / name).symlink_to(installed / name)
    (library / "other_suite.py").write_text(SUITE)
    (packages,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (packages / "library.pth").write_text(f"{library}\n")
    return folder / "venv" / "bin" / "python"


@pytest.mark.slow
def test_a_policy_is_rolled_out_and_scored_under_the_other_python(other: Path, tmp_path: Path) -> None:
    domain = load(TASK, GIVEN)
    with pytest.raises(UsageError, match="there is no module 'other_suite'"):
        domain.options({}, preset="smoke")
    options = domain.options({"python": str(other)}, preset="smoke")
    assert options == domain.options(options, preset="paper")
    assert interpreter_of(domain, options, GIVEN) == str(other)
    with pytest.raises(UsageError, match=r"start the program .*--trust"):
        interpreter_of(domain, options, UNKNOWN)
    assert domain.programs(options) == (str(other),), "a run from elsewhere asks before it starts it"
    evaluator = domain.reference_evaluator()

    async def rolled() -> tuple:
        async with ProcessPool(
            domain=import_string(TASK), splits={"search": options}, workers=1, trajectories=tmp_path,
            python=interpreter_of(domain, options, GIVEN),
        ) as pool:
            episode = await pool.roll(RollTask(order="a", program=POLICY, split="search", index=0, seed=3))
            return episode, await pool.score(evaluator, episode)

    episode, score = asyncio.run(rolled())
    assert episode.fault is None
    assert (episode.ended_by, 5 < episode.steps < 20) == ("terminated", True)
    assert score.fault is None and score.metrics["return"] == episode.steps


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("no/such/python", "gym.python cannot be 'no/such/python'"),
        ("/bin/true", "is gym.python a Python"),
        ("/bin/false", "could not be looked at"),
    ],
)
def test_what_is_no_python_is_refused_in_one_sentence(path: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load("gym:CartPole-v1", GIVEN).options({"python": path}, preset="smoke")


def test_an_older_python_says_so(tmp_path: Path) -> None:
    old = tmp_path / "python3.9"
    # As -u -c CODE ARGUMENTS of an older Python: the same code meets an older version.
    old.write_text(f"#!{sys.executable}\nimport sys\nsys.version_info = (3, 9, 18)\ncode = sys.argv[3]\n"
                   "sys.argv[:] = ['-c', *sys.argv[4:]]\nexec(code)\n")
    old.chmod(0o755)
    with pytest.raises(UsageError, match=r"is Python 3\.9: it must be 3\.11 or newer"):
        load("gym:CartPole-v1", GIVEN).options({"python": str(old)}, preset="smoke")
