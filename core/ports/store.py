"""The port of the store of a run's facts."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..events import Fact


class Store(Protocol):
    """The append-only log of facts of one run.

    **Durability.** When `append` returns, its facts survive the death of this process (kill -9). A power failure may
    lose the last batches, but never a part of a batch, and the rest stays readable.

    **Atomicity.** A batch is stored completely or not at all: if one fact cannot be stored, or the iteration fails,
    no fact of the batch is stored.

    **Threads and processes.** One process writes. Its threads may append and read at the same time: batches do not
    mix, and a reader never sees a partial batch. Any number of other processes may read at the same time.

    **Determinism.** Facts are returned exactly as they were given, with the same types and bits, in commit order.

    **Ownership.** The store holds values: later changes by the caller do not affect it.

    **Errors.** StoreError, one sentence, for a fact that cannot be stored exactly, a full disk or a damaged log. An
    exception from the iteration of the batch itself passes through.
    """

    def append(self, facts: Iterable["Fact"]) -> None:
        """Commit these facts together; they are on disk when this returns. Raises StoreError."""

    def facts(self) -> Iterable["Fact"]:
        """All facts in commit order, possibly including facts that are committed during the iteration.

        Raises StoreError.
        """
