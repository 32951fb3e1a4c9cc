"""The domain interface of a Gymnasium environment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ...core.invariances import Change, rounded_otherwise
from ...core.order_ids import CONDITIONS
from ...core.ports import AuditProgram, Environment, Renderer, Shelf
from ...core.values import JSON, Brief, Contract, Program
from .brief import brief
from .names import parse_id
from .options import NONE, complete, require_changeable, require_same_simulator, settings


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
        return brief(settings(options))

    def conditions(self, options: Mapping[str, JSON]) -> dict[str, dict[str, JSON]]:
        """The levels of `gym.perturb`: see `core.ports.Varying`. Raises UsageError."""
        require_changeable(settings(options).description, "robust = 'on' measures under changed physics", "remove it")
        return {name: {**options, "perturb": name} for name in CONDITIONS}

    def control_period_ms(self, options: Mapping[str, JSON]) -> float | None:
        """The duration of a step, where the environment knows it: see `core.ports.Periodic`."""
        step_s = settings(options).description.step_s
        return None if step_s is None else 1000 * step_s

    def invariances(self, options: Mapping[str, JSON]) -> Mapping[str, Change]:
        """Rounding alone: a return adds up over the steps, so that waiting may change it."""
        return {"rounded otherwise": rounded_otherwise}

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        from .environment import GymEnvironment

        return GymEnvironment(settings(options))

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import GymRenderer

        return GymRenderer(settings=settings(options))

    def interpreter(self, options: Mapping[str, JSON]) -> str | None:
        """The Python that has the environment, if it is another one: see `core.ports.Interpreted`."""
        python = options.get("python")
        return None if python is None else str(python)

    def programs(self, options: Mapping[str, JSON]) -> tuple[str, ...]:
        """That Python, which a run from elsewhere would start: see `core.ports.Starting`."""
        python = self.interpreter(options)
        return () if python is None else (python,)

    def require_same_simulator(self, options: Mapping[str, JSON]) -> None:
        """Raises UsageError if the packages of the environment are others than when the run looked at it."""
        if self.interpreter(options) is None:
            require_same_simulator(settings(options).description)

    def is_compared(self, options: Mapping[str, JSON]) -> bool:
        """Whether the look found episodes repeatable, as rollouts verify: see `core.ports.Looked`."""
        return settings(options).description.repeatable

    def has_success(self, options: Mapping[str, JSON]) -> bool:
        """Whether the environment reports success, or a return counts as one: see `core.ports.Succeeding`."""
        return options["success"] != NONE

    def reference_evaluator(self) -> Program:
        """The return, mapped to (0, 1)."""
        text = files(__package__) / "evaluator.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """None: the parts depend on the spaces; `shelf_for` has them."""
        return None

    def shelf_for(self, options: Mapping[str, JSON]) -> Shelf:
        """The parts for the offline model that fit the environment's spaces: see `core.ports.Furnishing`."""
        from .shelf import shelf

        return shelf(settings(options).described_by_user)

    def tuning_episodes(self, options: Mapping[str, JSON]) -> int:
        """How far an offline search tunes constants by default: see `core.ports.Numeric`."""
        from .shelf import tuning_episodes

        return tuning_episodes(settings(options).described_by_user)

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`."""
        from ..plain_audit import vector_programs
        from .actions import ActionReader

        reader = ActionReader(settings(options).description.action)
        low, high = reader.bounds()
        return vector_programs(
            self.contract.class_name, idle=reader.idle().tolist(), low=low.tolist(), high=high.tolist(),
            whole=reader.whole.tolist(),
        )


def domain_of(environment_id: str) -> GymDomain:
    """The domain of this environment. Raises UsageError for a text that is no id."""
    parse_id(environment_id)
    return GymDomain(environment_id=environment_id)
