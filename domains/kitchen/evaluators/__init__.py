"""Evaluator programs that ship with the domain. They run in a sandbox, never in this process."""
