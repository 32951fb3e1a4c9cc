"""`memento doctor`: checks of this machine, with a fix for each problem."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import typer

from . import flags
from .output import print_json, print_note, print_text

if TYPE_CHECKING:
    from .doctor_checks import Finding, State

EXAMPLE: Final = "memento doctor"
MARKS: Final[Mapping["State", str]] = {"ok": "ok", "absent": "-", "missing": "MISSING"}


def doctor(as_json: flags.AsJson = False) -> None:
    """Check what this machine can do. Exit code 1 if something essential is missing."""
    from dataclasses import asdict

    from .doctor_checks import examine

    findings = tuple(examine())
    missing = [finding.name for finding in findings if finding.state == "missing"]
    for line in _lines(findings, missing):
        (print_note if as_json else print_text)(line)
    if as_json:
        print_json({"fine": not missing, "findings": [asdict(finding) for finding in findings]})
    raise typer.Exit(1 if missing else 0)


def _lines(findings: "Sequence[Finding]", missing: Sequence[str]) -> Iterator[str]:
    topic = ""
    for finding in findings:
        if finding.topic != topic:
            topic = finding.topic
            yield topic
        yield f"  {MARKS[finding.state]:<8} {finding.name:<18} {finding.words}"
        if finding.fix:
            yield f"  {'':<8} {'':<18} -> {finding.fix}"
    if missing:
        yield f"something essential is missing: {', '.join(missing)}"
    else:
        yield "everything a run needs is installed"
