"""Atomic file replacement (write under another name in the same folder, then rename), and bounded reading."""

import errno
import lzma
import os
import stat
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


def read_bounded(path: Path, most: int) -> bytes:
    """The content of a regular file of at most `most` bytes. Raises OSError: also for a pipe, a device, a larger file.

    It never waits: opening a pipe that nobody writes to would, and reading an endless device would fill the memory.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB", str(path))
    return data


def unpack(packed: bytes, most: int) -> bytes:
    """Data compressed with xz, at most `most` bytes of it. Raises lzma.LZMAError, and EOFError for too much or less."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    data = reader.decompress(packed, max_length=most)
    if not reader.eof:
        raise EOFError(f"it ends too early or holds more than {most / 1e6:,.0f} MB")
    return data
