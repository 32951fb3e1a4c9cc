"""The model of a made environment: MuJoCo's, or the constants of its class and module."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .documentation import Table, table_text
from .facts import MOST_CONSTANTS, MOST_MODEL, is_no_fact, map_text, plain_text


def model_text(bare: Any, before: Mapping[str, Any], arguments: str = "") -> str:
    """The model in tables; "" if there is nothing to read.

    `before` holds the environment's plain attributes at an earlier time: only those that stayed are constants. What
    the text of the `arguments` names is not repeated.
    """
    model = getattr(bare, "model", None)
    named = frozenset(re.findall(r"(?m)^- (\w+) = ", arguments))
    if model is None or not hasattr(model, "body_mass"):
        return _constants_text(bare, before, named)
    return "\n\n".join(filter(None, (_mujoco_text(bare, model), _constants_text(bare, None, named))))


def plain_attributes(bare: Any) -> dict[str, Any]:
    """The public numbers of an environment, by attribute."""
    return {
        name: value for name, value in getattr(bare, "__dict__", {}).items()
        if not name.startswith("_") and _is_numbers(value) and not isinstance(value, list | tuple)
        and not is_no_fact(name)
    }


def _constants_text(bare: Any, before: Mapping[str, Any] | None, named: frozenset[str]) -> str:
    """Named numbers of the module, the class, and (with `before`) the object that a random episode left alone."""
    found: dict[str, str] = {}
    module = sys.modules.get(type(bare).__module__)
    own = [each for each in type(bare).__mro__ if each.__module__.partition(".")[0] not in ("builtins", "typing")]
    sources: list[Mapping[str, Any]] = [vars(module) if module is not None else {}]
    sources += [vars(each) for each in own if each.__module__ != "gymnasium.core"]
    for source in sources:
        for name, value in source.items():
            constant = re.fullmatch(r"[A-Z][A-Z0-9_]+", name) and _is_numbers(value) and map_text(value) is None
            if constant and not is_no_fact(name.lower()):
                found.setdefault(name, plain_text(value) or "")
    if before is not None:
        now = plain_attributes(bare)
        same = {name: value for name, value in now.items() if name in before and before[name] == value}
        found |= {name: plain_text(value) or "" for name, value in same.items() if name not in found}
    lines = [f"{name} = {value}" for name, value in found.items() if value and name not in named]
    more = [f"and {len(lines) - MOST_CONSTANTS} more"] if len(lines) > MOST_CONSTANTS else []
    if not lines:
        return ""
    return ("### Constants of the environment\n\nAs its code names them: "
            + "; ".join([*lines[:MOST_CONSTANTS], *more]) + ".")


def _is_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return 0 < len(value) <= 24 and all(_is_numbers(each) for each in value)
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _mujoco_text(bare: Any, model: Any) -> str:
    skip = int(next(filter(None, (getattr(bare, name, 0) for name in ("frame_skip", "n_substeps"))), 0))
    step = f"; a step of the environment is {skip} of them" if skip else ""
    gravity = ", ".join(f"{value:g}" for value in model.opt.gravity)
    head = (f"Read from MuJoCo's model, in m, kg, rad, N and N m. A physics step lasts {model.opt.timestep:g} s{step}. "
            f"Gravity is [{gravity}].")
    shown = _tables(model, whole=True)
    if sum(len(line) + 1 for lines in shown.values() for line in lines) > MOST_MODEL:
        shown = _tables(model, whole=False)     # all rows matter more than the last columns
    room, parts = MOST_MODEL, []
    for left, (title, lines) in enumerate(shown.items()):
        allowed = room // (len(shown) - left)
        text = _within([f"{title}:", "", *lines], allowed)
        room -= len(text)
        parts.append(text)
    return "\n\n".join(["### The simulated model", head, *parts])


def _tables(model: Any, *, whole: bool) -> dict[str, list[str]]:
    """The tables that have rows; without where joints, armatures and parts of bodies are, unless `whole`."""
    at, armature, friction = (("at",), ("armature",), ("sliding friction",)) if whole else ((), (), ())
    rows = {
        "Actuators, in the order of MuJoCo's controls": _table(
            ("number", "actuator", "drives", "gear", "control range", "kind"), _actuators(model)),
        "Joints": _table(
            ("joint", "body", "type", *at, "axis", "range", "damping", "stiffness", *armature),
            _joints(model, whole=whole)),
        "Bodies": _table(
            ("body", "within", "offset", "mass", "shape", *friction), _bodies(model, whole=whole)),
    }
    return {title: lines for title, lines in rows.items() if len(lines) > 1}


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    found = tuple(tuple(row) for row in rows)
    return table_text(Table(tuple(header), found)).splitlines() if found else []


def _within(lines: Sequence[str], most: int) -> str:
    """As many lines as fit in `most` characters; a sentence counts the others."""
    if sum(len(line) + 1 for line in lines) <= most:
        return "\n".join(lines)
    kept, size = 0, 40
    while size + len(lines[kept]) + 1 <= most:
        size += len(lines[kept]) + 1
        kept += 1
    return "\n".join([*lines[:kept], f"({len(lines) - kept} more rows are left out.)"])


def _actuators(model: Any) -> Iterator[Sequence[str]]:
    import mujoco

    kinds = mujoco.mjtTrn
    for place in range(model.nu):
        actuator = model.actuator(place)
        target, kind = int(actuator.trnid[0]), int(actuator.trntype[0])
        lists = {int(kinds.mjTRN_JOINT): model.joint, int(kinds.mjTRN_JOINTINPARENT): model.joint,
                 int(kinds.mjTRN_TENDON): model.tendon, int(kinds.mjTRN_SITE): model.site,
                 int(kinds.mjTRN_BODY): model.body}
        drives = lists[kind](target).name if kind in lists and target >= 0 else "-"
        low, high = actuator.ctrlrange
        servo = int(actuator.biastype[0]) == int(mujoco.mjtBias.mjBIAS_AFFINE)
        yield (
            str(place), actuator.name or "-", drives, f"{actuator.gear[0]:g}",
            f"{low:.4g} to {high:.4g}" if actuator.ctrllimited[0] else "no limit",
            f"position or velocity servo, gain {actuator.gainprm[0]:g}" if servo else "motor",
        )


def _body(model: Any, place: int) -> str:
    """A body's name; its number if it has none."""
    return model.body(place).name or f"#{place}"


