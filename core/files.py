"""Atomic file replacement: write under another name in the same folder, then rename."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = ".partial"        # the suffix of unfinished files


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield the path of a partial file that replaces `path` when the block ends; after an error it is removed.

    `durable` first flushes its content to the disk, so that a power failure leaves either the new or the old file
    complete. Raises OSError if the disk refuses.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}{PARTIAL}")
    try:
        yield partial
        if durable:
            with partial.open("rb") as file:
                os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, data: str | bytes) -> None:
    """Write `data` (text as UTF-8) so that `path` holds all of it or is unchanged. Raises OSError."""
    with replacing(path) as partial:
        partial.write_bytes(data.encode() if isinstance(data, str) else data)
