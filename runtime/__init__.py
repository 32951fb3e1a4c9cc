"""Processes and clients: the bus, the supervisor, the rollout pool, the sandbox, the language models."""
