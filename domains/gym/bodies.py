"""The simulated bodies of Box2D, pymunk and PyBullet in tables. For the helper process only."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np

from .documentation import Table, beginning_of, table_text

MOST_TEXT: Final = 4_500        # characters of the tables
MOST_SHAPES: Final = 3          # of a body
_KINDS: Final = ("static", "kinematic", "dynamic")      # Box2D's, by number


def bodies_text(bare: Any) -> str:
    """The bodies of the world that an environment holds; "" for none of these simulators."""
    for module, read in (("Box2D", _box2d), ("pymunk", _pymunk), ("pybullet", _pybullet)):
        if module in sys.modules:
            head, tables = read(bare)
            shown = [f"{title}:\n\n{table_text(table)}" for title, table in tables.items() if table.rows]
            if shown:
                return beginning_of("\n\n".join(["### The simulated bodies", head, *shown]), MOST_TEXT)
    return ""


def _vector(values: Any) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in np.round(np.asarray(values, dtype=float), 6) + 0.0) + "]"


def _names(bare: Any) -> Iterator[tuple[str, Any]]:
    """The objects that an environment holds, alone or in lists, with their names."""
    for name, value in vars(bare).items():
        if isinstance(value, list | tuple):
            yield from ((f"{name}[{place}]", each) for place, each in enumerate(value))
        elif isinstance(value, Mapping):
            yield from ((f"{name}[{key!r}]", each) for key, each in value.items())
        else:
            yield name, value


def _name_of(thing: Any, named: Sequence[tuple[str, Any]], otherwise: str) -> str:
    for name, value in named:
        with suppress(Exception):
            if type(value) is type(thing) and value == thing:
                return name
    return otherwise


def _box2d(bare: Any) -> tuple[str, dict[str, Table]]:
    named = [*_names(bare)]
    world = next((value for _, value in named if isinstance(value, sys.modules["Box2D"].b2World)), None)
    if world is None:
        return "", {}
    bodies = [each for each in world.bodies if each.type != 0]
    still = len(world.bodies) - len(bodies)
    frictions = sorted({f"{shape.friction:g}" for body in world.bodies if body.type == 0 for shape in body.fixtures})
    names = {id(body): _name_of(body, named, f"#{place}") for place, body in enumerate(bodies)}

    def whose(body: Any) -> str:
        return next((name for other, name in zip(bodies, names.values(), strict=True) if other == body), "the ground")

    head = (f"Read from Box2D's world, in its units, at the start of an episode. Gravity is {_vector(world.gravity)}. "
            f"Fixed bodies: {still}"
            f"{', friction ' + ' and '.join(frictions) if frictions else ''}.")
    return head, {
        "Bodies": Table(("body", "kind", "mass", "inertia", "contact shapes", "friction", "restitution"), tuple(
            (names[id(body)], _KINDS[body.type], f"{body.mass:.4g}", f"{body.inertia:.4g}", _shapes_of(body),
             *(" and ".join(sorted({f"{getattr(each, key):g}" for each in body.fixtures}))
               for key in ("friction", "restitution")))
            for body in bodies)),
        "Joints": Table(("joint", "between", "anchor on the first", "anchor on the second", "limits", "motor"), tuple(
            (_name_of(joint, named, f"#{place}"), f"{whose(joint.bodyA)} and {whose(joint.bodyB)}",
             _vector(joint.bodyA.GetLocalPoint(joint.anchorA)), _vector(joint.bodyB.GetLocalPoint(joint.anchorB)),
             *_limits_and_motor(joint))
            for place, joint in enumerate(world.joints))),
    }


def _shapes_of(body: Any) -> str:
    """Box2D's shapes of a body, in its own coordinates."""
    words = []
    for each in body.fixtures:
        shape = each.shape
        corners = getattr(shape, "vertices", None)
        where = f"radius {shape.radius:.3g}, centre {_vector(shape.pos)}" if hasattr(shape, "pos") else (
            f"corners {', '.join(_vector(corner) for corner in corners)}" if corners else type(shape).__name__)
        words.append(where + (" (a sensor)" if each.sensor else ""))
    return "; ".join(words[:MOST_SHAPES]) or "-"


def _limits_and_motor(joint: Any) -> tuple[str, str]:
    """A joint's limits, and whether a motor drives it: what speed and torque it has now is of the last action."""
    with suppress(Exception):
        limits = f"{joint.lowerLimit:.4g} to {joint.upperLimit:.4g}" if joint.limitEnabled else "none"
        return limits, "yes" if joint.motorEnabled else "none"
    return "-", "-"


