"""`memento doctor`: checks of this machine, with a fix for each problem."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import UsageError
from . import flags
from .output import print_json, print_note, print_text

if TYPE_CHECKING:
    from .doctor_checks import Diagnosis, State

EXAMPLE: Final = "memento doctor"
MARKS: Final[Mapping["State", str]] = {"ok": "ok", "absent": "-", "missing": "MISSING"}

Cluster = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Check the nodes of a Ray cluster: auto, HOST:PORT or ray://HOST:PORT."),
]


def doctor(
    cluster: Cluster = None, require_sandbox: flags.RequireSandbox = False, as_json: flags.AsJson = False
) -> None:
    """Check what this machine, or a cluster, can do. Exit code 1 if something essential is missing."""
    from dataclasses import asdict

    from .doctor_checks import CLUSTER, examine
    from .doctor_cluster import examine_cluster

    if cluster is None and require_sandbox:
        raise UsageError("--require-sandbox has no effect without --cluster: doctor always reports the isolation here")
    findings = tuple(examine() if cluster is None else examine_cluster(cluster, isolated=require_sandbox))
    missing = [finding.name for finding in findings if finding.state == "missing"]
    of_cluster = any(finding.topic.startswith(CLUSTER) for finding in findings)
    for line in _lines(findings, missing, of_cluster=of_cluster):
        (print_note if as_json else print_text)(line)
    if as_json:
        print_json({"fine": not missing, "findings": [asdict(finding) for finding in findings]})
    raise typer.Exit(1 if missing else 0)


def _lines(findings: "Sequence[Diagnosis]", missing: Sequence[str], *, of_cluster: bool) -> Iterator[str]:
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
    elif of_cluster:
        yield "every node can be used"
    else:
        yield "everything a run needs is installed"
