"""robosuite's own tasks, "robosuite:TASK": state observations, OSC pose control at 20 Hz, robosuite's own success.

    domain       the domain interface of robosuite's tasks
    environment  A robosuite task as a trusted worker steps it
    evaluator    the reference evaluator as a program: loaded as text, run in a sandbox
    options      the options of robosuite's tasks: horizon, physics, goal update, sensor noise
    render       pictures of a recorded episode of a robosuite task: its recorded joint positions, drawn off screen
    scenes       robosuite's environments, made lean: no renderer, cameras or observables, little memory
    steps        control steps of a robosuite task: the shared compiled loop, or robosuite's own step
    story        the story of an episode for those who write policies: phases of the hands, objects, heights
    tasks        robosuite's tasks as data: robots, observed fields, horizon, texts
"""

from typing import cast

from ...core.errors import no_such
from ...core.ports import Domain
from .domain import RobosuiteDomain
from .tasks import TASKS


def named(name: str) -> Domain:
    """The domain of robosuite's task `name`. Raises UsageError with the nearest names."""
    if name not in TASKS:
        raise no_such("robosuite task", name, TASKS, cutoff=0.4)
    return cast(Domain, RobosuiteDomain(task_name=name))


def titles() -> dict[str, str]:
    """The tasks to list, with their titles."""
    return {name: f"{task.title} (robosuite)" for name, task in TASKS.items()}


def __getattr__(name: str) -> Domain:
    if name in TASKS:
        return named(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
