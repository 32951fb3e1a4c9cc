"""The tasks there are, by name; a name, or "package.module:ATTRIBUTE" for a task from elsewhere, is loaded on demand.

Importing this, or a domain, imports no simulator: only making an environment does.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import cast

from typing_extensions import get_protocol_members

from ..core.errors import UsageError, unknown
from ..core.ports import Domain

DOMAINS: Mapping[str, str] = {
    "hanoi": "memento.domains.hanoi:DOMAIN",
    "hanoi-kinematic": "memento.domains.hanoi_kinematic:DOMAIN",
    "kitchen": "memento.domains.kitchen:DOMAIN",
}
_MEMBERS = sorted(get_protocol_members(Domain))


def names() -> tuple[str, ...]:
    """The names of the domains that ship with MEMENTO."""
    return tuple(DOMAINS)


def is_shipped(name: str) -> bool:
    """Whether `name` is a domain of MEMENTO itself, which imports nothing of others."""
    return name in DOMAINS


def import_string(name: str) -> str:
    """Where the domain `name` lives, as "package.module:ATTRIBUTE"; such a string stands for itself.

    Raises UsageError with the nearest names.
    """
    if name in DOMAINS:
        return DOMAINS[name]
    module, colon, attribute = name.partition(":")
    if colon and attribute.isidentifier() and all(part.isidentifier() for part in module.split(".")):
        return name
    raise UsageError(f"{unknown('domain', name, DOMAINS, cutoff=0.4)} (your own domain is package.module:ATTRIBUTE)")


def load(name: str) -> Domain:
    """The domain `name`. Raises UsageError."""
    where = import_string(name)
    module_name, _, attribute = where.partition(":")
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise      # the domain is there and lacks something that it imports
        raise UsageError(
            f"the domain {where!r} cannot be loaded: there is no module {error.name!r};"
            " install it, or name its folder in PYTHONPATH"
        ) from None
    domain = getattr(module, attribute, None)
    missing = [member for member in _MEMBERS if not hasattr(domain, member)]
    if domain is None:
        raise UsageError(f"the domain {where!r} cannot be loaded: the module {module_name!r} has no {attribute!r}")
    if missing:
        raise UsageError(f"{where!r} is not a domain: it has no {', '.join(missing)}")
    return cast(Domain, domain)
