"""The registry of domains: loads a domain by name, by "PREFIX:NAME" for a member of a family such as robosuite's
tasks, or by "package.module:ATTRIBUTE" for one outside the package.

Importing this module or a domain imports no simulator; making an environment does.

    compiled_code  compiled code that cannot be read is compiled again
    audit_reader  cuts the hand-written programs of an audit from the module that holds a domain's
    plain_audit   programs for an audit in any domain whose actions are vectors: they never look at an observation
    shelf_reader  reads a shelf, the program parts of the offline model, from a folder of Markdown pages
    story_rows    which rows a story's table has, where more happened than it can show
"""

import re
from collections.abc import Mapping
from importlib import import_module
from typing import cast

from typing_extensions import get_protocol_members

from ..core import extensions, extras
from ..core.errors import UsageError, no_such
from ..core.import_strings import attribute_at, is_import_string
from ..core.ports import Domain
from ..core.provenance import UNKNOWN, Provenance
from ..core.values import JSON

DOMAINS: Mapping[str, str] = {
    "hanoi": "memento.domains.hanoi:DOMAIN",
    "hanoi-kinematic": "memento.domains.hanoi_kinematic:DOMAIN",
    "kitchen": "memento.domains.kitchen:DOMAIN",
}
# Families of domains, "PREFIX:NAME" -> the module of the family. It has `named(name)`, which makes the domain or raises
# UsageError, `titles()`, the names to list with their titles, and `__getattr__`, so that "module:NAME" is an import
# string for workers.
PREFIXES: Mapping[str, str] = {
    "gym": "memento.domains.gym",
    "robosuite": "memento.domains.robosuite",
}
# The extra that runs a domain, or all members of a family. Reading what a domain is needs none.
NEEDED_EXTRAS: Mapping[str, str] = {"hanoi": "robosuite", "robosuite": "robosuite"}
IMPORTING = frozenset({"gym"})      # families whose members are code of other packages
_GYMNASIUM_ID = re.compile(r"(?:[\w.]+:)?(?:[\w-]+/)?[\w.-]+-v\d+|[\w-]+/[\w.-]+")
_MEMBERS = sorted(get_protocol_members(Domain))


def names() -> tuple[str, ...]:
    """The names of the domains that ship with MEMENTO."""
    return tuple(DOMAINS)


def titles() -> dict[str, str]:
    """The domains to list, with their titles: those that ship with MEMENTO, then the members of each family."""
    found = {name: load(name).title for name in DOMAINS}
    for prefix, module in PREFIXES.items():
        members: Mapping[str, str] = import_module(module).titles()
        found |= {f"{prefix}:{name}": title for name, title in members.items()}
    return found


def is_shipped(name: str) -> bool:
    """Whether `name` is a domain of MEMENTO itself, which imports nothing of others."""
    prefix, colon, _ = name.partition(":")
    return name in DOMAINS or (bool(colon) and prefix in PREFIXES.keys() - IMPORTING)


def is_ours(name: str) -> bool:
    """Whether the code of a domain comes with MEMENTO or with an extension; an extension's may import more."""
    return is_shipped(name) or name in (*DOMAINS.values(), *extensions.values(extensions.DOMAINS))


def require_installed(name: str) -> None:
    """Raises UsageError if the packages that run the domain `name` are not installed, with the command for it."""
    needed = NEEDED_EXTRAS.get(name.partition(":")[0])
    if needed is not None:
        extras.require(needed, f"the domain {name}")


def import_string(name: str) -> str:
    """The import string "package.module:ATTRIBUTE" of the domain `name`; an import string is returned unchanged.

    Raises UsageError that suggests the nearest names.
    """
    if name in DOMAINS:
        return DOMAINS[name]
    module, colon, attribute = name.partition(":")
    if colon and module in PREFIXES:
        return f"{PREFIXES[module]}:{attribute}"
    if is_import_string(name):
        return name
    members = _members_like(name)
    if members:
        raise UsageError(f"unknown domain {name!r}: did you mean {' or '.join(map(repr, members))}?")
    raise UsageError(f"{no_such('domain', name, DOMAINS, cutoff=0.4)} (your own domain is package.module:ATTRIBUTE, an "
                     "environment of Gymnasium gym:ID, a task of robosuite robosuite:NAME)")


def _members_like(name: str) -> list[str]:
    """The members of families that a name without its prefix may mean; a family of others knows its ids by form."""
    found = [f"gym:{name}"] if _GYMNASIUM_ID.fullmatch(name) else []
    for prefix in PREFIXES.keys() - IMPORTING:
        known = {each.lower(): each for each in import_module(PREFIXES[prefix]).titles()}
        if name.lower() in known:
            found.append(f"{prefix}:{known[name.lower()]}")
    return found


def load(name: str, provenance: Provenance = UNKNOWN) -> Domain:
    """Import and return the domain `name`, which came from there. Raises UsageError.

    A domain that does not come with MEMENTO is imported only for a name of trusted provenance.
    """
    if not is_ours(name):
        import_string(name)     # nothing else is worth a question
        provenance.require([f"import {name!r}"])
    prefix, colon, member = name.partition(":")
    if colon and prefix in PREFIXES:
        return cast(Domain, import_module(PREFIXES[prefix]).named(member))
    where = import_string(name)
    domain = attribute_at(where, "domain")
    missing = [member for member in _MEMBERS if not hasattr(domain, member)]
    if domain is None:
        module, _, attribute = where.partition(":")
        raise UsageError(f"the domain {where!r} cannot be loaded: the module {module!r} has no {attribute!r}")
    if missing:
        raise UsageError(f"{where!r} is not a domain: it has no {', '.join(missing)}")
    return cast(Domain, domain)


def require_same_simulator(domain: Domain, options: Mapping[str, JSON]) -> None:
    """Raises UsageError if a recorded run's simulator is another one now, where the domain knows its versions."""
    check = getattr(domain, "require_same_simulator", None)
    if check is not None:
        check(options)
