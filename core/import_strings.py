"""Import strings, "package.module:ATTRIBUTE": how domains and methods from outside MEMENTO are named."""

from importlib import import_module
from typing import Any

from .errors import UsageError


def is_import_string(name: str) -> bool:
    """Whether a name has the form of an import string."""
    module, colon, attribute = name.partition(":")
    return bool(colon) and attribute.isidentifier() and all(part.isidentifier() for part in module.split("."))


def attribute_at(where: str, what: str) -> Any:
    """The attribute at an import string; None if the module has none. Raises UsageError without such a module."""
    module, _, attribute = where.partition(":")
    try:
        return getattr(import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module exists, but one of its own imports is missing
        raise UsageError(
            f"the {what} {where!r} cannot be loaded: there is no module {error.name!r}; install it, or name its folder "
            "in PYTHONPATH"
        ) from None
