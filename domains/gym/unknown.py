"""The sentence for an id that is not registered: which installed module registers it, or how to get it.

Imports packages to see what they register, since neither their names nor their ids say so. For the helper process only.
"""

import importlib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from ...core.errors import nearest
from ...core.extras import pip_command
from .names import EnvironmentId, package_of

MOST_MODULES: Final = 32        # that are imported in search of an id
_REGISTERS: Final = re.compile(r"^[^#\n]*\bregister\w*\(", re.MULTILINE)
_ATARI: Final = re.compile(r"(NoFrameskip|Deterministic|-ram)")
_OLD_GYM: Final = re.compile(r"^\s*(?:import gym\b(?!nasium)|from gym[. ])", re.MULTILINE)


def unknown_id(identity: EnvironmentId, registry: Mapping[str, Any]) -> str:
    """The sentence for an id that is not registered: the module that does, the newest of its task, or its package."""
    module = identity.module or identity.namespace_module
    if module in sys.modules and not _registered_by(module.partition(".")[0], registry):
        return _registers_nothing(identity, module, registry)
    task = _task(identity.id)
    if newest := newest_of(identity, registry):
        return f"Gymnasium has no usable environment {identity.id!r}: the newest of this task is {newest!r}"
    slip = nearest(identity.id, _usable(registry), cutoff=0.85)
    if not slip and (found := _registering(identity, registry, modules_of_environments(identity.id))):
        return found
    if "/" in identity.id and not identity.module and identity.namespace_module not in sys.modules:
        package = pip_command(package_of(identity.namespace_module or identity.id.partition("/")[0]))
        return (f"Gymnasium knows no environment {identity.id!r}: no installed package registers it; after {package}, "
                f"or the like, gym:{identity.id} works, else gym:MODULE:{identity.id}")
    if _ATARI.search(identity.id) or task in ATARI:
        game = _ATARI.split(task)[0]
        return (f"Gymnasium knows no environment {identity.id!r}: Atari's games are in the package ale-py; after "
                f"{pip_command('ale-py')}, gym:ALE/{game}-v5 works")
    own = _registered_by(module, registry) if module else []
    near = nearest(identity.id, own or _usable(registry), cutoff=0.3) or sorted(own or _usable(registry))[:3]
    named = " or ".join(f"gym:{module}:{each}" if own and identity.module else repr(each) for each in near)
    known = f"the module {module!r} registers no" if own else "Gymnasium knows no"
    return (f"{known} environment {identity.id!r}: did you mean {named}? An environment of another package is "
            "gym:PACKAGE:ID")


ATARI: Final = frozenset({"Breakout", "Pong", "SpaceInvaders", "MsPacman", "Qbert", "Seaquest", "Freeway", "BeamRider"})


def newest_of(identity: EnvironmentId, registry: Mapping[str, Any]) -> str:
    """The newest registered id of the same task, as a user writes it without "gym:"; "" for none but this one."""
    same = [each for each in _usable(registry) if _task(each) == _task(identity.id)]
    newest = max(same, key=_version_of, default=identity.id)
    return "" if newest == identity.id else f"{identity.module}:{newest}" if identity.module else newest


def _task(identity: str) -> str:
    """An id without its version."""
    return re.sub(r"-v\d+$", "", identity)


def _version_of(identity: str) -> int:
    found = re.search(r"-v(\d+)$", identity)
    return int(found[1]) if found else -1


def _usable(registry: Mapping[str, Any]) -> list[str]:
    return [each for each, spec in registry.items() if can_be_made(spec)]


def _registering(identity: EnvironmentId, registry: Mapping[str, Any], modules: Iterator[str]) -> str:
    """The sentence that names the installed module which registers this id, or the newest of its task."""
    for module in modules:
        if module not in sys.modules:
            with suppress(Exception, SystemExit):       # a package that cannot be imported registers nothing
                importlib.import_module(module)
        exact = identity.id in registry
        same = [identity.id] if exact else [each for each in _usable(registry) if _task(each) == _task(identity.id)]
        if same:
            newest = max(same, key=_version_of)
            said = "" if exact else f", of which {newest!r} is the newest"
            return (f"the module {module!r} registers this task{said}: write gym:{module}:{newest}")
    return ""


