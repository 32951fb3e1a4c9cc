"""The domain interface of a Hanoi task; the robosuite and the kinematic domain are its two instances."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from ...core.order_ids import CONDITIONS
from ...core.ports import AuditProgram, Environment, KnownEpisode, Renderer, Shelf, Story, Twin
from ...core.recording import Recording
from ...core.values import JSON, Brief, Contract, Program
from ..shelf_reader import read_shelf
from .interface import Motion, brief
from .options import complete, settings
from .randomisation import CHANGES, QUANTITIES
from .story import episode_story


@dataclass(frozen=True, slots=True, kw_only=True)
class HanoiDomain:
    """Implements `core.ports.Domain`."""

    name: str
    title: str
    motion: Motion
    make: Callable[[Mapping[str, JSON]], Environment]   # imports the simulator
    known: Callable[[Mapping[str, JSON], int], Iterable[KnownEpisode]]  # episodes of known order, for these options
    audit: Callable[[], Iterable[AuditProgram]]         # hand-written programs for an audit of evaluators
    defaults: Mapping[str, Mapping[str, JSON]]          # by preset; every key that is always present
    choices: Mapping[str, tuple[str, ...]]              # allowed values of "variant" and of domain-specific keys
    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)   # limits of domain-specific numeric keys
    # Quantities for which this domain replaces the preset's range:
    ranges: Mapping[str, Mapping[str, JSON]] = field(default_factory=dict)
    cheap: Callable[[Mapping[str, JSON]], Twin] | None = None   # the twin under these options; raises UsageError
    has_arm: bool = True    # False: the renderer solves for the arm from the recorded hand
    contract: Contract = Contract(class_name="FrankaPolicy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract: Contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options, completed from the preset's defaults. Raises UsageError."""
        return complete(
            given, self.defaults[preset], domain=self.name, choices=self.choices, numbers=self.numbers,
            ranges=self.ranges,
        )

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts under these (completed) options."""
        return brief(settings(options, domain=self.name), self.motion)

    def conditions(self, options: Mapping[str, JSON]) -> dict[str, dict[str, JSON]]:
        """The presets of randomisation, without single quantities of the search's: see `core.ports.Varying`."""
        given = {key: value for key, value in options.items() if key not in QUANTITIES}
        return {
            name: self.options({**given, "randomisation": preset}, preset="paper")
            for name, preset in zip(CONDITIONS, CHANGES, strict=True)
        }

    def control_period_ms(self, options: Mapping[str, JSON]) -> float:
        """The duration of a control step: see `core.ports.Periodic`."""
        return 1000 * self.motion.control_period_s

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        return self.make(options)

    def twin(self, options: Mapping[str, JSON]) -> Twin | None:
        """The cheap domain to try programs in: see `core.ports.Twinned`. Raises UsageError."""
        return None if self.cheap is None else self.cheap(options)

    def known_episodes(self, options: Mapping[str, JSON], *, seed: int) -> Iterable[KnownEpisode]:
        """Episodes of known order of merit: see `core.ports.KnowingOrder`."""
        return self.known(options, seed)

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import renderer

        return renderer(options, by_hand=not self.has_arm)

    def story(self, recording: Recording) -> Story:
        """The story of an episode: see `core.ports.Narrating`."""
        return episode_story(recording)

    def reference_evaluator(self) -> Program:
        """The evaluator that the paper selected."""
        text = files(__package__) / "evaluator.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf:
        """The program parts of the offline model. They read sizes from the observation, so four half-edges suffice."""
        return _shelf()

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`."""
        return self.audit()


@cache
def _shelf() -> Shelf:
    """The shelf of Markdown pages: parts of mixed quality, whose first alternatives make a program that fails.

    Nothing in it comes from a reference policy or the reference evaluator.
    """
    return read_shelf(files(__package__) / "shelf", {"n_cubes": "4"})
