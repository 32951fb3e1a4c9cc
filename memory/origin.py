"""Whether this installation wrote a run: what it began with is signed with a secret that never leaves the machine.

A run folder decides what is imported, which program is started and where prompts and keys are sent. So a folder that
came from elsewhere, or whose settings were changed, must be distinguishable from a run of this installation. The same
holds for the plan of a comparison, the settings of a learned baseline, and the content of a tape.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ..core.files import read_bounded, replace_file
from ..core.values import JSON

SIGNATURE = "origin"        # the file in a run folder
SECRET = "secret"           # the file in the state folder of the user
_SECRET_BYTES = 32
_MOST_BYTES = 256


def sign(folder: Path, settings: Mapping[str, JSON]) -> None:
    """Sign the settings that the run in `folder` began with. Without a place for the secret nothing is signed."""
    signature = signature_of(settings)
    if signature is not None:
        replace_file(folder / SIGNATURE, signature + "\n")


def signature_of(content: Mapping[str, JSON]) -> str | None:
    """The signature of this installation under such content; None without a place for the secret."""
    secret = _secret()
    return None if secret is None else _signature(secret, content)


def is_signature_of(found: object, content: Mapping[str, JSON]) -> bool:
    """Whether `found` is the signature of this installation under this content."""
    expected = signature_of(content)
    return expected is not None and isinstance(found, str) and hmac.compare_digest(found.encode(), expected.encode())


def is_written_here(folder: Path, settings: Mapping[str, JSON]) -> bool:
    """Whether this installation wrote the run in `folder`, and its settings are still those."""
    try:
        found = read_bounded(folder / SIGNATURE, _MOST_BYTES)
    except OSError:
        return False
    return is_signature_of(found.strip().decode("latin-1"), settings)


def state_folder() -> Path:
    """Where MEMENTO keeps what belongs to this user on this machine; it may not exist. Raises RuntimeError: no home."""
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "memento"


def _signature(secret: bytes, settings: Mapping[str, JSON]) -> str:
    text = json.dumps(settings, sort_keys=True, ensure_ascii=True)
    return hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()


def _secret() -> bytes | None:
    """The secret of this user on this machine, made at its first use; None where there is no place for it."""
    with suppress(OSError, RuntimeError):       # no folder that can be written, no home
        path = state_folder() / SECRET
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            _make(path)
        known = read_bounded(path, _MOST_BYTES).strip()
        return known if len(known) == 2 * _SECRET_BYTES else None
    return None


def _make(path: Path) -> None:
    """Write a new secret, which only this user may read. Raises FileExistsError where there is one."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(_SECRET_BYTES))
