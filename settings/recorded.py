"""The settings of a recorded run."""

from collections.abc import Mapping

from pydantic import ValidationError

from ..core.errors import StoreError
from ..core.text import one_line
from ..core.values import JSON
from .model import Settings


def recorded_settings(values: Mapping[str, JSON]) -> Settings:
    """The settings in the first fact of a run, of any version; their provenance is unknown.

    Raises StoreError for a setting that this version does not know.
    """
    try:
        return Settings.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key, found = ".".join(str(part) for part in first["loc"]), one_line(repr(first["input"]), 80)
        raise StoreError(
            f"the log has a setting that this version of MEMENTO does not know, {one_line(key, 80)} = {found}: "
            "use the version that wrote it, or a newer one"
        ) from None