def _joints(model: Any, *, whole: bool) -> Iterator[Sequence[str]]:
    for place in range(model.njnt):
        joint = model.joint(place)
        kind = ("free", "ball", "slide", "hinge")[int(joint.type[0])]
        axis = _vector(joint.axis) if kind in ("slide", "hinge") else "-"
        span = f"{joint.range[0]:.4g} to {joint.range[1]:.4g}" if model.jnt_limited[place] else "no limit"
        yield (
            joint.name or "-", _body(model, int(joint.bodyid[0])), kind,
            *([_vector(joint.pos) if kind != "free" else "-"] if whole else []),
            axis, span, f"{float(joint.damping[0]):g}", f"{float(np.ravel(joint.stiffness)[0]):g}",
            *([f"{float(joint.armature[0]):g}"] if whole else []),
        )


def _bodies(model: Any, *, whole: bool) -> Iterator[Sequence[str]]:
    free = {int(model.jnt_bodyid[joint]) for joint in range(model.njnt) if int(model.jnt_type[joint]) == 0}
    for place in sorted(range(1, model.nbody), key=lambda place: (place not in free, place)):     # objects first
        body = model.body(place)
        geoms = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] == place]
        if not geoms and body.mass[0] == 0 and not body.jntnum[0]:
            continue        # a frame, such as a camera's
        solid = [geom for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]] or geoms
        shapes = [*dict.fromkeys(_shape(model, geom, whole=whole) for geom in solid)]
        more = [f"{len(shapes) - 2} more"] if len(shapes) > 2 else []
        frictions = sorted({f"{model.geom_friction[geom][0]:g}" for geom in solid})
        yield (
            _body(model, place), _body(model, int(body.parentid[0])), _vector(body.pos), f"{float(body.mass[0]):.4g}",
            "; ".join([*shapes[:2], *more]) or "-", *([" and ".join(frictions) or "-"] if whole else []),
        )


def _vector(values: Any) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in np.round(values, 6) + 0.0) + "]"


def _shape(model: Any, geom: int, *, whole: bool) -> str:
    """A geom's kind and size as MuJoCo gives it; if `whole`, with its centre, and its axis where that is not z."""
    kinds = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
    kind = int(model.geom_type[geom])
    name = kinds[kind] if kind < len(kinds) else "shape"
    size = [f"{value:.3g}" for value in model.geom_size[geom]]
    where = f", centre {_vector(model.geom_pos[geom])}" if whole and np.abs(model.geom_pos[geom]).max() > 1e-6 else ""
    along = _along(model.geom_quat[geom]) if whole else ""
    match name:
        case "sphere":
            return f"sphere, radius {size[0]}{where}"
        case "capsule" | "cylinder":
            return f"{name}, radius {size[0]}, half-length {size[1]}{along}{where}"
        case "box" | "ellipsoid":
            return f"{name}, half-lengths {' x '.join(size)}{where}"
    return name


def _along(turn: Any) -> str:
    """Where the long axis of a geom points, turned by this quaternion; "" for that of z."""
    w, x, y, z = turn
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    axis *= np.sign(axis[np.argmax(np.abs(axis))])
    return "" if axis[2] > 1 - 1e-6 else f" along {_vector(axis)}"


def parts_of(bare: Any, size: int) -> list[tuple[str, int]]:
    """Names of consecutive numbers of an observation of this size, where the environment gives its structure."""
    structure, model = getattr(bare, "observation_structure", None), getattr(bare, "model", None)
    if not isinstance(structure, Mapping):
        return []
    parts = [
        (str(name), int(count)) for name, count in structure.items()
        if isinstance(count, int | np.integer) and count > 0 and not str(name).startswith("skipped")
    ]
    if sum(count for _, count in parts) != size:
        return []
    bodies = [_body(model, place) for place in range(1, model.nbody)] if model is not None else []
    each = {"cinert": 10, "cvel": 6, "cfrc_ext": 6}
    return [
        (f"{name}, {each[name]} numbers for each body: {', '.join(bodies)}"
         if count == each.get(name, -1) * len(bodies) else name, count)
        for name, count in parts
    ]
