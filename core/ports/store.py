"""Where the facts of a run are kept."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..events import Fact


class Store(Protocol):
    """The append-only log of facts of one run.

    **Durability.** When `append` returns, its facts survive the death of this process (kill -9). The loss of power
    may take the last batches, never a part of one and never the readability of the rest.

    **Atomicity.** A batch is kept whole or not at all: where a fact cannot be kept, or the iteration fails, nothing
    of the batch is.

    **Threads and processes.** One process writes. Its threads may append and read at the same time: batches do not
    mix, and a reader sees none in part. Any number of other processes may read meanwhile.

    **Determinism.** Facts come back exactly as they were given, to the type and the bit, in the order of commits.

    **Ownership.** The store keeps values: what the caller changes afterwards does not reach it.

    **Errors.** StoreError, one sentence: what cannot be kept exactly, a full disk, a damaged log. An exception of
    the batch's own iteration passes through.
    """

    def append(self, facts: Iterable["Fact"]) -> None:
        """Commit these facts together; they are on disk when this returns. Raises StoreError."""

    def facts(self) -> Iterable["Fact"]:
        """All facts in the order they were committed; those that come while this is read may be among them.

        Raises StoreError.
        """
