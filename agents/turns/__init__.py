"""Conversations before a submission: what a reply asks of a tool, what tools answer, how prompts show it."""
