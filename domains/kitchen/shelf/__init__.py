"""What the offline model builds kitchen policies and evaluators with: parts of mixed quality, kept as Markdown.

`program.md` is the frame that all programs share. Each `part-*.md` lists parts in the order of the task;
the first alternative of each makes the initial program, which fails. Each `evaluator-*.md` holds one
whole evaluator program. Nothing here comes from a reference policy or the reference evaluator.
"""

import re
from functools import cache
from importlib.resources import files

from ....core.ports import Part, Shelf
from ....core.values import Program

_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^(kind|metrics|range|alternatives): *(.+)$", re.MULTILINE)


@cache
def shelf() -> Shelf:
    """The shelf, read once."""
    parts = tuple(part for page in _pages("part-") for part in _parts(page))
    constants = "\n".join(f"    {part.name} = {part.alternatives[0]}" for part in parts if part.kind == "constant")
    methods = "".join(f"\n{part.alternatives[0]}\n" for part in parts if part.kind == "method")
    frame = _block(_pages("program")[0])
    initial = frame.replace("{constants}", constants).replace("{methods}\n", methods)
    evaluators = tuple(Program(_block(page)) for page in _pages("evaluator-"))
    return Shelf(initial=Program(initial), parts=parts, evaluators=evaluators)


def _pages(prefix: str) -> list[str]:
    """The Markdown files of this folder that begin with a prefix, by name."""
    found = [file for file in files(__package__).iterdir() if re.match(rf"{prefix}.*\.md$", file.name)]
    return [file.read_text(encoding="utf-8") for file in sorted(found, key=lambda file: file.name)]


def _block(page: str) -> str:
    """The one Python block of a page."""
    (block,) = _FENCE.findall(page)
    return str(block)


def _parts(page: str) -> list[Part]:
    """The parts of a page: one per heading of the second level."""
    parts = []
    for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        fields = dict(_FIELD.findall(section))
        kind = fields["kind"]
        low, high = (float(bound) for bound in fields["range"].split("..")) if "range" in fields else (None, None)
        texts = _FENCE.findall(section) if kind == "method" else fields["alternatives"].split(",")
        parts.append(Part(
            name=section.split("\n", 1)[0].strip(),
            kind=kind,
            alternatives=tuple(text.strip("\n").strip() if kind == "constant" else text.rstrip() for text in texts),
            low=low,
            high=high,
            metrics=tuple(name.strip() for name in fields.get("metrics", "").split(",") if name.strip()),
        ))
    return parts
