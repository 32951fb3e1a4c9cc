"""Prompt files: Markdown with a header that lists the variables, filled strictly and only once."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import UsageError, no_such

SHIPPED = Path(__file__).resolve().parent.parent / "prompts"

_FILE = re.compile(
    r"---\npurpose: (?P<purpose>[^\n]+)\nvariables:\n(?P<variables>(?:  [^\n]+\n)*)---\n(?P<body>.*)", re.DOTALL
)
_VARIABLE = re.compile(r"  ([a-z][a-z0-9_]*): \S.*")
_PLACE = re.compile(r"^\{\{([a-z][a-z0-9_]*)\}\}\n\n?|\{\{([a-z][a-z0-9_]*)\}\}", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One prompt file: its purpose, its variables with their meaning, and its text."""

    name: str
    purpose: str
    variables: Mapping[str, str]
    body: str

    def fill(self, variables: Mapping[str, str]) -> str:
        """The text with every `{{name}}` replaced once; inserted values are not searched again.

        A place on a separate line is removed, with the blank line after it, if its value is empty.
        Raises UsageError for a missing or unknown variable.
        """
        missing = [name for name in self.variables if name not in variables]
        surplus = [name for name in variables if name not in self.variables]
        if missing or surplus:
            flaws = [f"no value for {name!r}" for name in missing] + [f"no place for {name!r}" for name in surplus]
            raise UsageError(f"prompt {self.name}.md: {', '.join(flaws)}")

        def put(place: re.Match[str]) -> str:
            name = place[1]
            if name is None:
                return variables[place[2]]
            after = place[0].removeprefix(f"{{{{{name}}}}}")
            return variables[name] and variables[name].rstrip("\n") + after

        return _PLACE.sub(put, self.body).strip("\n") + "\n"


class PromptFolder:
    """The prompts of a folder, one `*.md` file each, all read and checked on construction.

    `replaced` holds texts that are used instead of the files with these names; their variables must be the same.
    Raises UsageError with the file if its header is malformed, or if a variable is used and not declared, or
    declared and not used.
    """

    def __init__(self, folder: Path = SHIPPED, *, replaced: Mapping[str, str] | None = None) -> None:
        self._prompts = {path.stem: _read(path) for path in sorted(folder.glob("*.md"))}
        for name, text in (replaced or {}).items():
            own = _parse(f"{name}.md", text)
            _check_same_variables(own, self[name])
            self._prompts[name] = own
        if not self._prompts:
            raise UsageError(f"there is no prompt (*.md) in {folder}")

    def __getitem__(self, name: str) -> Prompt:
        if name not in self._prompts:
            raise no_such("prompt", name, self._prompts)
        return self._prompts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prompts)

    def fill(self, name: str, **variables: str) -> str:
        """The prompt `name` with its variables inserted. Raises UsageError for a missing or unknown variable."""
        return self[name].fill(variables)


def _read(path: Path) -> Prompt:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"prompt {path.name} cannot be read: {error}") from error
    return _parse(path.name, text)


def _parse(file: str, text: str) -> Prompt:
    parts = _FILE.fullmatch(text.replace("\r\n", "\n"))
    if parts is None:
        raise UsageError(
            f"prompt {file} must begin with a header: '---', 'purpose: …', 'variables:', "
            "one line '  name: meaning' for each variable, '---'"
        )
    variables: dict[str, str] = {}
    for line in parts["variables"].splitlines():
        found = _VARIABLE.fullmatch(line)
        if found is None or found[1] in variables:
            raise UsageError(f"prompt {file}: malformed or repeated variable in the header: {line.strip()!r}")
        variables[found[1]] = line.strip().partition(": ")[2]
    _check_places(file, parts["body"], variables)
    name = file.removesuffix(".md")
    return Prompt(name=name, purpose=parts["purpose"], variables=variables, body=parts["body"])


def _check_same_variables(own: Prompt, shipped: Prompt) -> None:
    flaws = [f"has no place for {{{{{name}}}}}" for name in shipped.variables if name not in own.variables]
    flaws += [f"uses {{{{{name}}}}}, which is unknown here" for name in own.variables if name not in shipped.variables]
    if flaws:
        raise UsageError(
            f"your prompt {own.name}.md {', '.join(flaws)}: its variables must be those of the shipped file"
            f" ({', '.join(shipped.variables) or 'none'})"
        )


def _check_places(file: str, body: str, variables: Mapping[str, str]) -> None:
    used = {place[1] or place[2] for place in _PLACE.finditer(body)}
    if undeclared := sorted(used - set(variables)):
        raise UsageError(f"prompt {file} uses {', '.join(undeclared)}, which its header does not list")
    if unused := sorted(set(variables) - used):
        raise UsageError(f"prompt {file} lists {', '.join(unused)} in its header and never uses it")
    rest = _PLACE.sub("", body)
    if "{{" in rest or "}}" in rest:
        raise UsageError(f"prompt {file} has a malformed place; write it as {{{{name}}}}")
