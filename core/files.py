"""Atomic file replacement (write under another name in the same folder, then rename), and regular files only.

Every file of a folder that may come from elsewhere is opened here, or checked here before a library opens it.
"""

import errno
import lzma
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
    with os.fdopen(open_regular(path), "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most / 1e6:g} MB", str(path))
    return data


def open_regular(path: Path, flags: int = os.O_RDONLY) -> int:
    """A descriptor of a regular file, for `flags` of os.open. Raises OSError, for others before they are opened.

    What is opened to be written is not followed where it is a link, which could lead out of a folder from elsewhere.
    """
    writing = bool(flags & (os.O_WRONLY | os.O_RDWR))
    require_regular(path, links=not writing)
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | (os.O_NOFOLLOW if writing else 0), 0o666)
    try:
        _require_regular(os.fstat(descriptor).st_mode, path)    # whatever was put there meanwhile
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def require_regular(path: Path, *, links: bool = True) -> None:
    """Raise OSError where there is something else than a regular file; with `links`, or a link to one."""
    with suppress(FileNotFoundError):
        _require_regular(path.stat(follow_symlinks=links).st_mode, path)


def _require_regular(mode: int, path: Path) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        what = "it is a link" if stat.S_ISLNK(mode) else "it is not a regular file"
        raise OSError(errno.EINVAL, what, str(path))


def unpack(packed: bytes, most: int) -> bytes:
    """Data compressed with xz, at most `most` bytes of it. Raises lzma.LZMAError, and EOFError for too much or less."""
    reader = lzma.LZMADecompressor(format=lzma.FORMAT_XZ)
    data = reader.decompress(packed, max_length=most)
    if not reader.eof:
        raise EOFError(f"it ends too early or holds more than {most / 1e6:,.0f} MB")
    return data
