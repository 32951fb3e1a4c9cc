"""Keeps what a replayed search shows of the gallery's programs, and draws it for `docs/gallery.md`.

    ./memento run --replay docs/results/fetch-push.tape.xz --trust --replay-loosely --name fetch-push
    python docs/pictures/gallery.py record fetch-push runs/fetch-push    # into domains/gallery/entries/fetch-push.toml
    python docs/pictures/gallery.py draw                                 # the pictures and the tables, from the entries

A later `record` replaces what an earlier one wrote, and leaves the rest of the entry as it is.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from memento.core.events import CandidateScored, Fact, InitialChosen
from memento.core.operators import OPERATORS
from memento.core.order_ids import parse
from memento.core.text import number, one_line, printable, share, signed_number
from memento.core.values import Operator
from memento.domains.gallery import ENTRIES, GalleryProgram, LineageStep, entry, gain_of, names
from memento.evidence.parts import flat_style
from memento.evidence.svg import Node, rail
from memento.memory.run_view import RunView
from memento.memory.slots import Slot, ancestors_of
from memento.memory.store import RunStore
from memento.memory.tail import read_card, read_view

PAGE = Path(__file__).parents[1] / "gallery.md"
HERE = Path(__file__).parent
RECORDED = "# Of the replayed search, by docs/pictures/gallery.py:\n"
BEGIN, END = "<!-- made by pictures/gallery.py: {} -->\n", "<!-- made until here -->\n"
WIDTH, ROW, LETTERS = 860, 46, 128      # units of a picture, of a step, and the characters of its text
SUMMARY = 300                           # characters of a summary that an entry keeps


# ------------------------------------------------------------------------------------------- the record


def record(name: str, folder: Path) -> str:
    """The entry's file with what the replayed run in `folder` shows. Raises ValueError if it lacks the program."""
    text = (ENTRIES / f"{name}.toml").read_text(encoding="utf-8").partition(RECORDED)[0].rstrip("\n")
    view = read_view(folder)
    with RunStore.read(folder) as store:
        programs = dict(map(_program, store.facts(only=(InitialChosen, CandidateScored))))
        again = read_card(store, view).reintroduced
    kept = entry(name).program.read_text(encoding="utf-8")
    found = [each for each, program in programs.items() if program == kept]
    if not found:
        raise ValueError(f"{folder} has no candidate with the program of {name}")
    return "\n".join([text, "", RECORDED + "\n".join(_tables(view, found[0], again)), ""])


def _program(fact: Fact) -> tuple[str, str]:
    """The candidate of a fact, and the text of its program."""
    if isinstance(fact, CandidateScored):
        return fact.candidate.id, fact.candidate.program.text
    assert isinstance(fact, InitialChosen)
    return str(fact.order), fact.program.text


def _tables(view: RunView, candidate: str, again: float | None) -> Iterator[str]:
    slots = view.slots.candidates
    for each in ancestors_of(view.slots, [candidate]):
        yield from _table("[[lineage]]", {
            "id": each, "parents": [*slots[each].parents], "fitness": _rounded(slots[each].fitness),
            "summary": one_line(slots[each].summary, SUMMARY) or "a given first program",
        })
    for branch in ("climb", "macro", "cross", "tune"):
        own = [slot for slot in slots.values() if slot.generation and OPERATORS[_operator(slot.id)].branch == branch]
        if own:
            yield from _table("[[branches]]", _yield(branch, own, slots))
    yield from _table("[selection]", _selection(view, again))


def _yield(branch: str, own: Sequence[Slot], slots: dict[str, Slot]) -> dict[str, Any]:
    gains = [
        slot.fitness - max(slots[parent].fitness or 0.0 for parent in slot.parents)
        for slot in own if slot.fitness is not None and slot.parents
    ]
    return {
        "branch": branch, "proposed": len(own), "valid": sum(slot.fitness is not None for slot in own),
        "gained": sum(gain > 0.0 for gain in gains), "largest": _rounded(max(0.0, *gains, 0.0)),
        "elites": sum(bool(slot.elite_of) for slot in own),
    }


def _selection(view: RunView, again: float | None) -> dict[str, Any]:
    status, slots = view.status, view.slots
    scored = [slot for slot in slots.candidates.values() if slot.fitness is not None]
    first = max(enumerate(scored), key=lambda placed: (placed[1].fitness, placed[0]))[1].id     # of equals the later
    returned = "" if status.elite is None else status.elite.candidate
    found: dict[str, Any] = {
        "first": first, "returned": returned, "challenges": status.confirmations, "refuted": status.refuted,
        "tuning": _rounded(status.tuning_episodes / max(1, status.search_episodes)),
    }
    for key, each in (("first_fresh", first), ("returned_fresh", returned)):
        if each in slots.seen:
            found[key] = [_rounded(slots.seen[each].fitness), slots.seen[each].episodes]
    return found if again is None else {**found, "reintroduced": _rounded(again)}


