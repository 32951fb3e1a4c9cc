"""`memento report`: one page, and the rows behind it, from runs or from a comparison."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from . import completion, flags

EXAMPLE: Final = "memento report first --out first.html"

Sources = Annotated[
    list[str],
    typer.Argument(metavar="RUN…|COMPARISON|FILE.json.xz", show_default=False, autocompletion=completion.runs,
                   help="Runs or one comparison, by name or folder; or an archive."),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE.html", help="The page; an existing file is replaced.")]
Csv = Annotated[Path | None, typer.Option(metavar="DIR", help="The rows behind the page, as CSV files.")]
Archive = Annotated[
    Path | None, typer.Option(metavar="FILE.json.xz", help="Everything that the page is made of, in one small file.")
]
NoPictures = Annotated[bool, typer.Option("--no-pictures", help="Draw no moments of episodes.")]


def report(
    runs_or_comparison: Sources,
    out: Out = None,
    csv: Csv = None,
    archive: Archive = None,
    no_pictures: NoPictures = False,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Write one self-contained page on runs or a comparison: curves, tables, tests, descent, votes, costs."""
    from .report_inputs import Pictures, draw, load
    from .report_outputs import Outputs

    outputs = Outputs(page=out, csv=csv, archive=archive)
    outputs.check()
    evidence, pictures = load(runs_or_comparison, runs)
    if not evidence.records:
        raise UsageError(f"{runs_or_comparison[0]} has no runs yet: there is nothing to report")
    if no_pictures:
        pictures = Pictures(missing="none were requested")
    elif pictures is None:
        pictures = draw(evidence)
    outputs.write(evidence, pictures, given=runs_or_comparison)
