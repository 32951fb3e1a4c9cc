"""The prompt texts of the kitchen task under given options."""

from collections.abc import Mapping
from importlib.resources import files
from string import Template

from ...core.values import Brief
from .options import Settings

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
    }
    return Brief(
        task=_filled("task", facts),
        policy_interface=_filled("policy", facts),
        evaluator_interface=_filled("evaluator", facts),
        uncertainties=_filled("uncertainties", facts),
        reference_fitness=REFERENCE_FITNESS,
    )


def _filled(name: str, facts: Mapping[str, object]) -> str:
    text = (files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(facts).strip() + "\n"
