"""Benchmarks of parts of MEMENTO on this machine."""
