"""The domain interface of a Gymnasium environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from ...core.ports import Environment, Renderer, Shelf
from ...core.values import JSON, Brief, Contract, Program
from .names import parse_id
from .options import NONE, complete, settings


@dataclass(frozen=True, slots=True, kw_only=True)
class GymDomain:
    """Implements `core.ports.Domain` for the environment `environment_id`."""

    environment_id: str
    name: str = "gym"
    contract: Contract = Contract(class_name="Policy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract: Contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    @property
    def title(self) -> str:
        """One line for lists."""
        return f"Gymnasium's environment {self.environment_id}"

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options; the same for every preset. The first time a helper looks at the environment.

        Raises UsageError.
        """
        return complete(given, environment_id=self.environment_id)

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts under these (completed) options."""
        from .interface import brief

        return brief(settings(options))

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        from .environment import GymEnvironment

        return GymEnvironment(settings(options))

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import GymRenderer

        return GymRenderer(settings=settings(options))

    def has_success(self, options: Mapping[str, JSON]) -> bool:
        """Whether the environment reports success, or a return counts as one: see `core.ports.Succeeding`."""
        return options["success"] != NONE

    def reference_evaluator(self) -> Program:
        """The return, mapped to (0, 1)."""
        text = files(__package__) / "evaluators" / "reference.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """None: there are no parts for the offline model yet."""
        return None


def domain_of(environment_id: str) -> GymDomain:
    """The domain of this environment. Raises UsageError for a text that is no id."""
    parse_id(environment_id)
    return GymDomain(environment_id=environment_id)
