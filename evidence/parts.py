"""The figures and tables of a report as files for papers and slides: SVG, PDF, CSV, LaTeX. Pure, except for writing.

An SVG file holds its own colours and fonts without CSS variables, which many programs that place figures cannot read.
"""

import base64
import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from markupsafe import Markup

from ..core.errors import UsageError
from ..core.extras import is_installed
from ..core.text import printable
from .csv_files import without_formula
from .figures import BOXES, Figure
from .svg import DASHES, WIDTH
from .tables import Table

HERE: Final = Path(__file__).parent
TYPES: Final = {"svg": "image/svg+xml", "csv": "text/csv", "tex": "text/plain"}
FONTS: Final = "svg{font-family:DejaVu Sans,Helvetica,Arial,sans-serif}"
_NAME: Final = 80           # characters of a file's name
_ROW: Final = 16            # units of a row of a legend
_SIGN: Final = 6.5          # units of a character of it, roughly
_VIEW: Final = re.compile(r'viewBox="0 0 (\d+) (\d+)"')
_LATEX: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "−": r"$-$", "–": "--", "≥": r"$\geq$", "≤": r"$\leq$", "×": r"$\times$", "Δ": r"$\Delta$",
    "“": "``", "”": "''", "’": "'", "…": r"\ldots{}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download:
    """One file as a data URI, for a link on a page that is one file itself."""

    name: str
    uri: str
    kind: str


def figure_downloads(figure: Figure) -> tuple[Download, ...]:
    """The figure as files."""
    return tuple(_downloads(figure_name(figure), {"svg": figure_svg(figure)}))


def table_downloads(table: Table) -> tuple[Download, ...]:
    """The table as files."""
    return tuple(_downloads(slug(table.title), {"csv": table_csv(table), "tex": table_latex(table)}))


def _downloads(name: str, texts: Mapping[str, str]) -> Iterable[Download]:
    for kind, text in texts.items():
        packed = base64.b64encode(text.encode("utf-8", "backslashreplace")).decode()
        yield Download(name=f"{name}.{kind}", uri=f"data:{TYPES[kind]};base64,{packed}", kind=kind)


def write_parts(figures: Sequence[Figure], tables: Sequence[Table], folder: Path) -> tuple[Path, ...]:
    """Write every figure as SVG and every table as CSV and LaTeX into `folder`, replacing existing files.

    Figures are written as PDF as well if the extra `plots` is installed. Of two parts with the same name the second
    one gets a number. Raises UsageError if that fails.
    """
    texts: dict[str, str] = {}
    pdfs: dict[str, bytes] = {}
    for figure in figures:
        name = _free(figure_name(figure), "svg", texts)
        texts[name] = figure_svg(figure)
        if can_write_pdf():
            pdfs[f"{name.removesuffix('.svg')}.pdf"] = figure_pdf(texts[name])
    for table in tables:
        name = _free(slug(table.title), "csv", texts)
        texts[name] = table_csv(table)
        texts[f"{name.removesuffix('.csv')}.tex"] = table_latex(table)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", errors="backslashreplace", newline="")
        for name, content in pdfs.items():
            (folder / name).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}") from None
    return tuple(folder / name for name in (*texts, *pdfs))


def figure_name(figure: Figure) -> str:
    """The name of the figure's file, without its ending."""
    return slug(f"{figure.about} {figure.title}")


def slug(text: str) -> str:
    """A text as the name of a file: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:_NAME].strip("-") or "part"


def _free(name: str, kind: str, taken: Mapping[str, str]) -> str:
    number, found = 1, f"{name}.{kind}"
    while found in taken:
        number += 1
        found = f"{name}-{number}.{kind}"
    return found


# ------------------------------------------------------------------------------------------------ SVG


def figure_svg(figure: Figure) -> str:
    """The chart as a file: with its style on white, its title as text for readers, and its legend below."""
    chart = str(figure.chart)
    found = _VIEW.search(chart)
    assert found is not None, "every chart has a view box"
    width, height = int(found[1]), int(found[2])
    legend, rows = _legend(figure, height)
    whole = height + _ROW * rows
    inner = chart[chart.index(">") + 1 : chart.rindex("</svg>")]
    return printable(str(Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{}" height="{}" viewBox="0 0 {} {}"><title>{}</title>'
        '<style>{}</style><rect width="{}" height="{}" fill="#ffffff"/>{}{}</svg>\n'
    ).format(
        2 * width, 2 * whole, width, whole, f"{figure.about}: {figure.title}", Markup(flat_style()), width, whole,
        Markup(inner), legend,
    )))


def can_write_pdf() -> bool:
    """Whether what makes PDF is installed: the extra `plots`."""
    return is_installed("svglib")


def figure_pdf(svg: str) -> bytes:
    """The PDF of a figure's SVG, one page of its size, with letters as text. The same SVG gives the same bytes."""
    from reportlab.graphics import renderPDF
    from svglib.svglib import svg2rlg

    drawing = svg2rlg(io.BytesIO(svg.encode("utf-8", "backslashreplace")))
    content: bytes = renderPDF.drawToString(drawing, invariant=1)
    return content


