"""The terminal program that watches runs: it reads a run's log from another process and never writes it."""
