"""Policies of our own that solve the tasks from observations alone: oracles for tests and benchmarks, in no wheel."""
