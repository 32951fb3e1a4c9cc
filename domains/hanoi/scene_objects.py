"""MJCF of the objects on the table: containers with a square hole, and three families of stackable objects."""

from dataclasses import dataclass
from xml.etree import ElementTree

from . import task

PLATE_DENSITY = 2000.0
OBJECT_DENSITY = 1000.0
# Two of the bars are raised this far above the table: the other two carry the plate with half the contacts.
BAR_CLEARANCE_M = 0.0005

COLOURS = {
    "small": (0.85, 0.15, 0.12, 1.0),
    "medium": (0.12, 0.30, 0.85, 1.0),
    "large": (0.15, 0.65, 0.25, 1.0),
    "xlarge": (0.50, 0.50, 0.52, 1.0),
}
OTHER_COLOUR = (0.85, 0.65, 0.15, 1.0)
PLATE_COLOUR = (0.72, 0.58, 0.42, 1.0)

# The asymmetric variant: a core narrower than the cube of the same size, and two arms along local y that
# reach beyond that cube's faces, which is the gripper's closing direction after reset.
CORE_SCALE = 0.85
ARM_REACH_SCALE = 1.05
ARM_HALF_WIDTH_SCALE = 0.40
ARM_HALF_HEIGHT_SCALE = 0.45


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """One primitive of a body: MuJoCo's type, its half-sizes and its centre, in metres."""

    kind: str
    size: tuple[float, ...]
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)


def container_shapes() -> tuple[Shape, ...]:
    """The four bars around a container's hole; its body frame is in the middle of the plate's height."""
    half_bar, half_hole = task.BAR_WIDTH_M / 2, task.HOLE_EDGE_M / 2
    side, outer = half_hole + half_bar, half_hole + task.BAR_WIDTH_M
    thick = task.CONTAINER_THICKNESS_M / 2
    thin, lift = thick - BAR_CLEARANCE_M / 2, BAR_CLEARANCE_M / 2
    x = task.HOLE_LOCAL_M[0]
    return (
        Shape(kind="box", size=(half_bar, outer, thick), centre=(x - side, 0.0, 0.0)),
        Shape(kind="box", size=(half_bar, outer, thick), centre=(x + side, 0.0, 0.0)),
        Shape(kind="box", size=(half_hole, half_bar, thin), centre=(x, -side, lift)),
        Shape(kind="box", size=(half_hole, half_bar, thin), centre=(x, side, lift)),
    )


def object_shapes(variant: str, half_edge_m: float) -> tuple[Shape, ...]:
    """The primitives of one stackable object of the "cube", "asymmetric" or "cylinder" family (appendix G.2)."""
    s = half_edge_m
    if variant == "cube":
        return (Shape(kind="box", size=(s, s, s)),)
    if variant == "cylinder":
        return (Shape(kind="cylinder", size=(s, s)),)
    if variant == "asymmetric":
        core = CORE_SCALE * s
        reach = ARM_REACH_SCALE * s
        arm = (ARM_HALF_WIDTH_SCALE * s, (reach - core) / 2, ARM_HALF_HEIGHT_SCALE * s)
        middle = (reach + core) / 2
        return (
            Shape(kind="box", size=(core, core, s)),
            Shape(kind="box", size=arm, centre=(0.0, -middle, 0.0)),
            Shape(kind="box", size=arm, centre=(0.0, middle, 0.0)),
        )
    raise ValueError(f"unknown variant {variant!r}")


def free_body(
    name: str,
    shapes: tuple[Shape, ...],
    *,
    centre: tuple[float, ...],
    rgba: tuple[float, ...],
    density: float,
    condim: int,
) -> ElementTree.Element:
    """A body at `centre` with a free joint, each shape once for contact (group 0) and once visual (group 1).

    `condim` 6 makes torsional and rolling friction act in every contact of this body.
    """
    body = ElementTree.Element("body", name=name, pos=_numbers(centre))
    ElementTree.SubElement(body, "freejoint", name=f"{name}_joint")
    for i, shape in enumerate(shapes):
        geometry = {"type": shape.kind, "size": _numbers(shape.size), "pos": _numbers(shape.centre)}
        contact = {"group": "0", "density": repr(density), "condim": str(condim), "rgba": "0 0 0 0"}
        seen = {"group": "1", "contype": "0", "conaffinity": "0", "mass": "0", "rgba": _numbers(rgba)}
        ElementTree.SubElement(body, "geom", {"name": f"{name}_{i}", **geometry, **contact})
        ElementTree.SubElement(body, "geom", {"name": f"{name}_{i}_visual", **geometry, **seen})
    return body


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(repr(float(value)) for value in values)
