"""The hostile corpus: one program per file, with the promise that it tries to break and the outcome it must have.

A file begins with lines "# key: value", followed by the program. The keys:

    promise   what must hold
    role      policy; evaluator (called once); examined evaluator (called as evolved ones are)
    fault     the kind of fault that it must end with, or none
    message   the fault's message, exactly; or "re: " and a pattern that all of it must match
    fitness   of an evaluator without a fault
    ended, steps, success   of a policy's episode; success is "no" unless said otherwise
    limits    "brief" for programs that use their limits up
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
KEYS = {"promise", "role", "fault", "message", "fitness", "ended", "steps", "success", "limits"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    name: str
    text: str
    expected: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_policy(self) -> bool:
        return self.expected["role"] == "policy"

    def aimed(self, targets: Mapping[str, str]) -> "Attack":
        """The same with the names of this machine's targets, such as @FOLDER@, filled in."""
        def fill(text: str) -> str:
            return re.sub(r"@([A-Z]+)@", lambda found: targets[found[1]], text)

        expected = {key: fill(value) for key, value in self.expected.items()}
        return Attack(name=self.name, text=fill(self.text), expected=expected)

    def says(self, message: str) -> bool:
        """Whether this is the message that the user must see."""
        wanted = self.expected.get("message", "")
        if wanted.startswith("re: "):
            return re.fullmatch(wanted.removeprefix("re: "), message, re.DOTALL) is not None
        return message.strip() == wanted.strip()


def read(path: Path) -> Attack:
    head, _, text = path.read_text().partition("\n\n")
    expected = dict(line.removeprefix("# ").split(": ", 1) for line in head.splitlines())
    assert {"promise", "role", "fault"} <= expected.keys() <= KEYS, path
    return Attack(name=path.stem, text=text, expected=expected)


ATTACKS = [read(path) for path in sorted(FOLDER.glob("*.txt"))]
