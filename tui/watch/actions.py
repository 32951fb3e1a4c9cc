"""The actions of `memento watch` on a run, which the command line implements."""

from pathlib import Path
from typing import Protocol

PAUSE, CONTINUE, STOP = "pause", "continue", "stop"
STOP_AFTER_CANDIDATE, STOP_AFTER_GENERATION = "stop-after-candidate", "stop-after-generation"
REQUESTS = {
    PAUSE: "to pause", CONTINUE: "to continue", STOP: "to stop", STOP_AFTER_CANDIDATE: "to stop after this candidate",
    STOP_AFTER_GENERATION: "to stop after this generation",
}

STOPPING = {
    STOP: "stopping", STOP_AFTER_CANDIDATE: "stops after this candidate",
    STOP_AFTER_GENERATION: "stops after this generation",
}


class RunControls(Protocol):
    """All may take a moment, so the UI calls them in a thread. They raise MementoError with one sentence."""

    def request(self, folder: Path, kind: str) -> None:
        """Store a request in the run's table, which its controller reads and turns into a fact."""

    def check_hint(self, folder: Path) -> None:
        """Raises UsageError for a run on which no hint has an effect."""

    def hint(self, folder: Path, text: str) -> None:
        """Give the run's proposers a hint. Raises UsageError for one that could have no effect."""

    def export(self, folder: Path, candidate: str, out: Path) -> None:
        """Write the program of a candidate to a file that does not exist yet."""

    def rendering(self, folder: Path, candidate: str, out: Path) -> list[str]:
        """The command line that renders a rollout of a candidate."""
