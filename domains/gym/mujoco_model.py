"""MuJoCo's compiled model in tables: actuators, joints, bodies and sensors. For the helper process only."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from .documentation import Table, table_text

MOST_MODEL: Final = 4_500       # characters of the tables


def model_and_data(bare: Any) -> tuple[Any, Any]:
    """MuJoCo's compiled model and state of an environment, also where they are within another object; None for none."""
    mujoco = sys.modules.get("mujoco")
    if mujoco is None:
        return None, None
    model = data = None
    level = [bare]
    for _ in range(5):      # such as a dm_control environment's `_env._physics._data._model._model`
        inner = [value for each in level for value in _held(each)]
        model = model or next((each for each in inner if isinstance(each, mujoco.MjModel)), None)
        data = data or next((each for each in inner if isinstance(each, mujoco.MjData)), None)
        if model is not None and data is not None:
            break
        level = inner
    return model, data


def _held(owner: Any) -> list[Any]:
    """The objects that are attributes of another."""
    mujoco = sys.modules["mujoco"]
    compiled, held = (mujoco.MjModel, mujoco.MjData), getattr(owner, "__dict__", None)
    values = [*held.values()] if isinstance(held, Mapping) else []
    return [each for each in values if hasattr(each, "__dict__") or isinstance(each, compiled)]


def state_names(model: Any) -> dict[str, list[str]]:
    """By a field of MuJoCo's state, what its numbers are; empty lists for fields whose numbers have no names."""
    return {
        "qpos": [name for joint in range(model.njnt) for name in _of_joint(model, joint, speed=False)],
        "qvel": [name for joint in range(model.njnt) for name in _of_joint(model, joint, speed=True)],
        "sensordata": [f"sensor {_sensor_name(model, place)}{_at(place_in, int(model.sensor_dim[place]))}"
                       for place in range(model.nsensor) for place_in in range(int(model.sensor_dim[place]))],
        "act": [f"activation of {model.actuator(int(place)).name or place}" for place in range(model.nu)
                for _ in range(int(model.actuator_actnum[place]))],
        "actuator_length": [f"length of actuator {_actuator_name(model, place)}" for place in range(model.nu)],
        "actuator_velocity": [f"speed of actuator {_actuator_name(model, place)}" for place in range(model.nu)],
        "actuator_force": [f"force of actuator {_actuator_name(model, place)}" for place in range(model.nu)],
        "site_xpos": [f"{axis} of site {model.site(place).name or place}" for place in range(model.nsite)
                      for axis in "xyz"],
        "xpos": [f"{axis} of body {body_name(model, place)}" for place in range(model.nbody) for axis in "xyz"],
    }


def _of_joint(model: Any, place: int, *, speed: bool) -> list[str]:
    """The names of the numbers of a joint's position or speed."""
    kind, name = int(model.jnt_type[place]), model.joint(place).name
    whose = f"joint {name or f'#{place}'} of body {body_name(model, int(model.jnt_bodyid[place]))}"
    turns = ("angular velocity x", "angular velocity y", "angular velocity z")
    words = {
        0: ("velocity x", "velocity y", "velocity z", *turns) if speed else (
            "x", "y", "z", "quaternion w", "quaternion x", "quaternion y", "quaternion z"),
        1: turns if speed else ("quaternion w", "quaternion x", "quaternion y", "quaternion z"),
        2: ("speed",) if speed else ("position",), 3: ("angular velocity",) if speed else ("angle",),
    }[kind]
    return [f"{word} of {whose}" for word in words]


def _at(place: int, size: int) -> str:
    return f"[{place}]" if size > 1 else ""


def _sensor_name(model: Any, place: int) -> str:
    return model.sensor(place).name or f"#{place}"


def _actuator_name(model: Any, place: int) -> str:
    return model.actuator(place).name or f"#{place}"


def mujoco_text(bare: Any, model: Any) -> str:
    """The model's tables under their heading."""
    skip = int(next(filter(None, (getattr(bare, name, 0) for name in ("frame_skip", "n_substeps"))), 0))
    step = f"; a step of the environment is {skip} of them" if skip else ""
    gravity = ", ".join(f"{value:g}" for value in model.opt.gravity)
    head = (f"Read from MuJoCo's model, in m, kg, rad, N and N m. A physics step lasts {model.opt.timestep:g} s{step}. "
            f"Gravity is [{gravity}].")
    for whole, more in ((True, True), (True, False), (False, False)):   # all rows matter more than the last columns
        shown = _tables(model, whole=whole, more=more)
        if sum(len(line) + 1 for lines in shown.values() for line in lines) <= MOST_MODEL:
            break
    room, parts = MOST_MODEL, []
    for left, (title, lines) in enumerate(shown.items()):
        allowed = room // (len(shown) - left)
        text = _within([f"{title}:", "", *lines], allowed)
        room -= len(text)
        parts.append(text)
    return "\n\n".join(["### The simulated model", head, *parts])