def _pymunk(bare: Any) -> tuple[str, dict[str, Table]]:
    named = [*_names(bare)]
    pymunk = sys.modules["pymunk"]
    space = next((value for _, value in named if isinstance(value, pymunk.Space)), None)
    if space is None:
        return "", {}
    head = (f"Read from pymunk's space, in its units, at the start of an episode. Gravity is {_vector(space.gravity)}; "
            f"each second a body keeps {space.damping:g} of its velocity. What is kinematic moves as the environment "
            "says and is pushed by nothing.")
    kinds = {pymunk.Body.DYNAMIC: "dynamic", pymunk.Body.KINEMATIC: "kinematic", pymunk.Body.STATIC: "static"}
    bodies = [*space.bodies, *([space.static_body] if space.static_body.shapes else [])]
    rows = []
    for place, body in enumerate(bodies):
        shapes = sorted(body.shapes, key=lambda each: str(_munk_shape(each)))
        rows.append((
            _name_of(body, named, "walls" if body is space.static_body else f"#{place}"), kinds[body.body_type],
            *((f"{body.mass:.4g}", f"{body.moment:.4g}") if body.body_type == pymunk.Body.DYNAMIC else ("-", "-")),
            _vector(body.center_of_gravity), "; ".join(map(_munk_shape, shapes)) or "-",
            " and ".join(sorted({f"{each.friction:g}" for each in shapes})) or "-"))
    return head, {"Bodies": Table(
        ("body", "kind", "mass", "inertia", "centre of mass", "contact shapes in its own coordinates", "friction"),
        tuple(rows))}


def _munk_shape(shape: Any) -> str:
    if hasattr(shape, "get_vertices"):
        return f"corners {', '.join(_vector(each) for each in shape.get_vertices())}"
    if hasattr(shape, "a"):
        return f"segment {_vector(shape.a)} to {_vector(shape.b)}, radius {shape.radius:g}"
    return f"circle, radius {shape.radius:g}, centre {_vector(shape.offset)}"


def _pybullet(bare: Any) -> tuple[str, dict[str, Table]]:
    client = _client(bare, 2)
    if client is None:
        return "", {}
    gravity = client.getPhysicsEngineParameters()
    where = [gravity[key] for key in ("gravityAccelerationX", "gravityAccelerationY", "gravityAccelerationZ")]
    links: list[tuple[str, ...]] = []
    joints: list[tuple[str, ...]] = []
    kinds = ("hinge", "slide", "ball", "planar", "fixed")
    for place in range(client.getNumBodies()):
        body = client.getBodyUniqueId(place)
        name = client.getBodyInfo(body)[1].decode() or f"#{body}"
        parts = [(-1, "base")]
        for number in range(client.getNumJoints(body)):
            info = client.getJointInfo(body, number)
            parts.append((number, info[12].decode()))
            if info[2] != 4:
                span = f"{info[8]:.4g} to {info[9]:.4g}" if info[8] < info[9] else "no limit"
                joints.append((name, f"{number}", info[1].decode(), kinds[info[2]], _vector(info[13]), span,
                               f"{info[10]:.4g}", f"{info[6]:g}"))
        for number, part in parts:
            found = client.getDynamicsInfo(body, number)
            shapes = _bullet_shapes(client, body, number)
            if found[0] or shapes != "-":
                links.append((name, part, f"{found[0]:.4g}", _vector(found[2]), shapes, f"{found[1]:g}"))
    head = (f"Read from PyBullet at the start of an episode, in m, kg, rad. Gravity is {_vector(where)}; a physics "
            f"step lasts {gravity['fixedTimeStep']:.4g} s. A body of mass 0 does not move.")
    return head, {
        "Joints that move": Table(
            ("body", "number", "joint", "type", "axis", "limits", "greatest force", "damping"), tuple(joints)),
        "Parts": Table(("body", "part", "mass", "inertia", "contact shape", "friction"), tuple(links)),
    }


def _client(owner: Any, depth: int) -> Any:
    """The PyBullet client within an environment."""
    with suppress(Exception):
        if callable(owner.getDynamicsInfo) and callable(owner.getNumBodies):
            return owner
    for value in vars(owner).values() if depth and hasattr(owner, "__dict__") else ():
        if hasattr(value, "__dict__") and not callable(value) and (found := _client(value, depth - 1)) is not None:
            return found
    return None


def _bullet_shapes(client: Any, body: int, part: int) -> str:
    kinds = {2: "sphere", 3: "box", 4: "cylinder", 5: "mesh", 6: "plane", 7: "capsule"}
    words = []
    with suppress(Exception):
        for each in client.getCollisionShapeData(body, part):
            size = {2: f", radius {each[3][0]:.3g}", 3: f", sides {_vector(each[3])}"}.get(
                each[2], f", length {each[3][0]:.3g}, radius {each[3][1]:.3g}" if each[2] in (4, 7) else "")
            words.append(kinds.get(each[2], "shape") + size)
    return "; ".join(words[:MOST_SHAPES]) or "-"
