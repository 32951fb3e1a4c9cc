"""The pages of `memento watch` as one table: a page is its file in `screens` and a row here."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class PageOf:
    """One page: its name, its key, its label in the header, what it shows, and "module:Class" of its screen."""

    name: str
    key: str
    label: str
    what: str
    screen: str

    def make(self, *given: Path) -> Screen[Any]:
        """Its screen, made of what is given, and imported only now: screens are made with the keys of this table."""
        module, _, name = self.screen.partition(":")
        screen: Screen[Any] = getattr(import_module(f".screens.{module}", __package__), name)(*given)
        return screen


PAGES = (
    PageOf("overview", "1", "Run", "The run at a glance", "overview:OverviewScreen"),
    PageOf("candidates", "2", "Candidates", "Every candidate", "candidates:CandidatesScreen"),
    PageOf("evaluators", "3", "Evaluators", "Pools, votes and reasons", "evaluators:EvaluatorsScreen"),
    PageOf("lineage", "4", "Lineage", "Ancestors of the candidates", "lineage:LineageScreen"),
    PageOf("memory", "5", "Memory", "The rejection memory and the elites", "memory:MemoryScreen"),
    PageOf("models", "6", "Models", "Calls, latency, tokens and cost", "models:ModelsScreen"),
    PageOf("log", "7", "Log", "The facts, filtered", "log:LogScreen"),
    PageOf("runs", "0", "Runs", "All runs of the folder, their curves compared", "runs:RunsScreen"),
)