def _legend(figure: Figure, top: int) -> tuple[Markup, int]:
    """The legend's rows below the chart, and how many they are."""
    parts, left, row = [], 12.0, 0
    for name, place in figure.legend:
        needed = 34 + _SIGN * len(name)
        if left > 12 and left + needed > WIDTH:
            left, row = 12.0, row + 1
        y = top + _ROW * row + 8
        sample = Markup('<rect class="bar c{}" x="{:.1f}" y="{}" width="14" height="8"/>').format(place, left, y - 4)
        if figure.samples != BOXES:
            sample = Markup('<line class="line c{}" stroke-dasharray="{}" x1="{:.1f}" x2="{:.1f}" y1="{}" y2="{}"/>')
            sample = sample.format(place, DASHES[place % len(DASHES)], left, left + 22, y, y)
        parts += [sample, Markup('<text x="{:.1f}" y="{}">{}</text>').format(left + 26, y + 4, name)]
        left += needed
    return Markup("").join(parts), row + 1 if figure.legend else 0


@cache
def flat_style() -> str:
    """The style of the charts without variables, in the light colours of the page."""
    page, chart = ((HERE / name).read_text(encoding="utf-8") for name in ("page.css", "chart.css"))
    colours: dict[str, str] = dict(re.findall(r"--([\w-]+): (#\w+)", page[: page.index("}")]))
    rules = []
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", chart):
        if "var(--c)" not in body:
            rules.append(f"{selectors.strip()}{{{body.strip()}}}")
            continue
        for place in range(len(DASHES)):
            each = ",".join(f"{one.strip()}.c{place}" for one in selectors.split(","))
            rules.append(f"{each}{{{body.strip().replace('var(--c)', f'var(--c{place})')}}}")
    return FONTS + re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], "".join(rules))


# ----------------------------------------------------------------------------------------- CSV and LaTeX


def table_csv(table: Table) -> str:
    """The table's cells as shown, with one heading for each column."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_headings(table))
    writer.writerows([without_formula(cell) for cell in row] for row in table.rows)
    return file.getvalue()


def _headings(table: Table) -> list[str]:
    """The columns' titles, each after the heading of its group where it has one."""
    over = [name for name, count in table.groups for _ in range(count)] or [""] * len(table.columns)
    pairs = zip(over, table.columns, strict=True)
    return [f"{group}: {column}" if group else column for group, column in pairs]


def table_latex(table: Table) -> str:
    """The table for LaTeX, with the rules of the package booktabs."""
    texts = table.texts
    lines = [
        "% needs \\usepackage{booktabs}", "\\begin{table}", "  \\centering", f"  \\caption{{{latex(table.title)}}}",
        f"  \\begin{{tabular}}{{{'l' * texts}{'r' * (len(table.columns) - texts)}}}", "    \\toprule",
    ]
    if table.groups:
        cells = [f"\\multicolumn{{{count}}}{{c}}{{{latex(name)}}}" for name, count in table.groups]
        lines.append(f"    {' & '.join(cells)} \\\\")
    lines += [f"    {' & '.join(map(latex, table.columns))} \\\\", "    \\midrule"]
    for place, row in enumerate(table.rows):
        cells = [f"\\textbf{{{latex(cell)}}}" if place in table.strong and cell else latex(cell) for cell in row]
        lines.append(f"    {' & '.join(cells)} \\\\")
    return "\n".join([*lines, "    \\bottomrule", "  \\end{tabular}", "\\end{table}", ""])


def latex(text: str) -> str:
    """A text in which LaTeX finds no command: it may come from a model or a file."""
    return "".join(_LATEX.get(sign, sign) for sign in text)
