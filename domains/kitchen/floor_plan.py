"""Paints one state of a kitchen as a floor plan, with a description next to it.

North (+z) is up. Objects are painted from low to high, so that items on a counter stay visible.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from .embedded.doors import Corners
from .scene import AGENT_RADIUS_M, GRID_M, Box, Kitchen, Stance

if TYPE_CHECKING:
    from PIL.Image import Image

Colour = tuple[int, int, int]
Spot = tuple[float, float]      # x and z in metres

FINE: Final = 2                 # painted at this scale, then reduced, for smooth edges
SIDE: Final = 0.34              # share of the width for text
MARGIN_M: Final = 0.25
OVERHEAD_M: Final = 1.35        # objects that begin higher than this above the floor are only outlined

PAPER: Final[Colour] = (247, 246, 242)
FLOOR: Final[Colour] = (232, 226, 213)
INK: Final[Colour] = (38, 40, 46)
DIM: Final[Colour] = (128, 128, 130)
WALL: Final[Colour] = (96, 92, 88)
EDGE: Final[Colour] = (150, 138, 120)
DOOR: Final[Colour] = (190, 96, 30)
SEEN: Final[Colour] = (24, 112, 200)
AGENT: Final[Colour] = (24, 112, 200)
GLOW: Final[Colour] = (255, 190, 40)
GOOD: Final[Colour] = (40, 140, 70)
BAD: Final[Colour] = (196, 52, 44)
FILLS: Final[Mapping[str, Colour]] = {
    "CounterTop": (214, 196, 166), "DiningTable": (198, 160, 116), "SideTable": (198, 160, 116),
    "Shelf": (222, 204, 176), "ShelvingUnit": (206, 182, 148), "Cabinet": (196, 174, 140), "Drawer": (188, 164, 130),
    "Fridge": (206, 218, 228),
    "Microwave": (86, 90, 98), "Sink": (176, 190, 200), "SinkBasin": (150, 176, 196), "StoveBurner": (70, 70, 74),
    "Chair": (184, 142, 96), "Stool": (184, 142, 96), "GarbageCan": (120, 124, 120), "Window": (170, 210, 235),
    "Apple": (206, 40, 40), "Bread": (202, 138, 62), "Toaster": (120, 122, 128), "CoffeeMachine": (92, 84, 80),
    "Lettuce": (120, 176, 80), "Tomato": (226, 96, 70), "Potato": (186, 158, 104), "HousePlant": (98, 150, 84),
}
OTHER: Final[Colour] = (158, 160, 166)
ROUND: Final = frozenset({
    "Apple", "Tomato", "Potato", "Egg", "Plate", "Bowl", "Pan", "Pot", "Cup", "Mug", "StoveBurner", "Stool", "Vase",
    "Kettle", "GarbageCan", "HousePlant",
})
UNPAINTED: Final = frozenset({"Floor", "StoveKnob", "LightSwitch", "Blinds", "Curtains", "Mirror"})
NAMED: Final = ("Fridge", "Microwave", "Apple", "Bread")


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnItem:
    """One object of a frame: the corners of its box, and its drawn state."""

    kind: str
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    visible: bool           # to the agent
    inside: bool            # in something that has a door
    hidden: bool            # in something closed
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanFrame:
    """The content of one image."""

    kitchen: Kitchen
    stance: Stance
    items: tuple[DrawnItem, ...]
    doors: tuple[Corners, ...]      # that stand open
    trail: tuple[Spot, ...]         # where the agent has been
    held: str | None                # its kind
    words: tuple[tuple[str, Colour], ...]   # next to the plan, one per line
    reach_m: float
    half_view_rad: float            # half of the horizontal field of view


class Painter:
    """Paints moments of one kitchen at one size."""

    def __init__(self, kitchen: Kitchen, width: int, height: int) -> None:
        self._size = (width, height)
        self._wide = round(width * (1.0 - SIDE)) * FINE
        low_x, low_z, high_x, high_z = _extent(kitchen)
        self._scale = min(self._wide / (high_x - low_x), height * FINE / (high_z - low_z))
        self._left = 0.5 * (self._wide - self._scale * (high_x - low_x)) - self._scale * low_x
        self._top = 0.5 * (height * FINE - self._scale * (high_z - low_z)) + self._scale * high_z

    def paint(self, frame: PlanFrame) -> "Image":
        """The frame as an image of the requested size."""
        from PIL import Image, ImageDraw

        width, height = self._size
        image = Image.new("RGB", (width * FINE, height * FINE), PAPER)
        draw = ImageDraw.Draw(image, "RGBA")
        self._room(draw, frame.kitchen)
        above = [item for item in frame.items if self._is_overhead(item, frame.kitchen)]
        for item in sorted(frame.items, key=lambda item: (item.inside, item.high[1])):
            if item not in above and item.kind not in UNPAINTED:
                self._item(draw, item)
        for low, high in frame.doors:
            self._box(draw, (low[0], low[2]), (high[0], high[2]), fill=(*DOOR, 190), outline=DOOR)
        for item in above:
            self._box(draw, (item.low[0], item.low[2]), (item.high[0], item.high[2]), outline=(*EDGE, 200))
        self._view(draw, frame)
        self._agent(draw, frame)
        self._names(draw, frame)
        self._description(draw, frame)
        return image.resize(self._size, Image.Resampling.LANCZOS)

    # ------------------------------------------------------------------------------------------- parts

    def _room(self, draw: Any, kitchen: Kitchen) -> None:
        for thing in kitchen.things:
            if thing.object_type == "Floor":
                (x, _, z), (wide, _, deep) = thing.centre, thing.size
                self._box(draw, (x - wide / 2, z - deep / 2), (x + wide / 2, z + deep / 2), fill=FLOOR, outline=EDGE)
        for box in kitchen.structure:
            (x, _, z), (wide, _, deep) = box.centre, box.size
            self._box(draw, (x - wide / 2, z - deep / 2), (x + wide / 2, z + deep / 2), fill=WALL)
        for x, z in kitchen.cells:
            at = self._at((x * GRID_M, z * GRID_M))
            dot = 0.018 * self._scale
            draw.ellipse((at[0] - dot, at[1] - dot, at[0] + dot, at[1] + dot), fill=(*DIM, 110))

    def _is_overhead(self, item: DrawnItem, kitchen: Kitchen) -> bool:
        return item.low[1] > kitchen.floor_m + OVERHEAD_M and item.kind in ("Cabinet", "Shelf")

    def _item(self, draw: Any, item: DrawnItem) -> None:
        colour = FILLS.get(item.kind, OTHER)
        fill = (*colour, 70) if item.hidden else (*colour, 255)
        outline: Any = tuple(round(0.72 * part) for part in colour)
        line = FINE
        if item.hidden:
            outline = (*outline, 130)
        if item.visible and item.kind not in ("CounterTop", "Shelf"):
            outline, line = SEEN, 2 * FINE
        if item.on:
            outline, line = GLOW, 4 * FINE
        corners = ((item.low[0], item.low[2]), (item.high[0], item.high[2]))
        self._box(draw, *corners, fill=fill, outline=outline, width=line, circle=item.kind in ROUND)

    def _view(self, draw: Any, frame: PlanFrame) -> None:
        """Draw the agent's view up to its range of interaction."""
        x, z = self._stands(frame.stance)
        facing = math.radians(90.0 * frame.stance.yaw)
        turns = [facing + frame.half_view_rad * (k / 30.0 - 1.0) for k in range(61)]
        rim = []
        for turn in turns:
            ahead = math.sin(turn), math.cos(turn)
            far = min([frame.reach_m, *(_meets((x, z), ahead, box) for box in frame.kitchen.structure)])
            rim.append((x + far * ahead[0], z + far * ahead[1]))
        points = [self._at(spot) for spot in [(x, z), *rim]]
        draw.polygon(points, fill=(*SEEN, 34), outline=(*SEEN, 120))

    def _agent(self, draw: Any, frame: PlanFrame) -> None:
        if len(frame.trail) > 1:
            draw.line([self._at(spot) for spot in frame.trail], fill=(*AGENT, 120), width=2 * FINE, joint="curve")
        x, z = self._stands(frame.stance)
        at, radius = self._at((x, z)), AGENT_RADIUS_M * self._scale
        draw.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill=AGENT, outline=INK)
        facing = math.radians(90.0 * frame.stance.yaw)
        nose = [(0.17, 0.0), (-0.09, 0.11), (-0.09, -0.11)]     # ahead, to the right
        ahead, right = (math.sin(facing), math.cos(facing)), (math.cos(facing), -math.sin(facing))
        draw.polygon(
            [self._at((x + a * ahead[0] + r * right[0], z + a * ahead[1] + r * right[1])) for a, r in nose],
            fill=(255, 255, 255),
        )
        if frame.held is not None:
            spot = self._at((x + 0.3 * ahead[0], z + 0.3 * ahead[1]))
            size = 0.085 * self._scale
            draw.ellipse(
                (spot[0] - size, spot[1] - size, spot[0] + size, spot[1] + size),
                fill=FILLS.get(frame.held, OTHER), outline=(255, 255, 255), width=2 * FINE,
            )

    def _names(self, draw: Any, frame: PlanFrame) -> None:
        """Label the task's objects except a held one: receptacles above their box, items in them below."""
        font = _font(max(11, self._size[1] // 34) * FINE)
        for item in frame.items:
            if item.kind in NAMED and frame.held != item.kind:
                below = item.inside
                x, y = self._at((0.5 * (item.low[0] + item.high[0]), item.low[2] if below else item.high[2]))
                large = self._scale * (item.high[2] - item.low[2]) > 4.0 * font.size
                if item.kind == "Fridge" and large:     # inside its box, so that an adjacent wall stays free
                    y += 1.3 * font.size
                half = 0.5 * draw.textlength(item.kind, font) + 2 * FINE
                x = min(max(x, half), self._wide - half)
                draw.text(
                    (x, y + (FINE if below else -FINE)), item.kind, INK, font, anchor="ma" if below else "mb",
                    stroke_width=2 * FINE, stroke_fill=(255, 255, 255),
                )

    def _description(self, draw: Any, frame: PlanFrame) -> None:
        size = max(11, self._size[1] // 30) * FINE
        font, x, y = _font(size), self._wide + size // 2, size
        room = self._size[0] * FINE - x - size // 2
        for text, colour in frame.words:
            for line in _wrapped_lines(text, room, draw, font):
                draw.text((x, y), line, colour, font)
                y += round(1.4 * size)
            if not text:
                y += round(0.6 * size)

    # ---------------------------------------------------------------------------------------- geometry

    def _stands(self, stance: Stance) -> Spot:
        return stance.cell[0] * GRID_M, stance.cell[1] * GRID_M

    def _at(self, spot: Spot) -> tuple[float, float]:
        return self._left + self._scale * spot[0], self._top - self._scale * spot[1]

    def _box(
        self, draw: Any, low: Spot, high: Spot, *, fill: Any = None, outline: Any = None, width: int = FINE,
        circle: bool = False,
    ) -> None:
        (x0, y1), (x1, y0) = self._at(low), self._at(high)
        shape = draw.ellipse if circle else draw.rectangle
        shape((x0, y0, x1, y1), fill=fill, outline=outline, width=width)


def _extent(kitchen: Kitchen) -> tuple[float, float, float, float]:
    """The corners of the painted area, in metres, with a margin."""
    spots = [(x * GRID_M, z * GRID_M) for x, z in kitchen.cells]
    for centre, size in [
        *((thing.centre, thing.size) for thing in kitchen.things
          if thing.object_type not in UNPAINTED - {"Floor"}),
        *((box.centre, box.size) for box in kitchen.structure),
    ]:
        spots += [(centre[0] + side * size[0] / 2, centre[2] + side * size[2] / 2) for side in (-1, 1)]
    xs, zs = [spot[0] for spot in spots], [spot[1] for spot in spots]
    return min(xs) - MARGIN_M, min(zs) - MARGIN_M, max(xs) + MARGIN_M, max(zs) + MARGIN_M


def _meets(start: Spot, ahead: Spot, box: Box) -> float:
    """The distance along the ray to a box seen from above; infinite if the ray misses it."""
    enter, leave = 0.0, math.inf
    middle, sides = (box.centre[0], box.centre[2]), (box.size[0], box.size[2])
    for at, along, centre, size in zip(start, ahead, middle, sides, strict=True):
        if abs(along) < 1e-9:
            if abs(at - centre) > size / 2:
                return math.inf
            continue
        one, two = sorted(((centre - size / 2 - at) / along, (centre + size / 2 - at) / along))
        enter, leave = max(enter, one), min(leave, two)
    return enter if enter <= leave else math.inf


def _font(size: int) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(size)


def _wrapped_lines(text: str, room: float, draw: Any, font: Any) -> Sequence[str]:
    """The text as lines that fit; a word that is too long for a line is truncated."""
    lines: list[str] = []
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and draw.textlength(longer, font) > room:
            lines.append(line)
            longer = word
        line = longer
    if line:
        lines.append(line)
    return [_cut(each, room, draw, font) for each in lines]


def _cut(line: str, room: float, draw: Any, font: Any) -> str:
    while len(line) > 1 and draw.textlength(line, font) > room:
        line = line[:-1]
    return line
