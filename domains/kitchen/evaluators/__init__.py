"""Evaluator programs that ship with the domain. They run in processes of their own, never here."""
