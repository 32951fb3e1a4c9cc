"""MEMENTO evolves executable robot policies: hill-climbing with memory, macro-mutation and crossover."""

__version__ = "0.1.0"
