"""Computes control steps: by robosuite itself, or by the same substeps in one compiled loop."""
