"""Evaluator programs that ship with the Hanoi domain. They are loaded as text and run in a sandbox."""
