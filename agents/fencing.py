"""Foreign text in a prompt: a Markdown code block that its content cannot leave."""

from ..core.text import fenced

__all__ = ["fenced"]
