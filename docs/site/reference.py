"""The reference pages docs/commands.md and docs/settings.md from the code: `python docs/site/reference.py` writes them.

A test holds the committed pages to what this makes.
"""

from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
HELP = ROOT / "tests" / "cli" / "golden" / "help"       # the help of every command, which a test holds to the commands
WIDTH = 118
HEAD = "Made by `docs/site/reference.py` from the code; a test holds this page to it.\n"


def commands() -> str:
    """The help of every command, in the order of `memento --help`."""
    parts = [f"# Commands\n\n{HEAD}\nWhat `--help` prints. [Everyday use](everyday-use.md) explains the usual ones."]
    for name in _in_order():
        title = "memento" if name == "memento" else f"memento {name.replace('-', ' ', 1) if _is_below(name) else name}"
        parts.append(f"## {title}\n\n```text\n{(HELP / f'{name}.txt').read_text(encoding='utf-8').rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def _in_order() -> list[str]:
    """`memento`, then its commands as listed there, each with those below it."""
    listed = (HELP / "memento.txt").read_text(encoding="utf-8").partition("Commands:")[2].split("\n")
    names = ["memento", *(line.split()[0] for line in listed if line.startswith("  ") and line.split())]
    kept = {path.stem for path in HELP.iterdir()}
    below = {name: sorted(each for each in kept if each.startswith(f"{name}-")) for name in names}
    return [each for name in names for each in ([name] if name in kept else []) + below[name]]


def _is_below(name: str) -> bool:
    return "-" in name


def settings() -> str:
    """Every setting by its group, as `memento settings NAME` describes it."""
    from memento.settings.describing import described, in_groups

    parts = [
        f"# Settings\n\n{HEAD}\nA setting is given with `--set NAME=VALUE`, in the file of `--config`, or as"
        " `MEMENTO_NAME` in the environment.\n[Everyday use](everyday-use.md) says which of these is used. `memento"
        " settings NAME` prints one;\n`memento domains DOMAIN` has the options of a domain."
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


def main() -> None:
    """Write both pages."""
    for name, text in (("commands", commands()), ("settings", settings())):
        (DOCS / f"{name}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
