"""Evaluator programs that ship with the Hanoi domain. They are read as text and run in a sandbox."""
