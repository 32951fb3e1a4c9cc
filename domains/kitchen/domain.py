"""The domain interface of the kitchen task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ...core.ports import AuditProgram, Environment, Renderer, Shelf
from ...core.recording import Recording
from ...core.story import Story
from ...core.values import JSON, Brief, Contract, Program
from .interface import brief
from .options import complete, final_options, settings


@dataclass(frozen=True, slots=True, kw_only=True)
class KitchenDomain:
    """Implements `core.ports.Domain`."""

    name: str = "kitchen"
    title: str = "Household task in kitchens, seen through the agent's own camera (AI2-THOR)"
    contract: Contract = Contract(class_name="Policy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract: Contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options, completed from the preset's defaults. Raises UsageError."""
        return complete(given, preset=preset)

    def final_options(self, options: Mapping[str, JSON], *, seed: int | None) -> dict[str, JSON]:
        """The options of a run's final evaluation: kitchens that the search did not use."""
        return final_options(options, seed=seed)

    def programs(self, options: Mapping[str, JSON]) -> tuple[str, ...]:
        """The Unity build, if the options name one: see `core.ports.Starting`."""
        build = options.get("unity_build")
        return (str(build),) if build is not None else ()

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts under these (completed) options."""
        return brief(settings(options))

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        from .backends import environment

        return environment(settings(options))

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import renderer

        return renderer(options)

    def story(self, recording: Recording) -> Story:
        """The story of an episode: see `core.ports.Narrating`."""
        from .story import episode_story  # imports compiled loops

        return episode_story(recording)

    def reference_evaluator(self) -> Program:
        """The evaluator that the paper selected."""
        text = files(__package__) / "evaluators" / "reference.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf:
        """The program parts of the offline model."""
        from .shelf import shelf

        return shelf()

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`."""
        from .audit import audit_programs

        return audit_programs(options, seeds)
