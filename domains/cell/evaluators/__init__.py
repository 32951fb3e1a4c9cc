"""E_R, the evaluator of a robot cell, as a program."""
