"""Execution of generated programs: the pool of worker processes, the sandboxed program processes, their messages."""