def modules_of_environments(identity: str) -> Iterator[str]:
    """The installed modules that may register this id, those of entry points first, at most `MOST_MODULES`.

    They are of distributions that require Gymnasium, and their code holds a call of `register` and the id's first word:
    many ids are put together of several.
    """
    found_word = re.match(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9_]+", identity)
    word = found_word[0] if found_word else identity
    found = dict.fromkeys(each.module for each in metadata.entry_points(group="gymnasium.envs"))
    homes = metadata.packages_distributions()
    for top, names in sorted(homes.items()):
        if top.startswith("_") or top in ("gymnasium", "memento") or not any(map(_requires_gymnasium, names)):
            continue
        found |= dict.fromkeys(_registering_modules(top, word))
    yield from [*found][:MOST_MODULES]


def _requires_gymnasium(distribution: str) -> bool:
    return any(re.match(r"gymnasium\b(?!-)", each) for each in metadata.requires(distribution) or ())


def _registering_modules(top: str, word: str = "") -> list[str]:
    """The package and those of its packages whose `__init__` registers something, the outermost first.

    None if the word is in no code that registers.
    """
    with suppress(ImportError, ValueError):
        spec = find_spec(top)
        if spec is not None and spec.origin is not None:
            root = Path(spec.origin).parent
            files = [*root.rglob("__init__.py"), *root.rglob("*regist*.py")] if spec.parent else []
            codes = {each: text for each in sorted(files, key=lambda each: len(each.parts))
                     if _REGISTERS.search(text := each.read_text(encoding="utf-8", errors="replace"))}
            folders = [each.parent.relative_to(root).parts for each in codes if each.name == "__init__.py"]
            wanted = any(word in text for text in codes.values())
            return [".".join((top, *parts)) for parts in dict.fromkeys([(), *folders])] if wanted else []
    return []


def _registered_by(module: str, registry: Mapping[str, Any]) -> list[str]:
    """The ids whose environments are of this module or package."""
    def home(entry: Any) -> str:
        return str(entry.__module__ if callable(entry) else entry).partition(":")[0]

    return [each for each, spec in registry.items() if f"{home(spec.entry_point)}.".startswith(f"{module}.")]


def _registers_nothing(identity: EnvironmentId, module: str, registry: Mapping[str, Any]) -> str:
    """The sentence for a module that is there, was imported, and registered nothing."""
    top = module.partition(".")[0]
    inner = (each for each in _registering_modules(top) if each not in sys.modules)
    if found := _registering(identity, registry, inner):
        return f"the module {module!r} registers nothing, but {found}"
    code = getattr(sys.modules[top], "__file__", None)
    text = Path(code).read_text(encoding="utf-8", errors="replace") if code else ""
    if _OLD_GYM.search(text):
        return (f"the module {module!r} was imported and registers no environment of Gymnasium's, but of the old gym: "
                "wrap it as in docs/gymnasium.md, \"An environment of the old gym\"")
    return (f"the module {module!r} was imported and registers no environment of Gymnasium's: write a module that "
            f"calls gymnasium.register(id={identity.id!r}, entry_point=...) with a class of it, and name that module")


def can_be_made(spec: Any) -> bool:
    """Not what Gymnasium keeps for a message alone, the entries for old APIs, or what needs JAX where there is none."""
    entry = spec.entry_point
    if callable(entry):
        return "_error" not in getattr(entry, "__name__", "") and "raise" not in getattr(entry, "__name__", "")
    if spec.id.startswith(("GymV21", "GymV26")):
        return False
    return not spec.id.startswith(("phys2d/", "tabular/")) or find_spec("jax") is not None
