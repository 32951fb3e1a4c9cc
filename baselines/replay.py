"""The library's hindsight buffer, without its work on rows that are still empty."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from stable_baselines3 import HerReplayBuffer


class HindsightBuffer(HerReplayBuffer):
    """Draws the same transitions as the library's.

    For each batch the library looks through all rows for episodes that have ended. A buffer of 2,000,000 is nearly
    empty for long, so this one looks at the filled rows alone.
    """

    ep_length: Any

    @property
    def ready(self) -> bool:
        """Whether an episode has ended, so that there is something to draw from."""
        return bool(np.count_nonzero(self.ep_length[: self._filled()]))

    def sample(self, batch_size: int, env: Any = None) -> Any:
        """A batch, most of it with goals that were achieved later. Raises RuntimeError if the buffer is not `ready`."""
        with self._without_empty_rows():
            return super().sample(batch_size, env)

    def _filled(self) -> int:
        return int(self.buffer_size if self.full else self.pos)

    @contextmanager
    def _without_empty_rows(self) -> Iterator[None]:
        whole = self.ep_length
        self.ep_length = whole[: self._filled()]
        try:
            yield
        finally:
            self.ep_length = whole
