"""The ids of Gymnasium environments, and the packages that register them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

from ...core.errors import UsageError
from ...core.extras import install_command, pip_command, shadow_words
from ...core.values import JSON, TaskKind

# How an episode begins:
KEPT: Final = "kept"                # one environment for all episodes: `reset(seed=…)` repeats an episode
FRESH: Final = "fresh"              # a new environment for each episode
SEEDED: Final = "fresh-seeded"      # a new environment for each episode, made with `seed=…`
MODES: Final = (KEPT, FRESH, SEEDED)
# An optional module to import first, an optional namespace, and a name, mostly with a version.
_ID: Final = re.compile(r"(?:(?P<module>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):)?(?P<id>(?:[\w-]+/)?[\w.-]+)")


NAMESPACES: Final = {"ALE": "ale_py", "dm_control": "shimmy", "PyFlyt": "PyFlyt.gym_envs"}    # another module has them
# Packages whose name on PyPI is not that of their module.
PACKAGES: Final = {
    "cv2": "opencv-python-headless", "PIL": "pillow", "yaml": "pyyaml", "sklearn": "scikit-learn",
    "skimage": "scikit-image", "Box2D": "box2d", "OpenGL": "PyOpenGL", "serial": "pyserial", "zmq": "pyzmq",
    "attr": "attrs", "dateutil": "python-dateutil", "sumolib": "sumolib", "mujoco_py": "mujoco-py",
    "google": "protobuf", "Xlib": "python-xlib", "usb": "pyusb", "dm_control": "dm-control", "fcl": "python-fcl",
    "shimmy": "shimmy[dm-control]",
}


def package_of(module: str) -> str:
    """The name on PyPI of the package that, as far as is known, has this module."""
    top = module.partition(".")[0]
    return PACKAGES.get(top, top.replace("_", "-"))


def missing_module(name: str, error: ModuleNotFoundError) -> str:
    """The sentence for a module that an environment needs and that is not installed."""
    module = error.name or str(error)
    return (f"{name} cannot be made: it needs the module {module!r}, which is not installed: "
            f"{pip_command(package_of(module))}{shadow_words(error)}")


@dataclass(frozen=True, slots=True)
class EnvironmentId:
    """An id in its parts: `module` is imported before `id` is looked up; "" for none."""

    module: str
    id: str

    @property
    def name(self) -> str:
        """As a user writes it, with the prefix of the domain."""
        return f"gym:{self.module}:{self.id}" if self.module else f"gym:{self.id}"

    @property
    def namespace_module(self) -> str:
        """The module that the id's namespace names, as in "gym_pusht/PushT-v0"; "" if it can be none."""
        namespace, slash, _ = self.id.partition("/")
        module = NAMESPACES.get(namespace, namespace.replace("-", "_"))
        return module if slash and all(map(str.isidentifier, module.split("."))) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A package that registers environments when it is imported.

    `pattern` matches the beginning of its ids. `modes` are the ways an episode may begin, the first that repeats it
    is taken; `arguments` are those of an id unless others are given. `kind` is that of all its tasks, if they have one.
    `success_return` is a return that only success gives, and `best_return` the most that it can give, where the package
    registers none.
    """

    package: str
    install: str
    pattern: str
    modes: tuple[str, ...] = MODES
    arguments: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    kind: TaskKind | None = None
    success_return: float | None = None
    best_return: float | None = None


SUITES: Final = (
    Suite(
        package="gymnasium_robotics", install="gymnasium-robotics",
        pattern=r"Fetch|Hand|Adroit|FrankaKitchen", kind="arm",
    ),
    Suite(
        package="gymnasium_robotics", install="gymnasium-robotics", pattern=r"PointMaze|AntMaze|Mamujoco",
    ),
    Suite(
        package="metaworld", install="metaworld==3.0.0", pattern=r"Meta-World/", kind="arm",
        # A task is drawn when an environment is made: by default 50, of which `reset` takes one. A new environment with
        # one task draws it from the same distribution in a tenth of the time.
        modes=(SEEDED,), arguments={"Meta-World/MT1": {"num_goals": 1}},
    ),
    Suite(
        package="minigrid", install="minigrid", pattern=r"MiniGrid-|BabyAI-", kind="grid",
        # The only positive reward is that of success: 1 less 0.9 of the share of the steps that were needed.
        success_return=0.05, best_return=1.0,
    ),
    Suite(
        package="highway_env", install="highway-env",
        pattern=r"highway-|parking-|roundabout-|merge-|intersection-|racetrack|exit-|lane-keeping-|two-way-|u-turn-",
        kind="control",
    ),
)


def parse_id(text: str) -> EnvironmentId:
    """The parts of an id such as "my_package:MyEnv-v0". Raises UsageError."""
    found = _ID.fullmatch(text)
    if found is None:
        raise UsageError(
            f"gym:{text} is not an environment: write gym:ID, such as gym:CartPole-v1, or gym:package.module:ID for "
            "an environment that a module registers when it is imported"
        )
    return EnvironmentId(found["module"] or "", found["id"])


def suite_of(identity: EnvironmentId) -> Suite | None:
    """The known package that registers this id; None for Gymnasium's own and for ids that name a module."""
    if identity.module:
        return None
    return next((suite for suite in SUITES if re.match(suite.pattern, identity.id)), None)


def modes_of(identity: EnvironmentId) -> tuple[str, ...]:
    """The ways an episode of this id may begin, in the order in which they are tried."""
    suite = suite_of(identity)
    return MODES if suite is None else suite.modes


def arguments_of(identity: EnvironmentId) -> Mapping[str, JSON]:
    """The keyword arguments that an environment of this id gets unless others are given."""
    suite = suite_of(identity)
    return {} if suite is None else suite.arguments.get(identity.id, {})


def notes_of(identity: EnvironmentId) -> str:
    """What the notes say of an environment: the one on its suite, then the one on its family.

    They are the texts notes/SUITE.md and notes/BEGINNING.md, the longest that is a beginning of the name. Environments
    of a module that the id names have notes/MODULE.md alone.
    """
    suite = suite_of(identity)
    known = {each.name.removesuffix(".md"): each for each in (files(__package__) / "notes").iterdir()}
    family = max((name for name in known if identity.id.startswith(name)), key=len, default="")
    wanted = dict.fromkeys([identity.module or (suite.package if suite is not None else ""),
                            "" if identity.module else family])
    return "\n\n".join(known[name].read_text(encoding="utf-8").strip() for name in wanted if name in known)


def missing_suite(identity: EnvironmentId, suite: Suite) -> str:
    """The sentence for an environment whose package is not installed."""
    return (
        f"gym:{identity.id} needs the package {suite.install!r}, which is not installed: {install_command('suites')}"
        f" installs all suites, pip install {suite.install!r} this one"
    )
