"""MEMENTO evolves executable robot policies: hill-climbing with a memory of rejected edits, macro-mutation, crossover."""

__version__ = "0.1.0"