def _operator(candidate: str) -> Operator:
    return OPERATORS.of_word(parse(candidate).branch)


def _rounded(value: float | None) -> float:
    return round(value or 0.0, 4)


def _table(head: str, values: dict[str, Any]) -> Iterator[str]:
    """A table of TOML; strings, numbers and lists of strings are written as in JSON."""
    yield "\n".join([head, *(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()), ""])


# ------------------------------------------------------------------------------------------- the picture


def picture(found: GalleryProgram) -> str:
    """The descent of a program as an SVG file: which reply gained what."""
    steps = found.lineage
    place_of = {step.id: place for place, step in enumerate(steps)}
    nodes = [
        Node(
            lane=OPERATORS[_operator(step.id)].lane,
            parents=[place_of[each] for each in step.parents if each in place_of],
            elite=step is steps[-1], place=OPERATORS[_operator(step.id)].colour,
        )
        for step in steps
    ]
    height, left = ROW * len(steps), 22 * (1 + max(node.lane for node in nodes)) + 10
    lines = Markup("").join(_line(step, steps, left=left, top=ROW * place) for place, step in enumerate(steps))
    style = Markup(flat_style() + "svg .what{font-weight:600}")
    return printable(str(Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}"><title>{2}</title>'
        '<style>{3}</style><rect width="{0}" height="{1}" fill="#ffffff"/>{4}{5}</svg>\n'
    ).format(WIDTH, height, f"{found.name}: which reply gained what", style, rail(nodes, row_height=ROW), lines)))


def _line(step: LineageStep, steps: Sequence[LineageStep], *, left: int, top: int) -> Markup:
    gain = gain_of(step, steps)
    after = "" if gain is None else f", {number(step.fitness - gain)} before: {signed_number(gain, digits=3)}"
    by = "p_0" if not step.parents else f"{OPERATORS[_operator(step.id)].proposal} of {' and '.join(step.parents)}"
    return Markup(
        '<text class="what" x="{0}" y="{1}">{2}</text><text class="tick" x="{0}" y="{3}">{4}</text>'
    ).format(left, top + 20, f"{step.id}, {by}: F {number(step.fitness)}{after}", top + 36,
             one_line(step.summary, LETTERS))


# ------------------------------------------------------------------------------------------- the tables


def branches_table(entries: Iterable[GalleryProgram]) -> str:
    """What each branch of each search gave."""
    rows = [
        (f"`{found.name}`", each.branch, str(each.proposed), str(each.valid), str(each.gained),
         signed_number(each.largest, digits=3) if each.gained else "", str(each.elites))
        for found in entries for each in found.branches
    ]
    head = ("search", "branch", "proposals", "could run", "gained over the parents", "largest gain", "became elite")
    return _markdown([head, *rows])


def selection_table(entries: Iterable[GalleryProgram]) -> str:
    """What fresh episodes changed in each search, and the shares of tuning and of lines that came back."""
    def words(name: str, fresh: tuple[float, int] | None) -> str:
        return name if fresh is None else f"{name} ({number(fresh[0])} on {fresh[1]})"

    rows = [
        (f"`{found.name}`", f"{each.refuted} of {each.challenges}", words(each.first, each.first_fresh),
         words(each.returned, each.returned_fresh), share(each.tuning), share(each.reintroduced))
        for found in entries if (each := found.selection) is not None
    ]
    head = ("search", "challenges that kept the old elite", "ahead in the search alone (F on fresh episodes)",
            "returned (F on fresh episodes)", "episodes of tuning", "added lines that came back")
    return _markdown([head, *rows])


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = rows
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, ["---"] * len(head), *rest))


def drawn() -> dict[Path, str]:
    """The pictures and the page, by file."""
    found = [entry(name) for name in names()]
    page = PAGE.read_text(encoding="utf-8")
    for key, table in (("branches", branches_table(found)), ("selection", selection_table(found))):
        before, _, rest = page.partition(BEGIN.format(key))
        page = f"{before}{BEGIN.format(key)}{table}{END}{rest.partition(END)[2]}"
    pictures = {HERE / f"gallery-{each.name}.svg": picture(each) for each in found if len(each.lineage) > 1}
    return {PAGE: page, **pictures}


if __name__ == "__main__":
    if sys.argv[1:2] == ["record"]:
        (ENTRIES / f"{sys.argv[2]}.toml").write_text(record(sys.argv[2], Path(sys.argv[3])), encoding="utf-8")
    else:
        for path, text in drawn().items():
            path.write_text(text, encoding="utf-8")
