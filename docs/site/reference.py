"""The pages "Commands", "Settings" and "What a run says" of the site, from help, declarations and code.

`reference.py FOLDER` writes them there. It needs the Python that MEMENTO is installed for; `build.py` calls it with
that of the checkout.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

import typer

WIDTH = 100


def commands() -> str:
    """The help of every command, in the order of `memento --help`."""
    from memento.cli.commands import commands as all_commands

    parts = ["# Commands\n\nWhat `--help` prints. [The first ten minutes](first-ten-minutes.md) use the usual ones."]
    for title, text in _help_of(typer.main.get_command(all_commands), "memento"):
        parts.append(f"## {title}\n\n```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _help_of(command: Any, name: str, above: Any = None) -> Iterator[tuple[str, str]]:
    """The full name of the command and its help; then those of the commands below it."""
    here = command.make_context(name, [], parent=above, resilient_parsing=True, terminal_width=WIDTH)
    yield here.command_path, command.get_help(here)
    for each in command.list_commands(here) if hasattr(command, "list_commands") else ():
        yield from _help_of(command.get_command(here, each), each, here)


def settings() -> str:
    """Every setting by its group, as `memento settings NAME` describes it."""
    from memento.settings.describing import described, in_groups

    parts = [
        "# Settings\n\nA setting is given with `--set NAME=VALUE`, in the file of `--config`, or as `MEMENTO_NAME` in"
        " the environment.\n[The first ten minutes](first-ten-minutes.md) say which of these is used. `memento settings"
        " NAME` prints one;\n`memento domains DOMAIN` has the options of a domain."
    ]
    for group, rows in in_groups():
        parts.append(f"## {group[:1].upper()}{group[1:]}")
        parts += ["\n".join(_entry([*described(key.strip())])) for key, _ in rows]
    return "\n\n".join(parts) + "\n"


def _entry(lines: list[str]) -> Iterator[str]:
    """One setting: its meaning, then default, values and effect."""
    name, _, meaning = lines[0].partition(": ")
    fields = dict(line.split(None, 1) for line in lines[1:-1])
    words = [f"{key} {fields[key]}" for key in ("default", "values") if key in fields]
    words.append(f"has an effect {fields['effect']}")
    yield fill(f"- **`{name}`**: {meaning}.", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    yield fill("; ".join(words) + ".", WIDTH, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


SPEAKING = (    # the modules with the sentences of a run, in the order in which a reader meets them
    "tui/lines.py", "tui/words.py", "tui/fact_words.py", "memory/quality.py", "memory/card.py",
    "memory/evaluator_pools.py", "cli/result_text.py",
)
FEWEST_WORDS = 3


def sentences() -> str:
    """Every sentence of a run's lines and of its end, with `…` for what is filled in, by what prints it."""
    root = Path(__file__).resolve().parents[2]
    parts = ["# What a run says\n\nEvery sentence that a run prints, by what prints it; … is filled in."]
    for name in SPEAKING:
        tree = ast.parse((root / name).read_text(encoding="utf-8"))
        rows = [row for node in tree.body if isinstance(node, ast.FunctionDef) for row in _sentences_of(node)]
        parts.append(f"## {(ast.get_docstring(tree) or name).splitlines()[0].rstrip('.')}")
        parts.append("\n".join(f"- {each}" for each in dict.fromkeys(rows)))
    return "\n\n".join(parts) + "\n"


def _sentences_of(function: ast.FunctionDef) -> Iterator[str]:
    skipped: set[ast.AST] = {
        part for node in ast.walk(function) if isinstance(node, ast.JoinedStr) for part in node.values
    }
    if isinstance(function.body[0], ast.Expr):
        skipped.add(function.body[0].value)     # its docstring
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            text = node.value
        else:
            continue
        if len(re.findall(r"[A-Za-z]{2,}", text)) >= FEWEST_WORDS:
            yield f"`{' '.join(text.replace('`', '').split())}`"


PAGES = {"commands.md": commands, "settings.md": settings, "sentences.md": sentences}


def main() -> None:
    """Write the pages to the folder that is given."""
    for name, page in PAGES.items():
        (Path(sys.argv[1]) / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
