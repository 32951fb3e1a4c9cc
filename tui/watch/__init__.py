"""The terminal UI of `memento watch`: it reads a run's log from a separate process and never writes it."""
