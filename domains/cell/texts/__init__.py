"""Texts for prompts about a robot cell."""
