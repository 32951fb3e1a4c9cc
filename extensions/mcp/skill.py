"""How an agent should use MEMENTO, as a Markdown file for coding agents."""

from pathlib import Path


def read_skill() -> str:
    """The text of the skill file."""
    return Path(__file__).with_name("skill.md").read_text(encoding="utf-8")
