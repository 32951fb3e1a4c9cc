"""The texts of the briefs: one per kind of task, one for each interface."""
