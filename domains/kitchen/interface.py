"""The prompt texts of the kitchen task under given options."""

from collections.abc import Mapping
from importlib.resources import files
from string import Template

from ...core.values import Brief
from .options import Settings


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
    )


def _filled(name: str, facts: Mapping[str, object]) -> str:
    text = (files(__package__) / "texts" / f"{name}.md").read_text(encoding="utf-8")
    return Template(text).substitute(facts).strip() + "\n"
