"""What can go wrong with MEMENTO itself, split by who must act. A bad candidate is never an exception: it is a Fault.

    MementoError            something of ours is broken; exit 3
    ├── UsageError          the user must change a flag, a file or a setting; one sentence, exit 2
    ├── StoreError          a run folder cannot be read, written or locked
    ├── ModelError          a language model, or the way to it, failed for good
    ├── RolloutError        the simulator or a worker failed for good, not the candidate
    └── SearchError         the search cannot go on: no valid initial policy, no valid evaluator, no vote
"""


class MementoError(Exception):
    """MEMENTO could not do its work. The message is one sentence that names the thing and the mend."""


class UsageError(MementoError):
    """The user asked for something that cannot be: the sentence names the thing and the mend."""


class StoreError(MementoError):
    """A run's store is missing, damaged, locked, full or of another version."""


class ModelError(MementoError):
    """A language model call failed for good, after its retries."""


class RolloutError(MementoError):
    """A rollout failed twice for a reason that is not the candidate's: simulator, worker or machine."""


class SearchError(MementoError):
    """The search has nothing to go on with, such as no valid evaluator or no valid vote."""
