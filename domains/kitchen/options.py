"""The options of a kitchen environment: names, defaults and validation."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...core import extras
from ...core.errors import UsageError, no_such
from ...core.seeds import derive_seed
from ...core.values import JSON
from . import recorded
from .unity.build import find

BACKENDS: Final = ("generated", "recorded", "unity")
RECORDINGS_VARIABLE: Final = "KITCHEN_RECORDINGS"
REVEAL: Final = "targets.reveal_unseen"
WALLS: Final = "through_walls"
MAX_HORIZON: Final = 100_000
PREFIX: Final = {"generated": "Kitchen", "recorded": "FloorPlan", "unity": "FloorPlan"}
TRAINING: Final = (1, 2, 3)
HELD_OUT: Final = tuple(range(4, 30))
LAST_PUBLIC: Final = 1_000      # the numbers of drawn kitchens come after this, and are so many
DRAWN: Final = 998_000
_GROUPS: Final = {"first": TRAINING[:1], "training": TRAINING, "held-out": HELD_OUT}
RULES: Final = ("strict", "paper")
POLICY_SEEDS: Final = ("episode", "zero")       # drawn for the episode, or Policy(seed=0) in all

DEFAULTS: Final[dict[str, JSON]] = {
    "backend": "generated",
    "rules": "strict",
    "scenes": ["training"],
    "final_scenes": None,
    "horizon": 250,
    REVEAL: False,
    WALLS: False,
    "policy_seed": "episode",
    "recordings": None,
    "unity_build": None,
}
PRESETS: Final[Mapping[str, dict[str, JSON]]] = {
    "paper": DEFAULTS, "quick": DEFAULTS, "smoke": {**DEFAULTS, "horizon": 60},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Completed options in their own types."""

    backend: str
    scenes: tuple[str, ...]
    horizon: int
    reveal_unseen: bool
    solid_walls: bool
    program_seed: int | None
    recordings: Path | None
    unity_build: Path | None


