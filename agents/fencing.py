"""Foreign text in a prompt: a Markdown code block that its content cannot leave."""

from ..core.fences import fenced

__all__ = ["fenced"]
