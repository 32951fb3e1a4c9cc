"""`memento report`: one page, and the rows behind it, from runs or from a comparison."""

from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import UsageError
from ..core.extras import require
from . import completion, flags

EXAMPLE: Final = "memento report first --out first.html"

Sources = Annotated[
    list[str],
    typer.Argument(metavar="RUN…|COMPARISON|FILE.json.xz…", show_default=False, autocompletion=completion.runs,
                   help="Runs or one comparison, by name or folder; or archives with the"
                        " seeds of one comparison."),
]
Out = Annotated[Path | None, typer.Option(metavar="FILE.html", help="The page; an existing file is replaced.")]
Csv = Annotated[Path | None, typer.Option(metavar="DIR", help="The rows behind the page, as CSV files.")]
Figures = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Every figure as SVG and PDF, every table as CSV and LaTeX.")
]
Archive = Annotated[
    Path | None, typer.Option(metavar="FILE.json.xz", help="Everything that the page is made of, in one small file.")
]
NoPictures = Annotated[bool, typer.Option("--no-pictures", help="Draw no moments of episodes.")]
Follow = Annotated[
    bool, typer.Option("--follow", help="Serve the page, made again as the runs go on, until Ctrl-C.")
]
Port = Annotated[
    int | None,
    typer.Option(min=0, max=65535, metavar="PORT", help="With --follow: the port; by default any free one."),
]
Host = Annotated[
    str | None, typer.Option(metavar="HOST", help="With --follow: the address; by default this machine only.")
]


def report(
    runs_or_comparison: Sources,
    out: Out = None,
    csv: Csv = None,
    figures: Figures = None,
    archive: Archive = None,
    no_pictures: NoPictures = False,
    follow: Follow = False,
    port: Port = None,
    host: Host = None,
    runs: flags.Runs = flags.RUNS,
) -> None:
    """Write one self-contained page on runs or a comparison: curves, tables, tests, descent, votes, costs."""
    require("compare", "memento report")
    from ..app.api.reporting import UNWANTED, Pictures, draw, load
    from .report_outputs import Outputs

    if follow:
        from .report_follow import follow_report

        if any(each is not None for each in (out, csv, figures, archive)):
            raise UsageError("--follow writes no files: omit --out, --csv, --figures and --archive, or --follow")
        follow_report(runs_or_comparison, runs, host=host or "127.0.0.1", port=port or 0)
        return
    if port is not None or host is not None:
        raise UsageError("--port and --host have an effect with --follow only: add it, or omit them")
    outputs = Outputs(page=out, csv=csv, figures=figures, archive=archive)
    outputs.check()
    evidence, pictures = load(runs_or_comparison, runs)
    if not evidence.records and not evidence.baselines:
        raise UsageError(f"{runs_or_comparison[0]} has no runs yet: there is nothing to report")
    if no_pictures or (out is None and archive is None and pictures is None):
        pictures = Pictures(missing=UNWANTED)
    elif pictures is None:
        pictures = draw(evidence)
    outputs.write(evidence, pictures, given=runs_or_comparison)