def _tables(model: Any, *, whole: bool, more: bool) -> dict[str, list[str]]:
    """The tables that have rows; without where joints, armatures and parts of bodies are, unless `whole`.

    With `more` they have inertias and sensors.
    """
    at, armature, friction = (("at",), ("armature",), ("sliding friction",)) if whole else ((), (), ())
    rows = {
        "Actuators, in the order of MuJoCo's controls": _table(
            ("number", "actuator", "drives", "gear", "control range", "kind"), _actuators(model)),
        "Joints": _table(
            ("joint", "body", "type", *at, "axis", "range", "damping", "stiffness", *armature),
            _joints(model, whole=whole)),
        "Bodies": _table(
            ("body", "within", "offset", "mass", *(("inertia",) if more else ()), "shape", *friction),
            _bodies(model, whole=whole, more=more)),
        "Sensors": _table(("sensor", "measures", "fixed to"), _sensors(model) if more else ()),
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
        yield (
            str(place), actuator.name or "-", drives, f"{actuator.gear[0]:g}",
            f"{low:.4g} to {high:.4g}" if actuator.ctrllimited[0] else "no limit",
            _kind_of(model, place),
        )


def _kind_of(model: Any, place: int) -> str:
    """What an actuator does with its control, from its parameters."""
    import mujoco

    gain, bias = [int(each[place]) for each in (model.actuator_gaintype, model.actuator_biastype)]
    dynamics = int(model.actuator_dyntype[place])
    g, b, filtered = model.actuator_gainprm[place], model.actuator_biasprm[place], model.actuator_dynprm[place][0]
    if int(mujoco.mjtGain.mjGAIN_MUSCLE) == gain:
        pull = f", peak force {g[2]:g}" if g[2] > 0 else ""
        return f"muscle: it only pulls; the control is its excitation, from 0 to 1{pull}"
    late = {int(mujoco.mjtDyn.mjDYN_NONE): "", int(mujoco.mjtDyn.mjDYN_INTEGRATOR): " of the integrated control"}.get(
        dynamics, f", control filtered with time constant {filtered:g} s")
    affine = int(mujoco.mjtBias.mjBIAS_AFFINE) == bias
    if int(mujoco.mjtGain.mjGAIN_FIXED) == gain and not affine:
        return f"motor{late}" if int(mujoco.mjtBias.mjBIAS_NONE) == bias else f"general{late}"
    if int(mujoco.mjtGain.mjGAIN_FIXED) == gain and b[0] == 0 and b[1] == -g[0] != 0:
        return f"position servo, gain {g[0]:g}{f', damping {-b[2]:g}' if b[2] else ''}{late}"
    if int(mujoco.mjtGain.mjGAIN_FIXED) == gain and b[0] == b[1] == 0 and b[2] == -g[0] != 0:
        return f"velocity servo, gain {g[0]:g}{late}"
    lead = f"{g[0]:g} * control" if int(mujoco.mjtGain.mjGAIN_FIXED) == gain else (
        f"({g[0]:g} {g[1]:+g} * length {g[2]:+g} * speed) * control")
    terms = [f"{value:+g}{of}" for value, of in zip(b[:3], ("", " * length", " * speed"), strict=True) if value]
    return " ".join([f"general: force = {lead}", *terms]) + late


def _sensors(model: Any) -> Iterator[Sequence[str]]:
    import mujoco

    for place in range(model.nsensor):
        kind = mujoco.mjtSensor(int(model.sensor_type[place])).name.removeprefix("mjSENS_").lower()
        what, number = int(model.sensor_objtype[place]), int(model.sensor_objid[place])
        name = mujoco.mj_id2name(model, what, number) if number >= 0 else None
        art = mujoco.mjtObj(what).name.removeprefix("mjOBJ_").lower()
        body = ""
        if art == "site" and number >= 0:
            body = f" on body {body_name(model, int(model.site_bodyid[number]))}"
        yield _sensor_name(model, place), kind, f"{art} {name or f'#{number}'}{body}" if number >= 0 else "the world"


def body_name(model: Any, place: int) -> str:
    """A body's name; its number if it has none."""
    return model.body(place).name or f"#{place}"


def _joints(model: Any, *, whole: bool) -> Iterator[Sequence[str]]:
    for place in range(model.njnt):
        joint = model.joint(place)
        kind = ("free", "ball", "slide", "hinge")[int(joint.type[0])]
        axis = _vector(joint.axis) if kind in ("slide", "hinge") else "-"
        span = f"{joint.range[0]:.4g} to {joint.range[1]:.4g}" if model.jnt_limited[place] else "no limit"
        yield (
            joint.name or "-", body_name(model, int(joint.bodyid[0])), kind,
            *([_vector(joint.pos) if kind != "free" else "-"] if whole else []),
            axis, span, f"{float(joint.damping[0]):g}", f"{float(np.ravel(joint.stiffness)[0]):g}",
            *([f"{float(joint.armature[0]):g}"] if whole else []),
        )


def _bodies(model: Any, *, whole: bool, more: bool) -> Iterator[Sequence[str]]:
    free = {int(model.jnt_bodyid[joint]) for joint in range(model.njnt) if int(model.jnt_type[joint]) == 0}
    for place in sorted(range(1, model.nbody), key=lambda place: (place not in free, place)):     # objects first
        body = model.body(place)
        geoms = [geom for geom in range(model.ngeom) if model.geom_bodyid[geom] == place]
        if not geoms and body.mass[0] == 0 and not body.jntnum[0]:
            continue        # a frame, such as a camera's
        solid = [geom for geom in geoms if model.geom_contype[geom] or model.geom_conaffinity[geom]] or geoms
        shapes = [*dict.fromkeys(_shape(model, geom, whole=whole) for geom in solid)]
        others = [f"{len(shapes) - 2} more"] if len(shapes) > 2 else []
        frictions = sorted({f"{model.geom_friction[geom][0]:g}" for geom in solid})
        yield (
            body_name(model, place), body_name(model, int(body.parentid[0])), _vector(body.pos),
            f"{float(body.mass[0]):.4g}", *([_vector(body.inertia)] if more else []),
            "; ".join([*shapes[:2], *others]) or "-", *([" and ".join(frictions) or "-"] if whole else []),
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
