"""Persistent data: the log of facts, trajectories, and queries about a run. Imports only core."""
