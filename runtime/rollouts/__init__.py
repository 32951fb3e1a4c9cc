"""Where generated programs run: the pool of worker processes, the sandboxed program processes, their messages."""
