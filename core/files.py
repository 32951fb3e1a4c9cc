"""Files that are whole or untouched: written under another name in the same folder, then renamed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PARTIAL = ".partial"        # how the names of unfinished files end


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Give the path of a partial file, which replaces `path` when the block ends; after an error it is removed.

    `durable` also writes its content through to the disk first, so that a power failure leaves all of it or the
    old file. Raises OSError where the disk refuses.
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
    """Write `data` (text as UTF-8) so that `path` holds all of it or is untouched. Raises OSError."""
    with replacing(path) as partial:
        partial.write_bytes(data.encode() if isinstance(data, str) else data)
