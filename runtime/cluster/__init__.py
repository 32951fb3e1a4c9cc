"""Rollouts on the nodes of a Ray cluster. Only `gateway.py`, a separate process, imports Ray."""
