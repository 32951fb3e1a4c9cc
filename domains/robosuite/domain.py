"""The domain interface of robosuite's tasks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

from ...core.ports import AuditProgram, Environment, Renderer, Shelf
from ...core.values import JSON, Brief, Contract, Program
from ..arm.motion import CONTROL_PERIOD_S
from . import options as task_options
from .brief import brief
from .tasks import TASKS

TUNED: Final = 60  # episodes of a tuning: a grasp needs numbers that fit one another, and an episode takes a second


@dataclass(frozen=True, slots=True, kw_only=True)
class RobosuiteDomain:
    """Implements `core.ports.Domain` for one task."""

    task_name: str
    name: str = task_options.NAME
    contract: Contract = Contract(class_name="FrankaPolicy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract: Contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    @property
    def title(self) -> str:
        """One line for lists."""
        return f"{TASKS[self.task_name].title} (robosuite {self.task_name})"

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options, completed from the preset's defaults. Raises UsageError."""
        return task_options.complete(TASKS[self.task_name], given, preset=preset)

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts under these (completed) options."""
        task = TASKS[self.task_name]
        return brief(task, task_options.settings(task, options))

    def control_period_ms(self, options: Mapping[str, JSON]) -> float:
        """The duration of a control step: see `core.ports.Periodic`."""
        return 1000 * CONTROL_PERIOD_S

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        from .environment import RobosuiteEnvironment

        return RobosuiteEnvironment(self.task_name, options)

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import RobosuiteRenderer

        return RobosuiteRenderer(task_name=self.task_name)

    def reference_evaluator(self) -> Program:
        """robosuite's staged reward over the episode, with metrics."""
        text = files(__package__) / "evaluators" / "reference.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """The parts of the offline model; None for tasks without a shelf, which need a language model."""
        from .shelf import shelf

        return shelf(self.task_name)

    def tuning_episodes(self, options: Mapping[str, JSON]) -> int:
        """How far an offline search tunes constants by default: see `core.ports.Numeric`."""
        return 0 if self.shelf() is None else TUNED

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`."""
        from ..plain_audit import vector_programs

        size = TASKS[self.task_name].action_size
        return vector_programs(self.contract.class_name, idle=[0.0] * size, low=[-1.0] * size, high=[1.0] * size)
