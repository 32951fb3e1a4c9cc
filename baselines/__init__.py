"""Learned baselines: agents that are trained on the tasks, to compare a search with. Not part of any search."""
