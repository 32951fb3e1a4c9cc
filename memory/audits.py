"""The result of an audit of a run's evaluator, in a file of the run's folder."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from ..core.audits import Audit
from ..core.errors import StoreError
from ..core.files import read_bounded, replace_file

FILE: Final = "audit.json"
LARGEST: Final = 2**20      # bytes; it holds a few rows
_AUDIT: Final = TypeAdapter(Audit)


def write_audit(folder: Path, audit: Audit) -> Path:
    """Write the file, replacing an earlier one. Raises StoreError."""
    path = folder / FILE
    text = json.dumps(asdict(audit), allow_nan=False, ensure_ascii=False, indent=2)
    try:
        replace_file(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from None
    return path


def read_audit(folder: Path) -> Audit | None:
    """The audit in a run's folder; None if there is none. Raises StoreError for a damaged file."""
    path = folder / FILE
    try:
        return _AUDIT.validate_json(read_bounded(path, LARGEST))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from None
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"])) or "it is not JSON"
        raise StoreError(f"{path} is damaged ({where}): make it again with memento audit, or remove it") from None
