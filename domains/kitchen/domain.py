"""The domain interface of the kitchen task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from string import Template

from ...core.ports import AuditProgram, Environment, KnownEpisode, Renderer, Shelf, Story
from ...core.recording import Recording
from ...core.seeds import derive_seed
from ...core.values import JSON, Brief, Contract, Program
from ..audit_reader import read_audit
from ..shelf_reader import read_shelf
from .options import Settings, complete, final_options, settings

# The prompt texts of the kitchen task under given options.


REFERENCE_FITNESS = """\
f_e = 0.74 (0.35 best + 0.65 last progress P) + 0.14 useful interactions done and their success rate
+ 0.06 targets seen + 0.06 early progress - 0.07 blocked moves and standstill - 0.03 carrying over 40 steps; at least
0.42 once one target was placed, 0.72 with both, 0.9 with the Microwave on as well, 0.98 with success. P adds up what
was seen, picked up, opened and, most of all, placed, and falls where that is undone. Few steps are worth little."""


def brief(settings: Settings) -> Brief:
    """The texts for prompts, exact for these settings."""
    facts = {
        "horizon": settings.horizon,
        "ids": (
            "is filled from the first step on (an ablation: ids are revealed before the object is seen)"
            if settings.reveal_unseen
            else "is null until the object has been visible in this episode, and stays filled from then on"
        ),
        "n_scenes": len(settings.scenes),
        "front": "; a fridge or a microwave from in front of it only" if settings.solid_walls else "",
    }
    return Brief(
        task=_filled_text("task", facts),
        policy_interface=_filled_text("policy", facts),
        evaluator_interface=_filled_text("evaluator", facts),
        uncertainties=_filled_text("uncertainties", facts),
        reference_fitness=REFERENCE_FITNESS,
    )


def _filled_text(name: str, facts: Mapping[str, object]) -> str:
    text = (files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(facts).strip() + "\n"


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

    def known_episodes(self, options: Mapping[str, JSON], *, seed: int) -> Iterable[KnownEpisode]:
        """The stages of the task in a kitchen that is known: see `core.ports.KnowingOrder`."""
        from .known_episodes import known_episodes  # imports compiled loops

        return known_episodes(options, seed=seed)

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
        text = files(__package__) / "evaluator.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf:
        """The program parts of the offline model."""
        return _shelf()

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`.

        Those with scripts are left out where kitchens are not generated, because other kitchens differ; their episodes
        take place in the scenes of their scripts, whatever the scenes of the audit.
        """
        from . import audit

        for each in read_audit(audit, "Policy"):
            if "scripts = {" not in each.program.text:
                yield each
            elif options["backend"] == "generated":
                text = each.program.text + _scripts_by_name(audit.SCENES, seeds)
                yield replace(each, program=Program(text), options={**options, "scenes": [*audit.SCENES]})


def _scripts_by_name(scenes: Sequence[str], seeds: Sequence[int]) -> str:
    """A statement that gives a program its scripts by the names under which its episodes show their scenes."""
    known = [
        f'    "kitchen-{derive_seed(seed, "scene"):x}": Policy.scripts["{scenes[place % len(scenes)]}"],\n'
        for place, seed in enumerate(seeds)
    ]
    return f"\n\nPolicy.scripts |= {{\n{''.join(known)}}}\n"


@cache
def _shelf() -> Shelf:
    """The shelf of Markdown pages: parts of mixed quality, whose first alternatives make a program that fails.

    Nothing in it comes from a reference policy or the reference evaluator.
    """
    return read_shelf(files(__package__) / "shelf")
