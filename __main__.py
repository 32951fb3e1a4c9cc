"""`python -m memento` is the `memento` command."""

from .cli import main

main()
