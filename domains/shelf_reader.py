"""Reads a shelf, the program parts of the offline model, from a folder of Markdown pages.

`program.md` is the template of all programs; parts replace `{constants}` and `{methods}` in it.
Each `part-*.md` lists parts in the order of the task, one per heading of the second level; the first
alternative of each makes the initial program. Each `evaluator-*.md` holds one whole evaluator program.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from importlib.resources.abc import Traversable

from ..core.ports import Shelf, ShelfPart
from ..core.values import Program

_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^(kind|metrics|signs|range|alternatives|against \S+): *(.+(?:\n +.+)*)$", re.MULTILINE)
_MEANT = re.compile(r"(?:^against: *(.+)\n\n)?^```python$", re.MULTILINE)


def read_shelf(
    folder: Traversable, facts: Mapping[str, str] | None = None, *, kinds: Collection[str] | None = None,
    further: Iterable[ShelfPart] = (), first: Collection[str] = (), tuned: bool = False,
) -> Shelf:
    """The shelf in a folder of a package. `facts` replace further `{names}` of the template.

    With `kinds`, pages of parts named "part-1-KIND.md" are left out if their kind is another. Parts of the same name,
    also those in `further`, are one: the first, with the alternatives of all. Alternatives of methods whose docstring
    is in `first` come before the others, so the initial program has them. `tuned` is as in `Shelf`.
    """
    pages = {
        file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".md")
    }
    named = [name for name in sorted(pages) if name.startswith("part-")]
    if kinds is not None:
        named = [name for name in named if name.removesuffix(".md").split("-", 2)[2] in kinds]
    joined = _whole_paragraphs([*(part for name in named for part in _parts(pages[name])), *further])
    parts = tuple(_with_first(part, first) for part in joined)
    constants = "\n".join(_constant_line(part) for part in parts if part.kind == "constant")
    methods = "".join(f"\n{part.alternatives[0]}\n" for part in parts if part.kind == "method")
    frame = _block(pages["program.md"])
    for name, value in (facts or {}).items():
        frame = frame.replace(f"{{{name}}}", value)
    return Shelf(
        initial=Program(frame.replace("{constants}", constants).replace("{methods}\n", methods)), parts=parts,
        evaluators=tuple(Program(_block(pages[name])) for name in sorted(pages) if name.startswith("evaluator-")),
        tuned=tuned, signs=_names(dict(_FIELD.findall(pages["program.md"])).get("signs", "")),
    )


def _constant_line(part: ShelfPart) -> str:
    """The constant with its first value. A fraction names its range for tuning; whole numbers mostly are indices."""
    value = part.alternatives[0]
    line = f"    {part.name} = {value}"
    if part.low is None or part.high is None or not re.fullmatch(r"-?\d+\.\d*", value):
        return line
    return f"{line}  # tune: {part.low:g}..{part.high:g}"


def _whole_paragraphs(parts: Iterable[ShelfPart]) -> tuple[ShelfPart, ...]:
    """The parts with those of the same name joined."""
    found: dict[str, ShelfPart] = {}
    for part in parts:
        before = found.get(part.name)
        found[part.name] = part if before is None else replace(
            before, alternatives=(*before.alternatives, *part.alternatives)
        )
    return tuple(found.values())


def _with_first(part: ShelfPart, first: Collection[str]) -> ShelfPart:
    """The part with the alternatives of a method whose docstring is in `first` before the others."""
    if part.kind != "method":
        return part
    return replace(part, alternatives=tuple(
        sorted(part.alternatives, key=lambda text: not any(f'"""{title}"""' in text for title in first))
    ))


def _block(page: str) -> str:
    """The one Python block of a page."""
    (block,) = _FENCE.findall(page)
    return str(block)


def _parts(page: str) -> list[ShelfPart]:
    """The parts of a page."""
    return [_part(section) for section in re.split(r"^## ", page, flags=re.MULTILINE)[1:]]


def _part(section: str) -> ShelfPart:
    fields = dict(_FIELD.findall(section))
    kind = fields["kind"]
    low, high = (float(bound) for bound in fields["range"].split("..")) if "range" in fields else (None, None)
    if kind == "method":
        alternatives = tuple(text.strip("\n").rstrip() for text in _FENCE.findall(section))
        against = tuple(map(_names, _MEANT.findall(section)))
    else:
        alternatives = tuple(text.strip() for text in fields["alternatives"].split(","))
        against = tuple(_names(fields.get(f"against {text}", "")) for text in alternatives)
    return ShelfPart(
        name=section.split("\n", 1)[0].strip(), kind=kind, alternatives=alternatives, low=low, high=high,
        metrics=_names(fields.get("metrics", "")), against=against if any(against) else (),
    )


def _names(text: str) -> tuple[str, ...]:
    """The names in a list with commas."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