def complete(given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
    """`given` over the preset's options, checked; scenes become names. Raises UsageError."""
    given = dict(given)
    table = given.pop("targets", None)
    if isinstance(table, Mapping):
        given |= {f"targets.{key}": value for key, value in table.items()}
    defaults = PRESETS[preset]
    for key in given:
        if key not in defaults:
            raise no_such("option of the kitchen", key, defaults)
    options = {**defaults, **given}
    backend = options["backend"]
    if backend not in BACKENDS:
        raise no_such("kitchen.backend", str(backend), BACKENDS)
    horizon = options["horizon"]
    if isinstance(horizon, bool) or not isinstance(horizon, int) or not 1 <= horizon <= MAX_HORIZON:
        raise UsageError(f"kitchen.horizon cannot be {horizon!r}; it must be a whole number from 1 to {MAX_HORIZON}")
    if options["rules"] not in RULES:
        raise no_such("kitchen.rules", str(options["rules"]), RULES)
    options["policy_seed"] = given.get("policy_seed", "zero" if options["rules"] == "paper" else "episode")
    if options["policy_seed"] not in POLICY_SEEDS:
        raise no_such("kitchen.policy_seed", str(options["policy_seed"]), POLICY_SEEDS)
    own = backend == "unity"    # the player of AI2-THOR has its own rule of the walls, which may permit them
    options[WALLS] = given.get(WALLS, options["rules"] == "paper" or own)
    for key in (REVEAL, WALLS):
        if not isinstance(options[key], bool):
            raise UsageError(f"kitchen.{key} cannot be {options[key]!r}; it must be true or false")
    if own and not options[WALLS]:
        raise UsageError(f"kitchen.{WALLS}=false is not possible with backend=unity: it has its own rule")
    if backend == "recorded":
        options["recordings"] = str(_recordings(options["recordings"]))
    if backend == "unity":
        extras.require("unity", "kitchen.backend=unity")
        options["unity_build"] = str(_unity_build(options["unity_build"]))
    options["scenes"] = [*_scenes(options["scenes"], str(backend), options["recordings"], "scenes")]
    options["final_scenes"] = [*_final_scenes(options, str(backend))]
    return options


def final_options(options: Mapping[str, JSON], *, seed: int | None) -> dict[str, JSON]:
    """The options of a run's final measure, in scenes that the search did not see.

    Generated kitchens that are held out by default are numbered from `seed`: anybody who has read this project can
    know Kitchen4 to Kitchen29 by heart.
    """
    scenes = options.get("final_scenes") or options["scenes"]
    assert isinstance(scenes, list)
    public = {f"{PREFIX['generated']}{number}" for number in HELD_OUT}
    if seed is not None and options["backend"] == "generated" and len(scenes) > 1 and {*map(str, scenes)} <= public:
        scenes = [_drawn_kitchen(seed, place) for place in range(len(scenes))]
    return {**options, "scenes": scenes}


def _drawn_kitchen(seed: int, place: int) -> str:
    return f"{PREFIX['generated']}{LAST_PUBLIC + derive_seed(seed, 'held-out', place) % DRAWN}"


def settings(options: Mapping[str, JSON]) -> Settings:
    """Completed options in their own types."""
    scenes, horizon = options["scenes"], options["horizon"]
    assert isinstance(scenes, list)
    assert isinstance(horizon, int)
    recordings, build = options["recordings"], options.get("unity_build")
    return Settings(
        backend=str(options["backend"]), scenes=tuple(str(scene) for scene in scenes), horizon=horizon,
        reveal_unseen=bool(options[REVEAL]), recordings=None if recordings is None else Path(str(recordings)),
        unity_build=None if build is None else Path(str(build)), solid_walls=solid_walls(options),
        program_seed=0 if options.get("policy_seed") == "zero" else None,
    )


def solid_walls(options: Mapping[str, JSON]) -> bool:
    """Whether things are put into fridges and microwaves through the front alone; in older runs they were not."""
    return not options.get(WALLS, True)


def _recordings(given: JSON) -> Path:
    """The folder of recorded kitchens: the option's, else the environment variable's."""
    text = given if given is not None else os.environ.get(RECORDINGS_VARIABLE)
    if not isinstance(text, str) or not text:
        raise UsageError(
            "kitchen.backend=recorded needs the folder of the recordings: set kitchen.recordings=PATH"
            f" or {RECORDINGS_VARIABLE}; kitchen.backend=generated needs none"
        )
    return Path(text).expanduser().resolve()


def _unity_build(given: JSON) -> Path:
    """The executable of the build named by the option, else of an installed one."""
    if given is not None and not isinstance(given, str):
        raise UsageError(f"kitchen.unity_build cannot be {given!r}; it must be the path of a Unity build")
    return find(given)


def _scenes(given: JSON, backend: str, recordings: JSON, option: str) -> tuple[str, ...]:
    """Scene names from names, ranges ("Kitchen4-9") and groups ("training"), in a list or separated by commas."""
    entries = given.split(",") if isinstance(given, str) else given
    if not isinstance(entries, list) or not entries:
        raise UsageError(f"kitchen.{option} cannot be {given!r}; it must be a list of names such as {PREFIX[backend]}1")
    own = backend != "generated"
    names = tuple(name for each in entries for name in _expand_path(each, PREFIX[backend], option, own=own))
    if backend == "recorded":
        known = recorded.scene_names(Path(str(recordings)))
        for name in names:
            if name not in known:
                raise no_such("recorded kitchen", name, known)
    return names


def _final_scenes(options: Mapping[str, JSON], backend: str) -> tuple[str, ...]:
    """The option's scenes; else the held-out ones that were recorded; else the search's scenes."""
    given, recordings, scenes = options["final_scenes"], options["recordings"], options["scenes"]
    if given is not None:
        return _scenes(given, backend, recordings, "final_scenes")
    assert isinstance(scenes, list)
    held_out = [f"{PREFIX[backend]}{number}" for number in HELD_OUT]
    if backend == "recorded":
        known = recorded.scene_names(Path(str(recordings)))
        held_out = [name for name in held_out if name in known]
    return tuple(name for name in held_out if name not in scenes) or tuple(str(scene) for scene in scenes)


def _expand_path(entry: JSON, prefix: str, option: str, *, own: bool) -> list[str]:
    """The scenes of one entry. `own` also accepts this project's generated kitchens, which its player provides."""
    text = str(entry).strip()
    if text in _GROUPS:
        return [f"{prefix}{number}" for number in _GROUPS[text]]
    known = "|".join({prefix, PREFIX["generated"]} if own else {prefix})
    found = re.fullmatch(rf"({known})([1-9]\d{{0,5}})(?:-(?:\1)?([1-9]\d{{0,5}}))?", text)
    if found is None:
        raise UsageError(
            f"kitchen.{option} cannot contain {entry!r}; scenes are {prefix}1, {prefix}2 and so on, a range"
            f" ({prefix}4-29), or a group (first, training, held-out)"
            + ("" if own else "; FloorPlan scenes need kitchen.backend=recorded or unity")
        )
    first = int(found[2])
    last = int(found[3] or first)
    if not first <= last < first + 1000:
        raise UsageError(
            f"kitchen.{option} cannot contain the range {entry!r}; it must run from low to high, at most 1000 scenes"
        )
    return [f"{found[1]}{number}" for number in range(first, last + 1)]
