"""A recorded run for a replay: in its folder, or as a tape, one small file that holds what a replay needs."""

import json
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from ..core.errors import StoreError, UsageError
from ..core.events import Fact
from ..core.files import read_bounded, replace_file, unpack
from ..memory.codec import Blob, decode, encode, references, revive
from ..memory.origin import is_signature_of, signature_of

# The facts that a replay needs as one small file: JSON compressed with xz, in which each text is there once.


SUFFIX: Final = ".tape.xz"
VERSION: Final = 1
DAMAGE: Final = (
    lzma.LZMAError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError, StoreError
)
LARGEST: Final = 2**28      # bytes of JSON; a damaged or hostile file must not fill the memory


def write_tape(facts: Iterable[Fact], path: Path, *, own: bool = False) -> int:
    """Write the file, replacing an existing one; returns its size in bytes. Raises UsageError, StoreError.

    `own`: this installation wrote the run, so it signs the tape, whose replay here needs no trust then.
    """
    blobs: dict[str, Blob] = {}
    rows = []
    for fact in facts:
        encoded = encode(fact)
        blobs |= encoded.blobs
        rows.append([encoded.kind, encoded.order, encoded.body])
    content: dict[str, Any] = {
        "version": VERSION, "facts": rows, "texts": {key: blob.content for key, blob in blobs.items()}
    }
    if own:
        content["origin"] = signature_of({"facts": content["facts"], "texts": content["texts"]})
    text = json.dumps(content, allow_nan=False).encode()     # ASCII: models can write lone surrogates
    if len(text) > LARGEST:
        raise UsageError(f"the tape has {len(text) / 1e6:,.0f} MB, more than the {LARGEST / 1e6:,.0f} that can be read")
    packed = lzma.compress(text, preset=9)
    try:
        replace_file(path, packed)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return len(packed)


def read_tape(path: Path) -> tuple[Fact, ...]:
    """The facts in such a file. Raises UsageError for a file that is no tape, is damaged, or has another version."""
    return _read_tape(path)[0]


def _read_tape(path: Path) -> tuple[tuple[Fact, ...], bool]:
    """The facts in such a file, and whether this installation signed them. Raises UsageError."""
    try:
        content = json.loads(unpack(read_bounded(path, LARGEST), LARGEST))
        version = content["version"]
        if version == VERSION:
            own = is_signature_of(content.get("origin"), {"facts": content["facts"], "texts": content["texts"]})
            values = {key: revive(key, text) for key, text in content["texts"].items()}
            return tuple(_fact(row, values) for row in content["facts"]), own
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except DAMAGE as error:
        raise UsageError(f"{path} is not the tape of a run, or is damaged: {error}") from None
    raise UsageError(f"{path} is a tape of version {version}; this MEMENTO reads version {VERSION}")


def _fact(row: Any, values: dict[str, Any]) -> Fact:
    kind, order, body = row
    return decode(kind, order, body, {key: values[key] for key in references(body) if key in values})
