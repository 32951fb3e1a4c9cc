"""An environment's docstring as text for a prompt: without figures, arguments and history, and bounded."""

import re
from typing import Final

MOST_CHARS: Final = 9_000
_LEFT_OUT: Final = (
    "argument", "version", "vector", "reference", "citation", "credit", "rendering", "render", "registered", "usage",
    "configuration", "example", "acknowledg", "info",
)


def clean(text: str, *, most: int = MOST_CHARS) -> str:
    """The docstring's sections that describe the task, at most `most` characters, tables without their padding."""
    text = re.sub(r"(?s)```\{?\w*\}?.*?```", "", text)              # figures and code
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)                 # images
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)             # links
    text = re.sub(r"</?\w[^>]*>", "", text)                          # HTML
    text = text.replace("***", "").replace("*=*", "=").replace("\\(", "").replace("\\)", "")
    sections = _sections([_line(line) for line in text.expandtabs().splitlines()])
    kept = [body for title, body in sections if not any(word in title.lower() for word in _LEFT_OUT)]
    joined = re.sub(r"\n{3,}", "\n\n", "\n\n".join(filter(None, (body.strip() for body in kept)))).strip()
    if len(joined) <= most:
        return joined
    return joined[:most].rpartition("\n")[0] + "\n\n(The documentation is cut here.)"


def _line(line: str) -> str:
    """A line without its indentation; cells of a table without padding."""
    line = line.strip() if not re.match(r"\s*([-*]|\d+\.)\s", line) else line.rstrip().lstrip()
    if not line.startswith("|"):
        return line
    if re.fullmatch(r"[|\s:-]+", line):
        return re.sub(r"-{3,}", "---", re.sub(r"\s+", "", line))
    return re.sub(r"\s*\|\s*", " | ", line).strip()


def _sections(lines: list[str]) -> list[tuple[str, str]]:
    """Title and text of every section; the first has no title. Subsections belong to their section."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    top = 2
    for line in lines:
        heading = re.match(r"(#+)\s+(.*)", line)
        if heading and len(heading[1]) <= top:
            sections.append((heading[2], [f"### {heading[2]}"]))
        else:
            sections[-1][1].append(re.sub(r"^#+\s+(.*)", r"**\1**", line))
    return [(title, "\n".join(body)) for title, body in sections if len(body) > 1 or not title]
